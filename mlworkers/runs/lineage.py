"""Where a model comes from: its run, what that run's plan names, the runs that made those things, and so on."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from curation.models import ScoreSet
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import KINDS, MODEL_KINDS
from mlworkers.plans.settings import Setting, Text
from mlworkers.runs.cards import card_of
from mlworkers.runs.models_named import models_behind
from mlworkers.science.pretrained.sources import Kind as SourceKind
from mlworkers.science.pretrained.sources import ModelError, parse_source

LEVELS = 8  # a chain is encoder, realism, generation, bootstrap; longer ones train on what was trained
_ScoreSets = dict[tuple[str, str], ScoreSet]  # by their dataset's short name and their own


@dataclass(frozen=True)
class Reference:
    """A thing that a plan names, and the run or campaign that made it, where one did; no text where that says all.

    model: the number of its page.
    """

    label: Text
    text: str
    run: int | None = None
    campaign: int | None = None
    snapshot: int | None = None
    model: int | None = None


@dataclass(frozen=True)
class Ancestor:
    run: Run
    named: Sequence[Reference]


def lineage_of(run: Run) -> list[Ancestor]:
    """The run, then the runs behind what it names, nearest first. At most three queries a level."""
    ancestors: list[Ancestor] = []
    level, seen = [run], {run.pk}
    for _level in range(LEVELS):
        named = [(one, setting, one.plan[setting.name]) for one in level for setting in _settings(one)]
        sets = _score_sets(named)
        names = {str(name) for _run, setting, name in named if setting.refers_to == "model"}
        models = models_behind(names, among=Artifact.objects.filter(kind__in=MODEL_KINDS)) if names else {}
        ancestors_here = []
        for one in level:
            references = [_named(one, setting, sets, models) for setting in _settings(one)]
            taken = one.result.get("snapshot")
            if isinstance(taken, int) and not any(reference.snapshot for reference in references):
                settings = KINDS[one.kind].settings if one.kind in KINDS else []
                label = next((each.label for each in settings if each.refers_to == "snapshot"), "snapshot")
                references.append(Reference(label, str(taken), snapshot=taken))
            ancestors_here.append(Ancestor(one, references))
        ancestors += ancestors_here
        wanted = {name.run for ancestor in ancestors_here for name in ancestor.named if name.run} - seen
        if not wanted:
            break
        seen |= wanted
        level = list(Run.objects.filter(pk__in=wanted).select_related("dataset").order_by("-pk"))
    return ancestors


def _settings(run: Run) -> list[Setting]:
    kind = KINDS.get(run.kind)
    return [one for one in kind.settings if one.refers_to and run.plan.get(one.name)] if kind else []


def score_sets_of_plan(run: Run) -> dict[str, ScoreSet]:
    """The score sets that a plan names and that are still there, by the names of its settings."""
    named = [(run, setting, run.plan[setting.name]) for setting in _settings(run)]
    sets = _score_sets(named)
    slugs = {setting.name: (_slug(run, setting), name) for _run, setting, name in named}
    return {name: sets[slugs[name]] for name in slugs if slugs[name] in sets}


def _score_sets(named: Iterable[tuple[Run, Setting, Any]]) -> _ScoreSets:
    sets = [(_slug(run, setting), name) for run, setting, name in named if setting.refers_to == "score set"]
    score_sets_there: Iterable[ScoreSet] = []
    if slugs := {slug for slug, _name in sets if slug}:
        there = ScoreSet.objects.filter(dataset__slug__in=slugs, name__in={name for _set_slug, name in sets})
        score_sets_there = there.select_related("dataset")
    return {(one.dataset.slug, one.name): one for one in score_sets_there}


def _slug(run: Run, setting: Setting) -> str:
    other = run.plan.get(setting.within) if setting.within else ""
    return str(other or (run.dataset.slug if run.dataset else ""))


def _named(run: Run, setting: Setting, sets: _ScoreSets, models: Mapping[str, Artifact]) -> Reference:
    value = run.plan[setting.name]
    match setting.refers_to:
        case "run":
            return Reference(setting.label, "", run=int(value))
        case "model" if model := models.get(str(value)):
            return Reference(setting.label, card_of(model).name, run=model.run_id, model=model.pk)
        case "model" if made_by := _run_of(str(value)):
            return Reference(setting.label, "", run=made_by)
        case "snapshot":
            return Reference(setting.label, str(value), snapshot=int(value))
        case "score set" if score_set := sets.get((_slug(run, setting), value)):
            return Reference(
                setting.label, str(score_set), run=score_set.run_ref, campaign=score_set.campaign_ref
            )
    return Reference(setting.label, str(value))


def _run_of(model: str) -> int | None:
    with suppress(ModelError):
        source = parse_source(model)
        if source.kind is SourceKind.RUN:
            return int(source.name)
    return None
