"""Who may see, cancel and start runs. The only way a view gets one."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from curation.models import Dataset, ScoreSet, User
from curation.people.access import (
    CHANGING,
    ROLES_THAT_MAY,
    STAFF_MAY,
    ArchivedError,
    dataset_allow,
    dataset_for,
    dataset_require_active,
    datasets_readable,
    roles_of,
)
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.plans.kinds import KINDS, MODEL_KINDS, UNLISTED, Kind


def instructions_dataset(user: User, slug: str, *, may: str) -> Dataset:
    """The dataset whose generators' instructions `user` may "read" or "write": curators, and staff, who start runs."""
    dataset = dataset_for(user, slug, may="read")
    if may == "write":
        if not _is_staff(user):
            dataset_allow(user, dataset, may="curate")
        dataset_require_active(dataset)
    return dataset


def instructions_may_write(user: User, dataset: Dataset) -> bool:
    """Whether to offer a form; the view behind it asks `instructions_dataset` again."""
    return allowed(lambda: instructions_dataset(user, dataset.slug, may="write"))


def runs_allow(user: User) -> None:
    """The log book is for staff and for people who curate a dataset."""
    if _is_staff(user):
        return
    roles = roles_of(user)
    if not roles & ROLES_THAT_MAY["read"]:
        raise PermissionDenied if roles else Http404


def installation_allow(user: User) -> None:
    """What belongs to the installation and to no dataset is for staff: its disk, its workers, who goes first."""
    runs_allow(user)
    if not _is_staff(user):
        raise PermissionDenied


def runs_visible(user: User) -> QuerySet[Run]:
    """Every run that is listed to staff; to others, those of the datasets they may read."""
    runs = Run.objects.exclude(kind__in=UNLISTED)
    return runs if _is_staff(user) else runs.filter(dataset__in=datasets_readable(user).values("pk"))


def artifacts_visible(user: User) -> QuerySet[Artifact]:
    """What the runs that the person sees have made."""
    return Artifact.objects.filter(run__in=runs_visible(user).order_by().values("pk"))


def models_visible(user: User) -> QuerySet[Artifact]:
    return artifacts_visible(user).filter(kind__in=MODEL_KINDS)


def evaluations_visible(user: User) -> QuerySet[Evaluation]:
    return Evaluation.objects.filter(run__in=runs_visible(user).order_by().values("pk"))


def model_for(user: User, pk: int) -> Artifact:
    """An artefact that is a model, by the rule of `run_for` for its run."""
    artifact = get_object_or_404(Artifact.objects.select_related("run__dataset", "run__started_by"), pk=pk)
    run_allow(user, artifact.run, may="read")
    if artifact.kind not in MODEL_KINDS:
        raise Http404
    return artifact


def run_for(user: User, pk: int, *, may: str) -> Run:
    """The run, if `user` may "read", "cancel" or "start" it (again), or, as staff may, "remove" its files or put it
    "first".

    A stranger gets 404, a member who may not gets 403.
    """
    run = get_object_or_404(Run.objects.select_related("dataset", "started_by"), pk=pk)
    run_allow(user, run, may=may)
    return run


def paraphraser_for(user: User, pk: int) -> Artifact:
    """A paraphraser, by the rule of `model_for`."""
    artifact = model_for(user, pk)
    if artifact.kind != "paraphraser":
        raise Http404
    return artifact


def realism_set_for(user: User, pk: int) -> ScoreSet:
    """A p_D score set, if `user` may read its dataset."""
    score_set = get_object_or_404(ScoreSet.objects.select_related("dataset"), pk=pk)
    dataset_allow(user, score_set.dataset, may="read")
    if score_set.kind != ScoreSet.Kind.REALISM:
        raise Http404
    return score_set


def answer_for(user: User, pk: int, kind: str) -> Run:
    """The run that answers a question of that kind, for the person who asked; nobody else gets it."""
    return get_object_or_404(Run.objects.select_related("dataset"), pk=pk, kind=kind, started_by=user)


def run_of_kind(user: User, pk: int, kind: str) -> Run:
    """A run of that kind, by the rule of `run_for`."""
    run = run_for(user, pk, may="read")
    if run.kind != kind:
        raise Http404
    return run


def run_allow(user: User, run: Run, *, may: str) -> None:
    if may == "start":
        kind = kind_for(user, run.kind)
        start_allow(user, kind, run.dataset)
        if run.state == Run.State.SUCCEEDED and not kind.repeatable:
            raise PermissionDenied
    elif _is_staff(user):
        return
    elif run.dataset is None:
        raise Http404
    else:
        dataset_allow(user, run.dataset, may="read")
        known = KINDS.get(run.kind)
        if may in ("remove", "first"):
            raise PermissionDenied
        if may == "cancel" and (known is None or known.staff_only):
            raise PermissionDenied


def run_may(user: User, run: Run, *, may: str) -> bool:
    """Whether to offer a button; the view behind it asks `run_for` again."""
    return allowed(lambda: run_allow(user, run, may=may))


def allowed(ask: Callable[[], object]) -> bool:
    """Whether a rule lets somebody through, for pages that offer what the rule is asked for again."""
    try:
        ask()
    except (Http404, PermissionDenied, ArchivedError):
        return False
    return True


def kind_for(user: User, name: str) -> Kind:
    """The kind of run, if `user` may start it for some dataset."""
    kind = KINDS.get(name)
    if kind is None or not kind.listed:
        raise Http404
    if kind.staff_only and not _is_staff(user):
        raise PermissionDenied
    return kind


def start_allow(user: User, kind: Kind, dataset: Dataset | None) -> None:
    """Staff start runs; what a curator may start too needs their role in the dataset it reads or changes."""
    if dataset is not None:
        dataset_allow(user, dataset, may=kind.needs)
    elif not _is_staff(user):
        raise PermissionDenied


def kind_may_start(user: User, kind: Kind, dataset: Dataset) -> bool:
    """Whether to offer a link to the form of that kind; the form asks again."""
    return allowed(lambda: start_allow(user, kind_for(user, kind.name), dataset))


def kinds_offered(user: User) -> list[Kind]:
    return [kind for kind in KINDS.values() if kind.listed and (_is_staff(user) or not kind.staff_only)]


def kinds_startable(user: User) -> list[Kind]:
    """Those of the offered kinds that need no dataset, or find one for which the person may start them."""
    asked: dict[tuple[bool, str], bool] = {}

    def has_dataset(kind: Kind) -> bool:
        rule = (kind.writes, kind.needs)
        if rule not in asked:
            asked[rule] = datasets_offered(user, kind).exists()
        return asked[rule]

    return [kind for kind in kinds_offered(user) if not kind.needs_dataset or has_dataset(kind)]


def datasets_offered(user: User, kind: Kind) -> QuerySet[Dataset]:
    """The datasets for which the person may start that kind of run."""
    changed = kind.writes or kind.needs in CHANGING
    datasets = Dataset.objects.filter(archived=False) if changed else Dataset.objects.all()
    if user.is_superuser or (user.is_staff and kind.needs in STAFF_MAY):
        return datasets
    return datasets.filter(memberships__user=user, memberships__role__in=ROLES_THAT_MAY[kind.needs])


def _is_staff(user: User) -> bool:
    return user.is_staff or user.is_superuser
