"""How the paraphrases of a run meet the tags that were requested, as the run's page and its file show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from curation.charts import Chart, chart_draw
from curation.statistics.intervals import Estimate
from mlworkers.kinds.paraphrases.heatmaps import Square, heatmap, heatmap_columns, percent_of, squares_of
from mlworkers.models import Run
from mlworkers.science.paraphrasing.tags import Tag, TagBounds

KIND = "write_paraphrases"
FIGURES = (
    "hit_rate", "near_rate", "error_of_similarity", "error_of_bleu", "spearman_similarity", "spearman_bleu",
    "mean_similarity", "mean_bleu", "gain_of_reranking", "times_by_reranking",
)  # fmt: skip
_SHARES = ("hit_rate", "near_rate", "gain_of_reranking")  # shown in percent
CSV_COLUMNS = (
    "similarity_tag", "bleu_tag", "paraphrases", *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    "chance",
)  # fmt: skip


@dataclass(frozen=True)
class RequestedRow:
    """Figures of the paraphrases that were requested with a tag of similarity, one of BLEU, or both; "" for any."""

    similarity_tag: str
    bleu_tag: str
    paraphrases: int
    figures: Mapping[str, Estimate]

    @property
    def label(self) -> str:
        return " ".join(filter(None, (self.similarity_tag, self.bleu_tag))) or _("all paraphrases")

    @property
    def shown(self) -> Mapping[str, Estimate]:
        """Shares in percent."""
        return {name: one.in_percent if name in _SHARES else one for name, one in self.figures.items()}


@dataclass(frozen=True)
class Requested:
    """rows: all paraphrases, then those of each tag. reranked: whether candidates were chosen by their labels.

    same_labeller: whether the labeller that chose them measured them too.
    """

    rows: Sequence[RequestedRow]
    bounds: TagBounds
    chance: float
    sources: int
    reranked: bool
    same_labeller: bool
    labels_from: str

    @property
    def whole(self) -> RequestedRow:
        return self.rows[0]

    @property
    def by_similarity(self) -> list[RequestedRow]:
        return [row for row in self.rows if row.similarity_tag and not row.bleu_tag]

    @property
    def by_bleu(self) -> list[RequestedRow]:
        return [row for row in self.rows if row.bleu_tag and not row.similarity_tag]

    @property
    def by_both(self) -> list[RequestedRow]:
        return [row for row in self.rows if row.bleu_tag and row.similarity_tag]


def requested_of(run: Run) -> Requested | None:
    """None where the run has not ended well, or is older than these figures."""
    stored = run.result.get("profile")
    if run.kind != KIND or not stored:
        return None
    reranked = "likeliest" in stored
    return Requested(
        rows=[_row(one) for one in stored["rows"]],
        bounds=TagBounds(**run.result["tags"]),
        chance=run.result["chance"],
        sources=run.result["sources"],
        reranked=reranked,
        same_labeller=reranked and not run.result["measured_by_another_labeller"],
        labels_from=run.result.get("labels_from", ""),
    )


def _row(stored: Mapping[str, Any]) -> RequestedRow:
    figures = {name: _figure(stored, name) for name in FIGURES}
    return RequestedRow(stored["similarity_tag"], stored["bleu_tag"], stored["paraphrases"], figures)


def _figure(stored: Mapping[str, Any], name: str) -> Estimate:
    return Estimate(*(stored.get(f"{name}{end}") for end in ("", "_low", "_high")))


def what_was_met(found: Requested) -> str:
    """The hit rate beside chance, and what reranking adds."""
    whole = found.whole.shown
    words = {"hits": _interval(whole["hit_rate"]), "chance": f"{100 * found.chance:.1f}"}
    sentence = _(
        "%(hits)s of the paraphrases lie in the cell that was requested; by chance it would be %(chance)s %%."
    )
    sentence %= words
    gain, times = whole["gain_of_reranking"], whole["times_by_reranking"]
    if gain.value is None:
        return sentence
    added = _("Reranking adds %(gain)s percentage points") % {"gain": _interval(gain, unit="")}
    if times.value is not None:
        added += _(": %(times)s times as many hits") % {"times": _interval(times, unit="")}
    return f"{sentence} {added}."


def _interval(one: Estimate, unit: str = " %") -> str:
    value = f"{one.value:.1f}{unit}"
    if one.low is None or one.high is None:
        return value.replace("-", "−")
    text = _("%(value)s (%(low).1f to %(high).1f)") % {"value": value, "low": one.low, "high": one.high}
    return str(text).replace("-", "−")


def requested_charts(run: Run, found: Requested) -> list[Chart]:
    """The requested cells, the measured labels, and those without reranking, shaded alike; requested cells outlined."""
    stored, n = run.result["profile"], found.whole.paraphrases
    tags = {tag.name: tag for tag in (*found.bounds.similarity, *found.bounds.lexical)}
    asked = [(tags[similarity], tags[bleu], count) for similarity, bleu, count in stored["requested"]]
    heatmaps = [
        ("requested", _("Requested: the outlined cells"), _squares_requested(asked, n)),
        ("measured", _measured_in_words(found.whole.figures["hit_rate"]), squares_of(stored["measured"], n)),
    ]
    if found.reranked:
        before = _figure(run.result["without_reranking"], "hit_rate")
        squares = squares_of(stored["likeliest"], n)
        heatmaps.append(("without-reranking", _measured_in_words(before, reranked=False), squares))
    most = max(square.percent for _name, _finding, squares in heatmaps for square in squares)
    marked = [(similarity, bleu) for similarity, bleu, _count in asked]
    return [
        chart_draw(
            heatmap(
                squares, found.bounds, similarity=_("similarity"), bleu=_("BLEU"), most=most, marked=marked
            ),
            name=name,
            finding=finding,
            n=n,
            unit=_("paraphrases"),
            columns=heatmap_columns(),
            rows=squares,
        )
        for name, finding, squares in heatmaps
    ]


def _squares_requested(asked: Sequence[tuple[Tag, Tag, int]], n: int) -> list[Square]:
    return [
        Square(similarity.low, similarity.high, bleu.low, bleu.high, count, percent_of(count, n))
        for similarity, bleu, count in asked
    ]


def _measured_in_words(hits: Estimate, *, reranked: bool = True) -> str:
    sentence = _("Measured: %(hits)s in the cell requested for them")
    if not reranked:
        sentence = _("Without reranking: %(hits)s in the cell requested for them")
    return sentence % {"hits": _interval(hits.in_percent)}


def csv_rows(found: Requested) -> Iterator[list[object]]:
    """A line for all paraphrases and for each tag, under CSV_COLUMNS."""
    for row in found.rows:
        cells = [cell for name in FIGURES for cell in row.figures[name]]
        yield [
            row.similarity_tag,
            row.bleu_tag,
            row.paraphrases,
            *("" if cell is None else cell for cell in cells),
            found.chance,
        ]
