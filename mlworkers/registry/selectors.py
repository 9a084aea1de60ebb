"""What pages, commands and plans read about models. Every function asks a constant number of queries."""

from collections.abc import Collection
from pathlib import Path

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from curation.numbers import number_from
from mlworkers.models import Artifact, Evaluation, Run

MODELS_SUGGESTED = 100


def models_of_run(run: int, part: str = "", *, kinds: Collection[str]) -> QuerySet[Artifact]:
    """The models of those kinds that a run made; with `part`, the one of that name."""
    made = Artifact.objects.filter(run=run, kind__in=kinds).order_by("pk")
    return made.filter(path__endswith=f"/{part}") if part else made


def models_to_name(kinds: Collection[str]) -> list[tuple[str, Artifact]]:
    """The newest models of those kinds, each under the name that plans and commands give it."""
    others = Artifact.objects.filter(run=OuterRef("run"), kind__in=kinds).exclude(pk=OuterRef("pk"))
    models = Artifact.objects.filter(kind__in=kinds).annotate(alone=~Exists(others)).select_related("run")
    return [(reference_of(one, alone=one.alone), one) for one in models.order_by("-pk")[:MODELS_SUGGESTED]]


def reference_of(artifact: Artifact, *, alone: bool) -> str:
    """How plans and commands name a model: by its run where that made no other, else by its own name too."""
    return f"run:{artifact.run_id}" if alone else f"run:{artifact.run_id}/{artifact.name}"


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


def evaluations_of(artifacts: Collection[Artifact]) -> dict[int, list[Evaluation]]:
    """What was measured of each model, by its number: by the run that made it, and by runs that named it."""
    named = {name: artifact.pk for artifact in artifacts for name in _names_of(artifact)}
    measured = Evaluation.objects.filter(
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


def comparisons(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Of those runs the comparisons of weightings, newest first."""
    return runs.filter(kind="compare_weightings").select_related("dataset", "started_by")


def evaluation_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Of those runs the evaluations of one model that succeeded, newest first."""
    succeeded = runs.filter(kind="evaluate_encoder", state=Run.State.SUCCEEDED)
    return succeeded.select_related("dataset").prefetch_related("evaluations")
