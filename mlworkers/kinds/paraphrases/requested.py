"""How the paraphrases of a run meet the tags that were requested: heatmaps, tables, and a sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.results.estimates import Estimate
from curation.results.reports import Chart, Link, Links, Part, Points, Report, Section, Text
from curation.results.tables import Column, Row, Table
from mlworkers.kinds.paraphrases.heatmaps import Square, heatmap, heatmap_columns, percent_of, squares_of
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.paraphrasing.tags import Tag, TagBounds

_Stored = Mapping[str, Any]
FIGURES = (
    "hit_rate", "near_rate", "error_of_similarity", "error_of_bleu", "spearman_similarity", "spearman_bleu",
    "mean_similarity", "mean_bleu", "gain_of_reranking", "times_by_reranking",
)  # fmt: skip
SHOWN: Mapping[str, Any] = {  # figures of the page, in the order of their columns
    "hit_rate": gettext_lazy("In the requested cell, %"),
    "near_rate": gettext_lazy("There or one beside, %"),
    "gain_of_reranking": gettext_lazy("Gain of reranking, points"),
    "error_of_similarity": gettext_lazy("Error of similarity"),
    "error_of_bleu": gettext_lazy("Error of BLEU"),
    "spearman_similarity": gettext_lazy("Spearman, similarity"),
    "spearman_bleu": gettext_lazy("Spearman, BLEU"),
}
_SHARES = ("hit_rate", "near_rate", "gain_of_reranking")  # shown in percent
_OF_FILE = (
    "similarity_tag", "bleu_tag", "paraphrases", *(f"{name}{end}" for name in FIGURES for end in ("", "_low", "_high")),
    "chance",
)  # fmt: skip


def requested_report(run: Run, reader: Reader) -> Report:
    data: list[Row] = []  # a line for all paraphrases and for each tag
    for row in run.result.get("profile", {}).get("rows", []):
        figures = [end for name in FIGURES for end in _figure(row, name)]
        data.append(
            [row["similarity_tag"], row["bleu_tag"], row["paraphrases"], *figures, run.result["chance"]]
        )
    return Report(
        title=_("Requested and measured, run %(number)s") % {"number": run.pk},
        heading=_("Requested and measured"),
        lead=_(
            "Which similarity and BLEU the paraphrases of this run were requested to have, and which they have."
        ),
        finding=what_was_met(run.result) if run.result.get("profile") else "",
        parts=_parts(run, reader) if run.result.get("profile") else [],
        data=Table(list(map(Column, _OF_FILE)), data),
    )


def what_was_met(result: _Stored) -> str:
    """The hit rate beside chance, and what reranking adds."""
    whole = result["profile"]["rows"][0]
    sentence = _(
        "%(hits)s of the paraphrases lie in the cell that was requested; by chance it would be %(chance)s %%."
    ) % {"hits": _interval(figure_shown(whole, "hit_rate")), "chance": f"{100 * result['chance']:.1f}"}
    gain, times = (figure_shown(whole, name) for name in ("gain_of_reranking", "times_by_reranking"))
    if gain.value is None:
        return sentence
    added = _("Reranking adds %(gain)s percentage points") % {"gain": _interval(gain, unit="")}
    if times.value is not None:
        added += _(": %(times)s times as many hits") % {"times": _interval(times, unit="")}
    return f"{sentence} {added}."


def figure_shown(stored: _Stored, name: str) -> Estimate:
    """A share in percent."""
    figure = _figure(stored, name)
    return figure.in_percent if name in _SHARES else figure


def _figure(stored: _Stored, name: str) -> Estimate:
    return Estimate(*(stored.get(f"{name}{end}") for end in ("", "_low", "_high")))


def _interval(one: Estimate, unit: str = " %") -> str:
    value = f"{one.value:.1f}{unit}"
    if one.low is None or one.high is None:
        return value.replace("-", "−")
    text = _("%(value)s (%(low).1f to %(high).1f)") % {"value": value, "low": one.low, "high": one.high}
    return str(text).replace("-", "−")


def _parts(run: Run, reader: Reader) -> list[Part]:
    result, bounds = run.result, TagBounds(**run.result["tags"])
    is_reranked = "likeliest" in result["profile"]
    parts: list[Part] = []
    if is_reranked and not result["measured_by_another_labeller"]:
        told = _(
            "The scorer that chose the candidates also measured them, which makes the gain of reranking "
            "look larger. Name a second scorer, trained with other seeds."
        )
        parts.append(Text(told, "doubtful"))
    if result.get("labels_from"):
        told = _(
            "A scorer or the paraphraser behind these figures learned from %(benchmark)s. If what is "
            "trained on the paraphrases is evaluated on %(benchmark)s, say so beside the figure."
        )
        parts.append(Text(told % {"benchmark": result["labels_from"]}, "doubtful"))
    parts.append(Section("", _charts(result, bounds), across=True))
    rows = result["profile"]["rows"]
    by_similarity = [row for row in rows if row["similarity_tag"] and not row["bleu_tag"]]
    by_bleu = [row for row in rows if row["bleu_tag"] and not row["similarity_tag"]]
    by_both = [row for row in rows if row["bleu_tag"] and row["similarity_tag"]]
    both = ["spearman_similarity", "spearman_bleu"]
    for name, title, heading, of_tag, correlations in (
        ("all", _("All paraphrases"), _("Tags"), rows[:1], both),
        ("by-similarity", _("By tag of similarity"), _("Similarity"), by_similarity, both[1:]),
        ("by-bleu", _("By tag of BLEU"), _("BLEU"), by_bleu, both[:1]),
        ("by-both", _("By pair of tags"), _("Tags"), by_both, []),
    ):
        if of_tag or name == "by-both":
            names = [
                each
                for each in SHOWN
                if (is_reranked or each != "gain_of_reranking") and (each not in both or each in correlations)
            ]
            parts.append(Section(title, [_table(heading, names, of_tag)], name=name))
    parts.append(_how_to_read(result, bounds, is_reranked=is_reranked))
    if run.dataset:
        address = reverse("curation:dataset", args=[run.dataset.slug])
        links = [Link(_("View the pairs"), f"{address}?origin=generated", "button")]
        compare = _("Compare paraphrases as training data")
        parts.append(Links(links + reader.form("compare_augmentations", run.dataset, compare, look="button")))
    return parts


def _table(heading: str, names: Sequence[str], rows: Sequence[_Stored]) -> Table:
    columns = [Column(label=heading, form="text"), Column(label=_("Paraphrases"))] + [
        Column(label=str(SHOWN[name]), digits=3 if name.startswith("spearman") else 1) for name in names
    ]
    return Table(
        columns,
        [
            [
                " ".join(filter(None, (row["similarity_tag"], row["bleu_tag"]))) or _("all paraphrases"),
                row["paraphrases"],
                *(figure_shown(row, name) for name in names),
            ]
            for row in rows
        ],
    )


def _how_to_read(result: _Stored, bounds: TagBounds, *, is_reranked: bool) -> Section:
    points = [
        _(
            "A paraphrase lies in the requested cell if its measured similarity and its BLEU are both in the bins of "
            "its tags. “There or one beside” allows each of them to be one bin off. A random cell of all %(cells)s "
            "would be the requested one once in %(cells)s times."
        )
        % {"cells": bounds.cells},
        _(
            "An error is the mean distance between a label and the middle of its requested bin, on the scale of 0 to "
            "100. In a bin that is 5 wide, labels that are spread evenly have an error of 1.25."
        ),
        _(
            "Spearman correlates the middles of the requested bins with the measured labels. For one tag of similarity "
            "it is that of BLEU, and for one tag of BLEU that of similarity: whether one dial works while the other "
            "stays."
        ),
        _(
            "Lighter figures are 95 %% bootstrap intervals over the %(sources)s source sentences; all paraphrases of a "
            "source are drawn together. Where all or none of the paraphrases are in the cell, the interval is Wilson's "
            "for as many sources."
        )
        % {"sources": intcomma(result["sources"])},
    ]
    if is_reranked:
        points.append(
            _(
                "The gain of reranking is the share of chosen candidates in the requested cell less that of the "
                "likeliest candidates of the same sources and tags, in percentage points."
            )
        )
    points.append(
        _(
            "Every paraphrase counts, also copies and others that were not added: dropping them must not make a "
            "paraphraser look better."
        )
    )
    return Section(_("How to read this"), [Points(points)])


def _charts(result: _Stored, bounds: TagBounds) -> list[Chart]:
    """The requested cells, the measured labels, and those without reranking, shaded alike; requested cells outlined."""
    stored = result["profile"]
    n = stored["rows"][0]["paraphrases"]
    tags: dict[str, Tag] = {tag.name: tag for tag in (*bounds.similarity, *bounds.lexical)}
    asked = [(tags[similarity], tags[bleu], count) for similarity, bleu, count in stored["requested"]]
    requested = [
        Square(similarity.low, similarity.high, bleu.low, bleu.high, count, percent_of(count, n))
        for similarity, bleu, count in asked
    ]
    measured = _("Measured: %(hits)s in the cell requested for them")
    heatmaps = [
        ("requested", _("Requested: the outlined cells"), requested),
        (
            "measured",
            measured % {"hits": _interval(figure_shown(stored["rows"][0], "hit_rate"))},
            squares_of(stored["measured"], n),
        ),
    ]
    if "likeliest" in stored:
        hits = _interval(figure_shown(result["without_reranking"], "hit_rate"))
        finding = _("Without reranking: %(hits)s in the cell requested for them") % {"hits": hits}
        heatmaps.append(("without-reranking", finding, squares_of(stored["likeliest"], n)))
    most = max(square.percent for _name, _finding, squares in heatmaps for square in squares)
    marked = [(similarity, bleu) for similarity, bleu, _count in asked]
    axes = {"similarity": _("similarity"), "bleu": _("BLEU")}
    return [
        Chart(
            name=name,
            finding=finding,
            n=n,
            unit=_("paraphrases"),
            drawing=heatmap(squares, bounds, **axes, most=most, marked=marked).to_dict(),
            columns=heatmap_columns(),
            rows=squares,
        )
        for name, finding, squares in heatmaps
    ]
