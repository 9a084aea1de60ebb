"""What a form offers where a setting names something: score sets, uploads, snapshots, runs, models."""

from collections.abc import Callable, Iterable
from typing import Any

from django import forms
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.inclusion import inclusion_choices, inclusion_counts
from curation.models import Dataset, ImportBatch, ScoreSet
from mlworkers.plans.kinds import KINDS, MODEL_KINDS
from mlworkers.plans.settings import Setting
from mlworkers.pretrained.sources import PACKAGES
from mlworkers.registry.cards import card_of
from mlworkers.registry.instructions import instructions_offered
from mlworkers.registry.selectors import models_to_name
from mlworkers.runs.selectors import runs_to_name

SETS_OFFERED = 200
Choices = list[tuple[str, str]]


class SuggestingInput(forms.TextInput):
    """A text field that suggests what is there and takes anything."""

    template_name = "mlworkers/_suggested.html"

    def __init__(self, suggestions: Choices) -> None:
        super().__init__(attrs={"autocomplete": "off", "spellcheck": "false"})
        self.suggestions = suggestions

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        list_id = f"{context['widget']['attrs'].get('id', name)}_suggestions"
        context["widget"]["attrs"]["list"] = list_id
        return context | {"list_id": list_id, "suggestions": self.suggestions}


def choices_of(setting: Setting, dataset: Dataset | None, datasets: Iterable[Dataset] = ()) -> Choices | None:
    """What can be chosen, by its value and in words; None where the setting is no choice. The first is the form's
    default, and says so where there is nothing.
    """
    if setting.refers_to == "generated pairs" and dataset is not None:
        return inclusion_choices(inclusion_counts(dataset))
    if setting.choices:
        return [(choice, choice) for choice in setting.choices]
    if setting.refers_to == "dataset":
        others = [(one.slug, one.name) for one in datasets if dataset is None or one.slug != dataset.slug]
        return [("", _("the same dataset")), *others]
    if dataset is None:
        return None
    if setting.refers_to == "score set" and setting.within:
        return _score_sets_of_all(setting, dataset, datasets)
    offers: dict[str, Callable[[Setting, Dataset], Choices]] = {
        "score set": _score_sets,
        "batch": _uploads_that_wait,
        "snapshot": _snapshots,
        "run": _runs,
        "block": _blocks,
        "instructions": lambda _setting, dataset: instructions_offered(dataset),
    }
    return offers[setting.refers_to](setting, dataset) if setting.refers_to in offers else None


def suggestions_of(setting: Setting) -> Choices | None:
    """The packaged encoder, and the models that runs made, newest first; None for what names no model."""
    if setting.refers_to != "model":
        return None
    kinds = setting.kinds or MODEL_KINDS
    packaged = [(f"packaged:{name}", _("packaged")) for name in PACKAGES if "encoder" in kinds]
    return packaged + [(name, card_of(artifact).name) for name, artifact in models_to_name(kinds)]


def preselected_of(setting: Setting, dataset: Dataset | None) -> str:
    """The score set or the run that a form starts with where the setting may stay empty: the dataset's own, or none."""
    if not setting.preselected or dataset is None:
        return ""
    if setting.refers_to == "run":
        return next((number for number, _label in _runs(setting, dataset) if number != "0"), "")
    return next((name for name, _label in _names(setting, dataset)), "")


def _score_sets(setting: Setting, dataset: Dataset) -> Choices:
    sets: Choices = [(name, label) for name, label in _names(setting, dataset)]
    if setting.required:
        kinds = get_text_list([ScoreSet.Kind(kind).label for kind in setting.kinds], _("or"))
        nothing = _("no score set of the kind %(kinds)s yet") % {"kinds": kinds}
        return sets or [("", nothing if setting.kinds else _("no score set yet"))]
    return [("", _("none") if setting.kinds else _("every score set")), *sets]


def _score_sets_of_all(setting: Setting, dataset: Dataset, datasets: Iterable[Dataset]) -> Choices:
    """The dataset's own first, then those of the other datasets that may be named; a name that several use once."""
    own = _names(setting, dataset)
    others = ScoreSet.objects.filter(dataset__in=[one.pk for one in datasets]).exclude(dataset=dataset)
    if setting.kinds:
        others = others.filter(kind__in=setting.kinds)
    sets = dict(own)
    for one in others.select_related("dataset").order_by("dataset__name", "-pk")[:SETS_OFFERED]:
        sets.setdefault(one.name, f"{one} · {one.get_kind_display()} · {one.dataset.name}")
    if not setting.required:
        return [("", _("none")), *sets.items()]
    return list(sets.items()) or [("", _("no such score set yet"))]


def _names(setting: Setting, dataset: Dataset) -> list[tuple[str, str]]:
    """The score sets that will do, with their labels: of the kind that the plan names first before others, the newest
    first.
    """
    sets = list(dataset.score_sets.order_by("-pk"))
    if setting.kinds:
        sets = [one for kind in setting.kinds for one in sets if one.kind == kind]
    return [(one.name, f"{one} · {one.get_kind_display()}") for one in sets]


def _uploads_that_wait(setting: Setting, dataset: Dataset) -> Choices:
    kinds = setting.kinds or (ImportBatch.Kind.PAIRS,)
    waiting = dataset.imports.filter(kind__in=kinds).exclude(state=ImportBatch.State.DONE)
    if ImportBatch.Kind.PAIRS in kinds:
        waiting = waiting.exclude(mapping={})  # nobody has said yet what its columns hold
    uploads = [(str(batch.pk), f"{batch.pk} · {batch.file_name}") for batch in waiting]
    return uploads or [("", _("no uploaded file; upload one on the dataset's import page"))]


def _snapshots(setting: Setting, dataset: Dataset) -> Choices:
    taken = [] if setting.required else [("0", _("a new one"))]
    for one in dataset.snapshots.all():
        words = ngettext("%(number)s · %(rows)s pair", "%(number)s · %(rows)s pairs", one.rows)
        taken.append((str(one.number), words % {"number": one.number, "rows": f"{one.rows:,}"}))
    return taken


def _blocks(_setting: Setting, dataset: Dataset) -> Choices:
    drawn = []
    for block in dataset.tuple_blocks.all():
        words = {"campaign": block.name, "tuples": f"{len(block.tuples):,}"}
        drawn.append((str(block.pk), _("%(campaign)s · %(tuples)s tuples") % words))
    return drawn or [("", _("no tuples drawn; draw them on the page “Machines” of a campaign"))]


def _runs(setting: Setting, dataset: Dataset) -> Choices:
    runs = [(str(run.pk), f"{run.pk} · {run.message}") for run in runs_to_name(dataset, setting.kinds)]
    if not setting.required:
        return [("0", _("none")), *runs]
    kinds = get_text_list([f"“{KINDS[kind].label}”" for kind in setting.kinds if kind in KINDS], _("or"))
    return runs or [("", _("no run of the kind %(kinds)s has succeeded yet") % {"kinds": kinds})]
