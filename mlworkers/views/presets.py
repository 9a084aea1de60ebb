"""The presets that a form offers, each with what such a run would take."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from curation.models import Dataset
from mlworkers.forms.plans import PlanForm
from mlworkers.pipelines.estimating import time_in_short
from mlworkers.plans.kind import Kind, Preset
from mlworkers.plans.kinds import plan_from, sentence_for_page


class PresetOffered(NamedTuple):
    """estimate: the time in words, or what the dataset lacks."""

    preset: Preset
    estimate: str


def presets_of(kind: Kind, dataset: Dataset | None, datasets: Iterable[Dataset]) -> list[PresetOffered]:
    """None of a kind without presets. datasets: those that the person may name beside the run's own."""
    if not kind.presets or dataset is None:
        return []
    datasets = list(datasets)
    blank = PlanForm(kind=kind, dataset=dataset, datasets=datasets)
    usual = {setting.name: _usual(blank, setting.name) for setting in kind.settings}
    return [
        PresetOffered(preset, _estimate(kind, {**usual, **preset.values}, dataset))
        for preset in kind.function(kind.presets)(dataset, datasets)
    ]


def _usual(blank: PlanForm, name: str) -> Any:
    """What the form starts with: a required choice is the first that it offers."""
    field = blank.fields[name]
    offered = getattr(field, "choices", None)
    return offered[0][0] if offered and field.initial in (None, "") else field.initial


def _estimate(kind: Kind, values: dict[str, Any], dataset: Dataset) -> str:
    given = {name: value for name, value in values.items() if value is not None}
    try:
        return time_in_short(kind, plan_from(kind, given), dataset)
    except ValueError as error:
        return sentence_for_page(kind, error)
