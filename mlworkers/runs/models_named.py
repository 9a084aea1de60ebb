"""What pages, commands and plans read about models. Every function asks a constant number of queries."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from curation.foundation.numbers import number_from
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.plans.fields import PlanError
from mlworkers.plans.kinds import KINDS, MODEL_KINDS
from mlworkers.science.encoders.plan import names_listed
from mlworkers.science.encoders.scorers_plan import models_of_scorers
from mlworkers.science.encoders.speed_plan import BY_LENGTH, SPEED
from mlworkers.science.pretrained.sources import Kind as SourceKind
from mlworkers.science.pretrained.sources import ModelError, local_folder, parse_source

MODELS_SUGGESTED = 100
_NAMING = ("model", "baselines", "scorers")  # settings whose texts name models


def models_of_run(run: int, part: str = "", *, kinds: Collection[str]) -> QuerySet[Artifact]:
    """The models of those kinds that a run made; with `part`, the one of that name."""
    made = Artifact.objects.filter(run=run, kind__in=kinds).order_by("pk")
    return made.filter(path__endswith=f"/{part}") if part else made


def models_to_name(kinds: Collection[str]) -> list[tuple[str, Artifact]]:
    """The newest models of those kinds, each under the name that plans and commands give it."""
    others = Artifact.objects.filter(run=OuterRef("run"), kind__in=kinds).exclude(pk=OuterRef("pk"))
    models = Artifact.objects.filter(kind__in=kinds, removed_at=None).annotate(alone=~Exists(others))
    newest = models.select_related("run").order_by("-pk")[:MODELS_SUGGESTED]
    return [(reference_of(one, alone=one.alone), one) for one in newest]


def reference_of(artifact: Artifact, *, alone: bool) -> str:
    """How plans and commands name a model: by its run where that made no other, else by its own name too."""
    return f"run:{artifact.run_id}" if alone else f"run:{artifact.run_id}/{artifact.name}"


def reference_to(artifact: Artifact) -> str:
    """The same, for one model alone. One query."""
    return reference_of(artifact, alone=models_of_run(artifact.run_id, kinds=MODEL_KINDS).count() == 1)


def models_behind(names: Collection[str], *, among: QuerySet[Artifact]) -> dict[str, Artifact]:
    """Which of those models is meant by each of the names that plans give to models; one query."""
    numbers = [name.removeprefix("run:").partition("/")[0] for name in names if name.startswith("run:")]
    paths = [name.removeprefix(f"{settings.SEMBLANCE_HOME}/") for name in names]
    runs = [run for number in numbers if (run := number_from(number)) is not None]
    by_name: dict[str, list[Artifact]] = {}
    for artifact in among.filter(Q(run__in=runs) | Q(path__in=paths)).select_related("run"):
        for name in _names_of(artifact):
            by_name.setdefault(name, []).append(artifact)
    return {name: models[0] for name, models in by_name.items() if name in names and len(models) == 1}


def runs_naming(run: Run) -> list[Run]:
    """The runs that wait, run or succeeded and whose plans name a model that this run made, oldest first."""
    mentions = Q()
    for kind in KINDS.values():
        for setting in kind.settings:
            if setting.refers_to in _NAMING:
                for way in (f"run:{run.pk}", f"runs/{run.pk}/"):
                    mentions |= Q(kind=kind.name, **{f"plan__{setting.name}__icontains": way})
    over = [Run.State.FAILED, Run.State.CANCELLED]
    return [
        one for one in Run.objects.filter(mentions).exclude(state__in=over).order_by("pk") if _names(one, run)
    ]


def _names(other: Run, run: Run) -> bool:
    """Whether the plan of the other run really names it: run:1 is not run:12."""
    names: list[str] = []
    for setting in KINDS[other.kind].settings:
        if setting.refers_to in _NAMING and (value := other.plan.get(setting.name)):
            names += [str(value), *names_listed(str(value))]
            with suppress(PlanError):  # the text is not a list of scorers
                names += models_of_scorers(str(value))
    return any(_is_of(name, run) for name in names)


def _is_of(name: str, run: Run) -> bool:
    try:
        source = parse_source(name)
    except ModelError:
        return False
    if source.kind is SourceKind.RUN:
        return int(source.name) == run.pk
    folder = local_folder(source)
    home = Path(settings.SEMBLANCE_HOME) / "runs" / str(run.pk)
    return folder is not None and folder.resolve().is_relative_to(home.resolve())


def evaluations_of(artifacts: Collection[Artifact]) -> dict[int, list[Evaluation]]:
    """What was measured of each model but its speed, by its number: by the run that made it, or one that named it."""
    return _measured(artifacts, Evaluation.objects.exclude(metric=SPEED))


def speeds_of(artifact: Artifact) -> list[Evaluation]:
    """How fast an encoder is, the newest measurement first: with batches of like length, then without."""
    found = _measured([artifact], Evaluation.objects.filter(metric=SPEED))[artifact.pk]
    return sorted(found, key=lambda one: (-one.run_id, one.part != BY_LENGTH))


def _measured(artifacts: Collection[Artifact], among: QuerySet[Evaluation]) -> dict[int, list[Evaluation]]:
    named = {name: artifact.pk for artifact in artifacts for name in _names_of(artifact)}
    measured = among.filter(
        Q(artifact__in=[artifact.pk for artifact in artifacts]) | Q(artifact=None, model__in=named)
    )
    by_artifact: dict[int, list[Evaluation]] = {artifact.pk: [] for artifact in artifacts}
    for one in measured.select_related("run").order_by("pk"):
        by_artifact[one.artifact_id or named[one.model]].append(one)
    return by_artifact


def _names_of(artifact: Artifact) -> tuple[str, ...]:
    """How a plan may have named the model: by its run, by its own name in it, or by its folder."""
    references = (reference_of(artifact, alone=alone) for alone in (True, False))
    return *references, str(Path(settings.SEMBLANCE_HOME) / artifact.path)
