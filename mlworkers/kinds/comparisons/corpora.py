"""Profiles of paraphrase corpora (ConPGS, table 3): a table, and what it says."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.results.estimates import Estimate
from curation.results.reports import Link, Links, Part, Points, Report, Section
from curation.results.tables import Cell, Column, Mark, Row, Table
from mlworkers.kinds.comparisons.augmentations import Augmentations, augmentations_of
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.runs.cards import benchmarks_of
from mlworkers.science.encoders.contrastive.variants import ORIGINAL

_Stored = Mapping[str, Any]
FIRST = "first sentences"
FIGURES = ("bleu", "vocabulary_at_equal_size", "perplexity_by_token", "perplexity_by_sentence")
_OF_FILE = (
    "group", "pairs", "sentences", "vocabulary",
    *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    "without_perplexity", "score", "score_low", "score_high", "score_sd",
)  # fmt: skip


def corpora_report(run: Run, reader: Reader) -> Report:
    """The groups, then their first sentences; scores are those of a comparison that the reader sees."""
    groups: Sequence[_Stored] = run.result.get("groups") or []
    comparison = reader.runs.filter(pk=run.plan.get("comparison") or 0).first()
    compared = augmentations_of(comparison) if comparison else None
    # The score of a group is that of the comparison's row of that variant, of its smallest size, with all examples; of
    # the first sentences, those that were trained on the original examples.
    scores, lines = [], list[Row]()
    for group in groups:
        variant = ORIGINAL if group["group"] == FIRST else group["group"]
        trained = compared.trained if compared else []
        rows = [row for row in trained if row.variant == variant and row.share == 1]
        score = Estimate()
        if compared is not None and rows:
            cell = min(rows, key=lambda row: row.size).cells[compared.place]
            score = Estimate(cell.mean, cell.low, cell.high, sd=cell.sd)
        scores.append(score)
        figures = [end for name in FIGURES for end in _figure(group, name)]
        about = [group[name] for name in ("group", "pairs", "sentences", "vocabulary")]
        lines.append([*about, *figures, group.get("without_perplexity", 0), *score, score.sd])
    return Report(
        title=_("Paraphrase corpora %(number)s") % {"number": run.pk},
        heading=_("Wording of paraphrase corpora"),
        lead=_(
            "How much wording the sentences of a pair share, how many words the second sentences use, and how "
            "surprising they are."
        ),
        finding=_finding(groups) if groups else "",
        data=Table(list(map(Column, _OF_FILE)), lines),
        parts=_parts(run, reader, scores, comparison, compared) if groups else [],
    )


def _label(group: _Stored) -> str:
    return _("first sentences of the pairs") if group["group"] == FIRST else str(group["group"])


def _figure(group: _Stored, name: str) -> Estimate:
    return Estimate(*(group.get(f"{name}{end}") for end in ("", "_low", "_high")))


def _finding(stored: Sequence[_Stored]) -> str:
    """The groups that share least wording, and that surprise a language model least, by their figures."""
    groups = sorted(
        (one for one in stored if one.get("bleu") is not None), key=lambda one: float(one["bleu"])
    )
    least, most = groups[0], groups[-1]
    words = {
        "least": _label(least),
        "low": f"{least['bleu']:.1f}",
        "most": _label(most),
        "high": f"{most['bleu']:.1f}",
    }
    if least is most:
        return _("The sentences of a pair share a BLEU of %(low)s on average.") % words
    sentence = _(
        "Pairs of “%(least)s” share the least wording (BLEU %(low)s), those of “%(most)s” the most (%(high)s)."
    )
    return sentence % words


def _parts(
    run: Run,
    reader: Reader,
    scores: Sequence[Estimate],
    comparison: Run | None,
    compared: Augmentations | None,
) -> list[Part]:
    groups, size = run.result["groups"], intcomma(run.result["sentences_at_equal_size"])
    has_perplexity = any("perplexity_by_token" in one for one in groups)
    columns = [
        Column(label=_("Group"), form="text"),
        Column(label=_("Sentences")),
        Column(label=_("BLEU between the sentences of a pair"), digits=1),
        Column(label=_("Vocabulary")),
        Column(label=_("Vocabulary of %(size)s sentences") % {"size": size}, digits=0),
    ]
    if has_perplexity:
        columns.append(Column(label=_("Perplexity, by token"), digits=1))
        columns.append(Column(label=_("Perplexity, by sentence"), digits=1))
    has_scores = compared is not None and any(one.value is not None for one in scores)
    if compared is not None and has_scores:
        test = _("Spearman of encoders on %(test)s") % {"test": compared.columns[compared.place].label}
        columns.append(Column(label=test))
    rows: list[Row] = []
    for one, score in zip(groups, scores, strict=True):
        notes = []
        if (pairs := one["pairs"]) is not None:
            notes.append(
                ngettext("of %(shown)s pair", "of %(shown)s pairs", pairs) % {"shown": intcomma(pairs)}
            )
        row = [_label(one), Cell(one["sentences"], notes=notes), _figure(one, "bleu"), one["vocabulary"]]
        row.append(_figure(one, "vocabulary_at_equal_size"))
        if has_perplexity:
            left = one.get("without_perplexity", 0)
            note = ngettext("without %(shown)s sentence", "without %(shown)s sentences", left)
            notes = [note % {"shown": intcomma(left)}] if left else []
            row.append(Cell(_figure(one, "perplexity_by_token"), notes=notes))
            row.append(_figure(one, "perplexity_by_sentence"))
        rows.append([*row, score] if has_scores else row)
    parts: list[Part] = [
        Table(columns, rows),
        _how_to_read(run, size, comparison, has_perplexity=has_perplexity),
    ]
    links = reader.form(
        "compare_augmentations", run.dataset, _("Measure what encoders learn from these groups")
    )
    return [*parts, Links(links)] if links else parts


def _how_to_read(run: Run, size: str, comparison: Run | None, *, has_perplexity: bool) -> Section:
    bleu = _(
        "BLEU is that of the second sentence of each pair against the first, as written and lower-cased; the mean over "
        "the pairs. Low means other words."
    )
    points: list[str | Sequence[str | Link | Mark]] = [
        f"{bleu} {run.result.get('bleu_signature', '')}",
        _(
            "Vocabulary counts distinct words and marks, lower-cased, of the distinct second sentences. It grows with "
            "their number: compare the figures of %(size)s random sentences, the mean over 200 random subsets; lighter "
            "figures hold 95 %% of these."
        )
        % {"size": size},
    ]
    if has_perplexity:
        told = _(
            "Perplexity is that of %(model)s. By token: the exponential of the mean over all tokens. By sentence: the "
            "mean of the sentences' own, in which a few strange sentences weigh much. Papers often do not say which "
            "they give. A text-begin token comes before each sentence; sentences of one token have no perplexity."
        )
        points.append(told % {"model": run.plan.get("model", "")})
    points.append(
        _("Other lighter figures are 95 % bootstrap intervals over the pairs or sentences of a group.")
    )
    if comparison:
        whose = _("The scores of encoders are those of comparison %(number)s.") % {"number": comparison.pk}
        trained = _(
            "They were trained on the original examples and paraphrases, not on paraphrases alone as in the paper."
        )
        if not comparison.plan.get("keep_originals", True):
            trained = _(
                "They were trained on paraphrases alone, at equal size; beside the first sentences, on the original "
                "examples."
            )
        address = reverse("mlworkers:augmentations", args=[comparison.pk])
        points.append([Link(whose, address), *disclosed(comparison), trained])
    return Section(_("How to read this"), [Points(points)])


def disclosed(run: Run) -> list[Mark]:
    """Marks of benchmarks whose scores chose what the models of a run were trained on."""
    told = _("selected by %(benchmark)s labels")
    return [Mark(told % {"benchmark": each}, "doubtful") for each in benchmarks_of(run)]
