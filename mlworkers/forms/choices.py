"""What a form offers where a setting names something: score sets, uploads, snapshots, runs, models."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.inclusion import inclusion_choices, inclusion_counts
from curation.models import Dataset, ImportBatch, Pair, ScoreSet
from mlworkers.kinds.generation.instructions import instructions_offered
from mlworkers.plans.kinds import KINDS, MODEL_KINDS
from mlworkers.plans.settings import Setting
from mlworkers.runs.cards import card_of
from mlworkers.runs.models_named import models_to_name
from mlworkers.runs.selectors import runs_to_name
from mlworkers.science.encoders.suites.catalogue import SUITES
from mlworkers.science.pretrained.sources import ENCODER, PACKAGES

SETS_OFFERED = 200
FEW = 8  # suggestions that one looks through without searching
Choices = list[tuple[str, str]]


class OpenSelect(forms.Select):
    """A select whose last choice is another value, which is typed beside it: a folder, or a model of a hub.

    Without CSS both controls are seen; the typed value counts where that last choice is taken. More than FEW
    suggestions are searched by words (page.js).
    """

    template_name = "mlworkers/_open_select.html"
    OTHER = "another"

    def __init__(self, suggestions: Choices) -> None:
        self.suggestions = suggestions
        super().__init__(choices=[*suggestions, (self.OTHER, _("another: type its name"))])

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        chosen = super().value_from_datadict(data, files, name)
        return data.get(f"{name}_other", "").strip() if chosen == self.OTHER else chosen

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        typed = "" if value is None or str(value) in dict(self.suggestions) else str(value)
        shown = self.OTHER if typed or (value == "" and "" not in dict(self.suggestions)) else value
        return super().get_context(name, shown, attrs) | {
            "typed": typed,
            "searched": len(self.suggestions) > FEW,
        }


class SeveralInput(forms.CheckboxSelectMultiple):
    """Checkboxes for a text that holds names separated by commas. Names that are not offered get their own boxes, and a
    group of choices is folded away while none of it is ticked.
    """

    template_name = "mlworkers/_several.html"

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        given = data.getlist(name) if hasattr(data, "getlist") else [data.get(name, "")]
        return ",".join(str(one) for one in given if one)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False  # no box is ticked: an empty text

    def format_value(self, value: Any) -> list[str]:
        return [part.strip() for part in str(value or "").split(",") if part.strip()]

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        offered = {key for key, _words in flat(self.choices)}
        kept = self.choices
        self.choices = [*kept, *((one, one) for one in value if one not in offered)]
        try:
            groups = super().optgroups(name, value, attrs)
            ticked = [any(option["selected"] for option in options) for _group, options, _place in groups]
            return [
                (None if is_ticked else group, options, place)
                for is_ticked, (group, options, place) in zip(ticked, groups, strict=True)
            ]
        finally:
            self.choices = kept


def flat(choices: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Choices without their groups."""
    for key, words in choices:
        yield from words if isinstance(words, list) else [(key, words)]


def choices_of(setting: Setting, dataset: Dataset | None, datasets: Iterable[Dataset] = ()) -> Choices | None:
    """What can be chosen, by its value and in words; None where the setting is not a choice. The first is the form's
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
    """The packaged models, and those that runs made, newest first; None for what names no model."""
    return models_offered(setting.kinds or MODEL_KINDS) if setting.refers_to == "model" else None


def models_offered(kinds: Collection[str]) -> Choices:
    packaged = [
        (f"packaged:{name}", f"{name} · {_('packaged')}")
        for name, package in PACKAGES.items()
        if package.kind in kinds and (package.path is not None or f"packaged:{name}" == ENCODER)
    ]
    made = [(name, f"{card_of(artifact).name} · {name}") for name, artifact in models_to_name(kinds)]
    return packaged + made


def several_of(setting: Setting, splits: Iterable[str]) -> Sequence[tuple[str, str | Choices]] | None:
    """The names of which a text may hold several; None where it holds one, or anything. Those that are ticked from the
    start come first, in their order; suites without files and models of runs are groups. splits: of the datasets that
    can be named.
    """
    if setting.offered == "splits":
        return [(name, name) for name in splits]
    if setting.refers_to == "suites":
        suites = {suite.name: f"{suite.name} · {suite.label}" for suite in SUITES.values()}
        here = {name for name in suites if (settings.SUITES_FOLDER / name).is_dir()}
        return _folded(suites.items(), here, _("Suites without files here (%(number)s)"))
    if not setting.several and not setting.several_models:
        return None
    usual = [name.strip() for name in str(setting.default).split(",") if name.strip()]
    names = dict.fromkeys([*usual, *setting.several])
    models = models_offered(["encoder"]) if setting.several_models else []
    shown = {name for name, _words in models if name.startswith("packaged:")}
    return [*((name, name) for name in names), *_folded(models, shown, _("Models of runs (%(number)s)"))]


def _folded(
    choices: Iterable[tuple[str, str]], shown: Collection[str], rest: str
) -> list[tuple[str, str | Choices]]:
    """The choices that are shown, then a group of the others. rest: its name, with %(number)s of them."""
    choices = list(choices)
    others = [(name, words) for name, words in choices if name not in shown]
    group: list[tuple[str, str | Choices]] = [(rest % {"number": len(others)}, others)] if others else []
    return [*((name, words) for name, words in choices if name in shown), *group]


def splits_of(datasets: Iterable[Dataset]) -> list[str]:
    """The named splits of active pairs, alphabetically."""
    pairs = Pair.objects.filter(dataset__in=[one.pk for one in datasets], status=Pair.Status.ACTIVE)
    return sorted(pairs.exclude(split="").order_by().values_list("split", flat=True).distinct())


def split_choices(setting: Setting, splits: Iterable[str]) -> Choices:
    """One of the splits; the default even where no pair has it, so that nothing else is taken in its place."""
    named = [(name, name) for name in splits]
    default = str(setting.default)
    if default == "":
        return [("", _("every split")), *named]
    missing = [] if default in dict(named) else [(default, _("%(split)s · no pairs") % {"split": default})]
    return [*missing, *named, ("", _("every split"))]


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
    others = (
        ScoreSet.objects.offered().filter(dataset__in=[one.pk for one in datasets]).exclude(dataset=dataset)
    )
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
    sets = list(dataset.score_sets.offered().order_by("-pk"))
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
    return drawn or [("", _("no tuples sampled; sample them on the page “Model annotators” of a campaign"))]


def _runs(setting: Setting, dataset: Dataset) -> Choices:
    runs = [(str(run.pk), f"{run.pk} · {run.message}") for run in runs_to_name(dataset, setting.kinds)]
    if not setting.required:
        return [("0", _("none")), *runs]
    kinds = get_text_list([f"“{KINDS[kind].label}”" for kind in setting.kinds if kind in KINDS], _("or"))
    return runs or [("", _("no run of the kind %(kinds)s has succeeded yet") % {"kinds": kinds})]
