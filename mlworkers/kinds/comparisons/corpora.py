"""Profiles of paraphrase corpora as their page and their file show them (ConPGS, table 3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from mlworkers.kinds.comparisons.augmentations import Augmentations, augmentations_of
from mlworkers.models import Run
from mlworkers.science.encoders.contrastive.variants import ORIGINAL

KIND = "profile_corpora"
FIRST = "first sentences"
FIGURES = ("bleu", "vocabulary_at_equal_size", "perplexity_by_token", "perplexity_by_sentence")
CSV_COLUMNS = (
    "group", "pairs", "sentences", "vocabulary",
    *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    "without_perplexity", "score", "score_low", "score_high", "score_sd",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A value and the ends of its 95 % interval; None where there is none. sd: over seeds, of a score."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    sd: float | None = None


@dataclass(frozen=True)
class CorpusRow:
    """A group of pairs, or the first sentences of them all. without_perplexity: sentences that have none.

    score: of encoders that were trained on the group's paraphrases alone.
    """

    group: str
    pairs: int | None
    sentences: int
    vocabulary: int
    figures: Mapping[str, Figure]
    without_perplexity: int
    score: Figure

    @property
    def label(self) -> str:
        return _("first sentences of the pairs") if self.group == FIRST else self.group


@dataclass(frozen=True)
class Corpora:
    """rows: the groups, then their first sentences. equal_size: sentences of a vocabulary that can be compared.

    score_name: the test of the scores; "" where there are none. alone: whether these encoders learned from
    paraphrases alone, at equal size.
    """

    rows: list[CorpusRow]
    equal_size: int
    has_perplexity: bool
    score_name: str
    alone: bool
    comparison: Run | None


def corpora_of(run: Run, *, among: QuerySet[Run]) -> Corpora | None:
    """None where the run has no result. among: the runs that a reader sees, of which the comparison may be one."""
    stored = run.result.get("groups")
    if run.kind != KIND or not stored:
        return None
    comparison = among.filter(pk=run.plan.get("comparison") or 0).first()
    compared = augmentations_of(comparison) if comparison else None
    rows = [_row(one, compared) for one in stored]
    column = compared.columns[compared.place].label if compared else ""
    alone = comparison is not None and not comparison.plan.get("keep_originals", True)
    return Corpora(
        rows=rows,
        equal_size=run.result["sentences_at_equal_size"],
        has_perplexity=any("perplexity_by_token" in one for one in stored),
        score_name=column if any(row.score.value is not None for row in rows) else "",
        alone=alone,
        comparison=comparison,
    )


def what_the_groups_show(found: Corpora) -> str:
    """The groups that share least wording, and that surprise a language model least, by their figures."""
    groups = [row for row in found.rows if row.figures["bleu"].value is not None]
    if len(groups) < 2:
        (one,) = groups
        return _("The sentences of a pair share a BLEU of %(bleu)s on average.") % {
            "bleu": f"{one.figures['bleu'].value:.1f}"
        }
    by_bleu = sorted(groups, key=lambda row: row.figures["bleu"].value or 0.0)
    words = {
        "least": by_bleu[0].label,
        "low": f"{by_bleu[0].figures['bleu'].value:.1f}",
        "most": by_bleu[-1].label,
        "high": f"{by_bleu[-1].figures['bleu'].value:.1f}",
    }
    sentence = _(
        "Pairs of “%(least)s” share the least wording (BLEU %(low)s), those of “%(most)s” the most (%(high)s)."
    )
    return sentence % words


def csv_rows(found: Corpora) -> Iterator[list[object]]:
    """A line for each group, under CSV_COLUMNS."""
    for row in found.rows:
        cells: list[object] = [row.group, row.pairs, row.sentences, row.vocabulary]
        for name in FIGURES:
            one = row.figures[name]
            cells += [one.value, one.low, one.high]
        cells += [row.without_perplexity, row.score.value, row.score.low, row.score.high, row.score.sd]
        yield ["" if value is None else value for value in cells]


def _row(stored: Mapping[str, Any], compared: Augmentations | None) -> CorpusRow:
    figures = {
        name: Figure(stored.get(name), stored.get(f"{name}_low"), stored.get(f"{name}_high"))
        for name in FIGURES
    }
    return CorpusRow(
        group=stored["group"],
        pairs=stored["pairs"],
        sentences=stored["sentences"],
        vocabulary=stored["vocabulary"],
        figures=figures,
        without_perplexity=stored.get("without_perplexity", 0),
        score=_score(stored["group"], compared),
    )


def _score(group: str, compared: Augmentations | None) -> Figure:
    """Of the comparison's row of that variant, of its smallest size, with all examples; of the first sentences, those
    that were trained on the original examples.
    """
    variant = ORIGINAL if group == FIRST else group
    if compared is None:
        return Figure()
    rows = [row for row in compared.trained if row.variant == variant and row.share == 1]
    if not rows:
        return Figure()
    cell = min(rows, key=lambda row: row.size).cells[compared.place]
    return Figure(cell.mean, cell.low, cell.high, cell.sd)
