"""A search over settings as its run's page and its file show it, and what a comparison starts from afterwards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import ACCENT, SOFT, Chart, chart_draw
from curation.files.heavy import alt
from mlworkers.models import Run
from mlworkers.science.encoders.plan import ComparisonPlan, SharedTraining, Weighting
from mlworkers.science.encoders.search_plan import FITTED_WORD

KIND = "search_settings"
VARIED = ("temperature", "learning_rate", "epochs", "batch_size")
CSV_COLUMNS = (
    "trial", *VARIED, "dev_spearman", "dev_low", "dev_high", "sd_over_seeds", "seconds", "chosen", "failed",
)  # fmt: skip
_FEWEST_POINTS = 2


@dataclass(frozen=True)
class TrialRow:
    """A trial: its settings in words, its dev figure with its interval or why it has none."""

    trial: int
    temperature: str
    learning_rate: str
    epochs: int
    batch_size: int
    spearman: float | None
    low: float | None
    high: float | None
    sd: float | None
    seconds: float
    failed: str
    chosen: bool


@dataclass(frozen=True)
class Search:
    """finding: the figures of the chosen trial. notes: what the figures do not show. rows: the highest dev figure
    first, those that failed last.
    """

    finding: str
    rows: list[TrialRow]
    seeds: int
    notes: list[str]
    chart: Chart | None


def search_of(run: Run) -> Search | None:
    """None where the run is not a search, or has no result."""
    if run.kind != KIND or not run.result.get("trials"):
        return None
    result = run.result
    rows = [
        TrialRow(
            trial=trial["trial"],
            temperature=f"{trial['temperature']:g}" if trial["temperature"] else FITTED_WORD,
            learning_rate=f"{trial['learning_rate']:g}",
            epochs=trial["epochs"],
            batch_size=trial["batch_size"],
            spearman=trial["spearman"],
            low=trial["low"],
            high=trial["high"],
            sd=trial["sd"],
            seconds=trial["seconds"],
            failed=trial["failed"],
            chosen=trial["trial"] == result["chosen_trial"],
        )
        for trial in result["trials"]
    ]
    rows.sort(key=lambda row: (row.spearman is None, -(row.spearman or 0.0), row.trial))
    words = {"trial": result["chosen_trial"], "dev": _three(result["dev_spearman"])}
    words["test"] = _three(result["test_spearman"])
    if result["test_spearman_low"] is not None:
        ends = [_three(result[f"test_spearman_{end}"]) for end in ("low", "high")]
        words["test"] = _("%(test)s (%(low)s to %(high)s)") % {**words, "low": ends[0], "high": ends[1]}
    finding = _(
        "Trial %(trial)s was chosen: Spearman %(dev)s on the dev pairs, by which it was chosen, and %(test)s on the "
        "test pairs."
    )
    return Search(finding % words, rows, len(result["seeds"]), list(_notes(result)), _chart(rows, result))


def csv_rows(search: Search) -> Iterator[Sequence[object]]:
    for row in search.rows:
        figures = ["" if value is None else value for value in (row.spearman, row.low, row.high, row.sd)]
        chosen = "yes" if row.chosen else "no"
        yield (
            row.trial, row.temperature, row.learning_rate, row.epochs, row.batch_size, *figures, row.seconds, chosen,
            row.failed,
        )  # fmt: skip


def comparison_values(run: Run) -> dict[str, Any]:
    """The plan of a comparison of weightings with the settings that the search chose."""
    names = [one.name for one in fields(SharedTraining)]
    names += ["test_score_set", "test_dataset", "test_split", "bootstrap"]
    values = {name: run.plan[name] for name in names if name in run.plan}
    chosen = run.result["trials"][run.result["chosen_trial"] - 1]
    usual = str(next(one.default for one in fields(ComparisonPlan) if one.name == "weightings"))
    weightings = usual.split(",")
    weighting = str(run.plan.get("weighting", Weighting.REALISM))
    if weighting not in weightings and Weighting(weighting).controlled is None and weighting != "constant":
        weightings.append(weighting)
    if not run.plan.get("realism"):
        needed = {name for name in weightings if "realism" in Weighting(name).signals}
        weightings = [name for name in weightings if name not in needed]
    return {**values, **{name: chosen[name] for name in VARIED}, "weightings": ",".join(weightings)}


def _three(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


def _notes(result: dict[str, Any]) -> Iterator[str]:
    measured = result["tried"] - result["failed"]
    if measured > 1:
        yield _(
            "The dev figure of the chosen trial is the highest of %(trials)s and therefore too high on average: part "
            "of it is chance. The test figure was measured once, after the choice, and is free of this."
        ) % {"trials": measured}
    if len(result["seeds"]) == 1:
        yield _(
            "Each trial was trained with one seed. Another seed may change a figure as much as another setting does, "
            "so the order of trials with similar figures says little. The intervals are over pairs and exclude the "
            "noise of training."
        )
    else:
        yield _(
            "Each figure is the mean over %(seeds)s seeds. The intervals are over pairs and exclude the noise of "
            "training."
        ) % {"seeds": len(result["seeds"])}
    if result["tried"] < result["combinations"]:
        yield _("%(tried)s of %(all)s combinations were tried, drawn at random.") % {
            "tried": result["tried"],
            "all": result["combinations"],
        }
    if result["chosen_by"].startswith(_("synthetic")):
        yield _(
            "The dev set was synthetic: the settings were chosen by how well the encoders learn the target "
            "similarities of generated pairs, which need not be how well they agree with people."
        )


def _chart(rows: Sequence[TrialRow], result: dict[str, Any]) -> Chart | None:
    """Each trial's dev figure and its interval, the chosen one marked; None for fewer than two."""
    known = [row for row in rows if row.spearman is not None]
    if len(known) < _FEWEST_POINTS:
        return None
    order = [str(row.trial) for row in known]
    values = [
        {
            "trial": str(row.trial),
            "figure": row.spearman,
            "low": row.low,
            "high": row.high,
            "chosen": row.chosen,
        }
        for row in known
    ]
    each = alt.X(
        "trial:N", sort=order, title=_("Trial, the highest figure first"), axis=alt.Axis(labelAngle=0)
    )
    scale = alt.Scale(zero=False, nice=True)
    bars = alt.Chart(alt.InlineData(values=[one for one in values if one["low"] is not None]))
    dots = alt.Chart(alt.InlineData(values=values))
    of_figure = alt.Y("figure:Q", scale=scale, title=_("Spearman on dev pairs"))
    points = dots.mark_point(size=60, color=ACCENT, filled=False).encode(x=each, y=of_figure)
    marked = dots.transform_filter("datum.chosen").mark_point(size=60, color=ACCENT, filled=True)
    drawn: alt.TopLevelMixin = alt.layer(
        bars.mark_rule(color=SOFT).encode(x=each, y=alt.Y("low:Q", scale=scale), y2="high:Q"),
        points,
        marked.encode(x=each, y=of_figure),
    )
    finding = _("The dev figures of the trials lie between %(low)s and %(high)s.")
    words = {"low": f"{known[-1].spearman:.3f}", "high": f"{known[0].spearman:.3f}"}
    unit = ngettext("dev pair", "dev pairs", result["dev_pairs"])
    return chart_draw(
        drawn.properties(width=max(240, min(640, 22 * len(known))), height=180),
        name="trials",
        finding=finding % words,
        n=result["dev_pairs"],
        unit=unit,
        columns=[_("trial"), _("Spearman on dev pairs"), _("from"), _("to")],
        rows=[(row.trial, f"{row.spearman:.4f}", _four(row.low), _four(row.high)) for row in known],
        judges=result.get("judged_by", ""),
    )


def _four(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
