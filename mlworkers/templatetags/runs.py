"""How a run's plan, result, time and speed are put into words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.charts import Chart, chart_draw
from curation.results import reports, tables
from curation.results.estimates import Estimate
from curation.templatetags.curation import figure
from mlworkers.kinds.comparisons.comparison import p_value
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import KINDS, PAGES, Page
from mlworkers.plans.settings import Setting, Text
from mlworkers.runs.cards import MODEL_KIND_LABELS, benchmarks_of, card_of
from mlworkers.runs.lineage import score_sets_of_plan
from mlworkers.runs.results import duration_in_words, parts_of, remaining_in_words, shown
from mlworkers.runs.selectors import worker_for

register = template.Library()
register.filter("figure", figure)
register.filter("p_value", p_value)
register.filter("result_parts", parts_of)
register.filter("duration", duration_in_words)
register.filter("remaining", remaining_in_words)
register.filter("benchmarks", benchmarks_of)
register.simple_tag(card_of, name="card")
register.simple_tag(worker_for)


@register.filter
def result_page(run: Run) -> Page | None:
    """The page of a run's results; None where its kind has none."""
    return PAGES.get(run.kind) if run.state == Run.State.SUCCEEDED else None


@register.filter
def class_name(part: object) -> str:
    return type(part).__name__


@register.filter
def drawn(chart: reports.Chart) -> Chart:
    return chart_draw(
        dict(chart.drawing),
        name=chart.name,
        finding=chart.finding,
        n=chart.n,
        unit=chart.unit,
        columns=chart.columns,
        rows=chart.rows,
        judges=chart.judges,
    )


@register.filter
def main_value(cell: tables.Cell, column: tables.Column) -> str:
    """The value of a cell, without its interval."""
    value = cell.value
    return shown_in(value.value if isinstance(value, Estimate) else value, column)


@register.filter
def shown_in(value: str | float | None, column: tables.Column) -> str:
    """A value in the form of its column; whole numbers in the reader's language."""
    is_whole = type(value) is int and column.form == "number"
    return str(intcomma(value)) if is_whole else column.text(value)


@register.filter
def speed(rate: float | None) -> str:
    """A rate in whole numbers, or with two digits where it is slow: "1,204", "7.3", "0.25"."""
    if rate is None:
        return ""
    return intcomma(round(rate)) if rate >= 10 else f"{rate:.2g}"


@dataclass(frozen=True)
class PlanRows:
    """The settings of a plan by their labels: those that say what the run is, and those left at their defaults."""

    chosen: list[tuple[Text, str]]
    defaults: list[tuple[Text, str]]


@register.filter
def plan_rows(run: Run) -> PlanRows:
    known = {setting.name: setting for setting in KINDS[run.kind].settings} if run.kind in KINDS else {}
    sets = score_sets_of_plan(run)  # of simulated annotators they have a mark
    rows = PlanRows([], [])
    for name, value in run.plan.items():
        setting = known.get(name)
        is_usual = setting is not None and not setting.comes_first and value == setting.default
        row = (
            setting.label if setting else name,
            _valued(setting, str(sets[name]) if name in sets else value),
        )
        (rows.defaults if is_usual else rows.chosen).append(row)
    return rows


def _valued(setting: Setting | None, value: Any) -> str:
    """With its unit, unless the label says the same."""
    if setting and setting.refers_to and value == 0:  # rows are numbered from 1
        return _("a new one") if setting.refers_to == "snapshot" else _("none")
    # A seed and the number of a row are names: people type them without commas.
    named = setting is not None and (setting.refers_to or setting.name.endswith("seed"))
    text = str(value) if named and type(value) is int else shown(value)
    if isinstance(value, str) and re.fullmatch(r"[\w.:-]+(,[\w.:-]+)+", text):
        text = text.replace(",", ", ")  # names in a list: a narrow column breaks between them
    if setting is None or not setting.unit or str(setting.unit).lower() == str(setting.label).lower():
        return text
    return f"{text} {setting.unit}"


@register.filter
def signed(value: float | None, digits: int = 3) -> str:
    """A difference, whose sign matters: "+0.012", "−0.004"."""
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")


@register.filter
def kind_label(kind: str) -> Text:
    """The kind of a run or of an artefact in words."""
    return KINDS[kind].label if kind in KINDS else MODEL_KIND_LABELS.get(kind, kind)


@register.filter
def behind(name: str, models: Mapping[str, Artifact]) -> Artifact | None:
    """The model that a plan's name for it means, of those that `models_named.models_behind` found."""
    return models.get(name)


@register.filter
def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


@register.filter
def place_on_scale(cosine: float) -> str:
    """Where a cosine lies between 0 and 1, in percent of the way; opposite directions lie at 0."""
    return f"{100 * min(max(cosine, 0.0), 1.0):.1f}"
