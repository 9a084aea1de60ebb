"""`bws reliability`: its options and its answer."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.files.judgement_files import JudgementFile
from annotation.bws.judgements import UnknownAnnotators
from annotation.bws.reliability.report import (
    curve_report,
    scores_report,
    split_half_report,
    splits_that_work,
)
from annotation.bws.reliability.split_half import Split, TooFewJudgements
from annotation.bws.scores.refitting import maxdiff_fit
from annotation.bws.studies.turning import order_turning, reliability_turning
from annotation.management.bws import verb
from annotation.results.turning import turning_said
from curation.foundation.command import seed_argument
from curation.foundation.errors import UserError


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--trials", type=verb.whole, default=1000, help="Number of random splits (default 1000)."
    )
    parser.add_argument(
        "--split",
        type=verb.one_of(Split),
        default=Split.JUDGEMENTS,
        metavar="WHAT",
        help="What is split in half: judgements (of each tuple, the default), tuples or annotators.",
    )
    parser.add_argument(
        "--curve",
        action="store_true",
        help="Also compute the reliability with 1, 2, ... judgements per tuple.",
    )
    parser.add_argument(
        "--at-least",
        type=float,
        metavar="R",
        help="Also find how few answers a Spearman of at least R rests on.",
    )
    parser.add_argument(
        "--above",
        nargs=2,
        action="append",
        default=[],
        metavar="ITEM",
        help="Also find how few answers it rests on that the first item scores above the second.",
    )
    seed_argument(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    file = verb.judgements_of(options)
    judgements, seed = file.judgements, options["seed"]
    try:
        figures = split_half_report(judgements, trials=options["trials"], seed=seed, split=options["split"])
    except (TooFewJudgements, UnknownAnnotators) as error:
        others = [f"--split {split}" for split in splits_that_work(judgements)]
        if not others:
            raise
        raise UserError(
            _("%(reason)s These work for this file: %(splits)s."), reason=error, splits=", ".join(others)
        ) from None
    fit = maxdiff_fit(judgements)
    figures |= scores_report(judgements, fit=fit, seed=seed)
    if options["curve"]:
        figures["curve"] = curve_report(judgements, fit=fit, seed=seed)
    lines = [*verb.file_lines(file), *_lines(figures)]
    if claims := list(_claims(file, options)):
        figures["turning"] = claims
    lines += [f"{claim['claim']} {turning_said(claim)}" for claim in claims]
    if options["curve"]:
        sentence = _(
            "judgements per tuple, judgements, reliability, agreement with the scores from all, which contain them, by "
            "counting and by MaxDiff:"
        )
        lines.append(sentence)
        for point in figures["curve"]:
            names = ("spearman_mean", "agreement_mean", "maxdiff_agreement_mean")
            half, counting, maxdiff = ("–" if point[name] is None else f"{point[name]:.4f}" for name in names)
            numbers = verb.with_commas(each=point["judgements_per_tuple"], judgements=point["judgements"])
            lines.append(
                f"{numbers['each']:>4} {numbers['judgements']:>10} {half:>8} {counting:>8} {maxdiff:>8}"
            )
    return verb.Answer(lines, figures | verb.file_figures(file))


def _claims(file: JudgementFile, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What each claim that was asked for rests on."""
    judgements = file.judgements
    if (least := options["at_least"]) is not None:
        if not -1 < least < 1:
            raise UserError(_("--at-least takes a number between -1 and 1, not %(least)s."), least=least)
        yield {"claim": _("The reliability is at least %(least)g.") % {"least": least}} | reliability_turning(
            judgements, least, seed=options["seed"]
        )
    number = {name: index for index, name in enumerate(file.items)}
    for names in options["above"]:
        for name in names:
            if name not in number:
                raise UserError(_('No item of the file is called "%(name)s".'), name=name[:80])
        found = order_turning(judgements, *(number[name] for name in names))
        yield {
            "claim": _('"%(above)s" scores above "%(below)s".') % {"above": names[0], "below": names[1]}
        } | found


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    halves = {
        Split.JUDGEMENTS: _("halves of each tuple's judgements"),
        Split.TUPLES: _("halves of the tuples"),
        Split.ANNOTATORS: _("halves of the annotators"),
    }
    counts = verb.with_commas(**{name: figures[name] for name in ("judgements", "tuples", "trials")})
    yield (
        _("%(judgements)s judgements of %(tuples)s tuples, %(trials)s splits into %(halves)s:")
        % (counts | {"halves": halves[figures["split"]]})
    )
    yield _("Spearman %(spearman_mean).4f ± %(spearman_sd).4f") % figures
    if figures["people_resampled"]:
        yield (
            _("95 %% interval %(spearman_low).4f to %(spearman_high).4f, for other annotators and tuples")
            % figures
        )
    else:
        yield (
            _(
                "95 %% interval %(spearman_low).4f to %(spearman_high).4f, for other tuples; it leaves out how "
                "annotators differ, because too few are known"
            )
            % figures
        )
    yield _("Pearson  %(pearson_mean).4f ± %(pearson_sd).4f") % figures
    yield (
        _("Spearman-Brown %(spearman_brown).4f: the estimate for all judgements instead of half of them")
        % figures
    )
    if figures["marginal_reliability"] is not None:
        yield (
            _(
                "MaxDiff scores: marginal reliability %(marginal_reliability).4f, 95 %% interval "
                "%(marginal_reliability_low).4f to %(marginal_reliability_high).4f, if judgements are independent"
            )
            % figures
        )
        if figures["marginal_reliability_low"] == 0:
            yield _("Answers drawn at random could give this marginal reliability; do not cite it.")
    components = figures["components"]
    if components is None or components["score_icc"] is None:
        return
    yield (
        _(
            "Counting scores from other annotators and other tuples would correlate %(score_icc).4f (ICC, Pearson) "
            "with these; standard error of measurement %(sem).4f on -1..1; worth %(effective_judgements).1f "
            "independent judgements per item"
        )
        % components
    )
    names = {"item": _("item"), "tuple": _("tuple"), "annotator": _("annotator"), "residual": _("residual")}
    parts = [f"{name} {components[key]:.4f}" for key, name in names.items() if components[key] is not None]
    yield _("Variance components of one outcome: %(parts)s") % {"parts": ", ".join(parts)}
