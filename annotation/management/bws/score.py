"""`bws score`: its options and its answer."""

import math
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files.item_files import read_groups, write_scores
from annotation.bws.files.judgement_files import JudgementFile
from annotation.bws.judgements import Judgements
from annotation.bws.scores.counting import counts
from annotation.bws.scores.posterior import ErrorKind
from annotation.bws.scores.scoring import METHODS, ErrorSource, Scale, Scores
from annotation.bws.scores.with_machine import AssistedScores, MachineError, assisted_scores
from annotation.management.bws import verb
from curation.foundation.command import spreadsheet_argument
from curation.foundation.errors import UserError

FURTHEST_SHOWN = 10


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="SCORES",
        help="CSV, best score first. Items that share a tie group are not distinguishable at 95 %%.",
    )
    spreadsheet_argument(parser)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="counting",
        help="counting (default): times best minus times worst, over appearances. maxdiff and "
        "bradley-terry are models that also use which items each item met.",
    )
    parser.add_argument(
        "--scale",
        type=verb.one_of(Scale),
        default=Scale.SIGNED,
        metavar="SCALE",
        help="signed: -1 to 1 (default). unit: 0 to 1.",
    )
    parser.add_argument(
        "--prior-precision",
        type=float,
        metavar="L",
        help="Of maxdiff: precision of the prior of the utilities (default: estimated).",
    )
    parser.add_argument(
        "--errors",
        type=verb.one_of(ErrorSource),
        metavar="FROM",
        help="Of maxdiff: standard errors from the model (default), or from how much the annotators differ "
        "(annotators). The latter are too small with few annotators or judgements per tuple.",
    )
    parser.add_argument(
        "--annotator-scales",
        action="store_true",
        default=None,
        help="Of maxdiff: estimate how decidedly each annotator distinguishes the items.",
    )
    parser.add_argument(
        "--groups",
        type=Path,
        metavar="FILE",
        help="Of maxdiff: CSV with the columns item and group, for items that joined at different times.",
    )
    parser.add_argument(
        "--machine",
        type=Path,
        metavar="FILE",
        help="Of counting: a machine's answers, also to tuples that nobody annotated.",
    )


def run(options: dict[str, Any]) -> verb.Answer:
    verb.keep_apart(options["judgements"], options["out"])

    # The options of MaxDiff that are given. Raises UserError if another method is asked for.
    names = ("prior_precision", "errors", "annotator_scales", "groups")
    model_options = {name: options[name] for name in names if options[name] is not None}
    if model_options and options["method"] != "maxdiff":
        raise UserError(
            _(
                "Only --method maxdiff takes --prior-precision, --errors, --annotator-scales and --groups; leave "
                "them out, or choose it."
            )
        )

    if options["machine"] and options["method"] != "counting":
        raise UserError(_("Only --method counting takes --machine; leave one of them out."))

    file, method = verb.judgements_of(options), options["method"]
    if options["machine"]:
        return _assisted(options, file)
    named: tuple[str, ...] = ()
    if "groups" in model_options:
        verb.keep_apart(options["groups"], options["out"])
        given = read_groups(options["groups"], file.items)
        named, model_options["groups"] = given.names, given.numbers
    scores = METHODS[method](file.judgements, scale=options["scale"], **model_options)
    groups = write_scores(options["out"], file.items, scores, spreadsheet=options["spreadsheet"])
    facts = scores.facts()
    figures = {
        "items": len(file.items),
        **verb.file_figures(file),
        "method": method,
        "scale": options["scale"],
        **facts,
        **_scale_figures(file, scores),
        **scores.means_of_groups(named),
        "groups": None if scores.error_kind is ErrorKind.NONE else len(groups.starts),
    }
    line = ngettext(
        "%(items)s items scored by %(method)s from %(judgements)s judgement, written to %(out)s.",
        "%(items)s items scored by %(method)s from %(judgements)s judgements, written to %(out)s.",
        len(file.judgements),
    ) % (options | verb.with_commas(items=len(file.items), judgements=len(file.judgements)))
    lines = [*verb.file_lines(file), line, *_error_lines(scores, facts), *_scale_lines(file, scores)]
    means = scores.means_of_groups(named).get("prior_means", {})
    for name, mean in list(means.items())[:FURTHEST_SHOWN]:
        sentence = _("Group %(name)s: the prior mean of its utilities is %(mean)+.2f.")
        lines.append(sentence % {"name": name, "mean": mean})
    if len(means) > FURTHEST_SHOWN:
        sentence = _("The prior means of all %(number)d groups are in the JSON (--json).")
        lines.append(sentence % {"number": len(means)})
    return verb.Answer(lines, figures)


def _assisted(options: dict[str, Any], file: JudgementFile) -> verb.Answer:
    """Scores by people and a machine. Items are numbered as in the machine's file, which has them all."""
    verb.keep_apart(options["machine"], options["out"])
    machine = verb.judgements_of(options, options["machine"])
    people = _renumbered(file, machine)
    try:
        found = assisted_scores(people, machine.judgements)
    except MachineError as error:
        raise UserError(str(error)) from error
    appearances, best, worst = counts(people)
    values, errors = found.values, found.errors
    if options["scale"] is Scale.UNIT:
        values, errors = (values + 1) / 2, errors / 2
    scores = Scores(values, errors, appearances, best, worst)
    groups = write_scores(options["out"], machine.items, scores, spreadsheet=options["spreadsheet"])
    facts = scores.facts()
    about = {
        "tuples": found.tuples, "judged": found.both, "saved": found.saved, "ceiling": found.ceiling,
        "weight": found.weight, "agreement": found.agreement,
    }  # fmt: skip
    figures = {
        "items": len(file.items), **verb.file_figures(file), "method": "counting", "scale": options["scale"],
        **facts, "machine": about, "groups": len(groups.starts),
    }  # fmt: skip
    line = _(
        "%(items)s items scored by counting from people's %(judgements)s judgements and a machine's %(answers)s, "
        "written to %(out)s."
    ) % (
        options
        | verb.with_commas(
            items=len(file.items), judgements=len(file.judgements), answers=len(machine.judgements)
        )
    )
    return verb.Answer(
        [*verb.file_lines(file), line, *_machine_lines(found), *_error_lines(scores, facts)], figures
    )


def _renumbered(file: JudgementFile, machine: JudgementFile) -> Judgements:
    """People's judgements by the numbers of the machine's items. Raises UserError for an item that it has not."""
    number = {name: place for place, name in enumerate(machine.items)}
    if missing := [name for name in file.items if name not in number]:
        raise UserError(
            _("The machine's file has no “%(item)s”; it must answer every tuple that people annotated."),
            item=missing[0],
        )
    places = np.array([*(number[name] for name in file.items), -1])  # -1, of no item, stays -1
    judged = file.judgements
    return Judgements(
        places[judged.items], places[judged.best], places[judged.worst], len(machine.items), judged.annotators
    )


def _machine_lines(found: AssistedScores) -> Iterator[str]:
    words = {
        **verb.with_commas(tuples=found.tuples, judged=found.both),
        "saved": 100 * found.saved, "ceiling": 100 * (found.ceiling or 0), "agreement": found.agreement,
    }  # fmt: skip
    yield (
        _(
            "People annotated %(judged)s of %(tuples)s tuples. The scores are what people would answer to all of "
            "them, if these were drawn at random."
        )
        % words
    )
    if found.saved <= 0:
        yield _("The machine saves no judgements of people, and costs next to nothing.")
    else:
        yield _("The machine saves %(saved).0f %% of people's judgements.") % words
    if found.ceiling is not None:
        yield _("A machine that knows people's utilities would save %(ceiling).0f %%.") % words
    if found.weight < 0 < found.saved:
        yield _("The machine orders the items the other way round.")
    yield _("Its own scores correlate %(agreement).2f with people's (Spearman).") % words


def _scale_figures(file: JudgementFile, scores: Scores) -> dict[str, Any]:
    """The scale of each annotator with the error of its logarithm, the lowest first."""
    if scores.fit is None or scores.fit.scale_effect is None:
        return {}
    found = scores.fit.scale_effect.scales
    each = [
        {"annotator": file.annotators[person], "scale": float(scale), "log_error": float(error)}
        for person, scale, error in zip(found.people, found.scales, found.errors, strict=True)
    ]
    return {"scales": sorted(each, key=lambda one: one["scale"])}


def _scale_lines(file: JudgementFile, scores: Scores) -> Iterator[str]:
    if scores.fit is None or scores.fit.scale_effect is None:
        return
    facts = scores.fit.scale_effect.facts()
    if not facts["spread"]:
        yield _("Nothing shows that annotators differ in scale: all scales are 1 and change nothing.")
        return
    yield (
        _(
            "Annotators' scales lie between %(lowest).2f and %(highest).2f, with a standard deviation of their "
            "logarithms of %(spread).2f. The log evidence is %(evidence_gain).1f higher than with one scale for all; "
            "use the scales if it is more than 3 higher."
        )
        % facts
    )
    change = 0.0 if facts["error_change"] is None else 100 * facts["error_change"]
    yield _(
        "The utilities correlate %(correlation).4f with those of one scale, and their standard errors change by "
        "%(change)+.1f %% on the average."
    ) % (facts | {"change": change})
    furthest = sorted(_scale_figures(file, scores)["scales"], key=lambda one: -abs(math.log(one["scale"])))
    for one in furthest[:FURTHEST_SHOWN]:
        low, high = (one["scale"] * math.exp(side * 1.96 * one["log_error"]) for side in (-1, 1))
        yield _("%(annotator)s: scale %(scale).2f, 95 %% interval %(low).2f to %(high).2f.") % (
            one | {"low": low, "high": high}
        )


def _error_lines(scores: Scores, facts: dict[str, Any]) -> Iterator[str]:
    if facts["prior_precision"] is not None:
        yield _("The precision of the prior is %(precision).3g.") % {"precision": facts["prior_precision"]}
    if scores.error_kind is ErrorKind.NONE:
        yield _(
            "This method has no standard errors, so there are no tie groups; counting and maxdiff have both."
        )
        return
    if facts["distinguishable"] is not None:
        shares = ("distinguishable", "distinguishable_fdr", "distinguishable_holm", "tied")
        yield _(
            "Of all pairs of items, %(distinguishable).1f %% are distinguishable at 95 %%. With a false-discovery rate "
            "of 5 %% (Benjamini-Hochberg), %(distinguishable_fdr).1f %% are; if no pair at all may be wrong (Holm), "
            "%(distinguishable_holm).1f %%. %(tied).1f %% have equal scores."
        ) % {name: 100 * facts[name] for name in shares}
        if facts["pairs_tested"] < facts["pairs"]:
            yield _("The shares are those of %(tested)s random pairs of %(pairs)s.") % verb.with_commas(
                tested=facts["pairs_tested"], pairs=facts["pairs"]
            )
    if scores.error_kind is ErrorKind.ESTIMATED:
        yield _(
            "The standard errors are estimates, within a few per cent: there are too many items for exact ones."
        )
