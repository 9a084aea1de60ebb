"""Access to round-trip translations, to their ratings, and to the trials of a paraphraser."""

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404

from curation.models import User
from curation.people.access import ROLES_THAT_MAY, dataset_allow, dataset_require_active
from mlworkers.access import allowed, answer_for, run_of_kind
from mlworkers.models import Run


def trial_for(user: User, pk: int) -> Run:
    """The paraphrases of a sentence, for the person who asked; nobody else gets them."""
    return answer_for(user, pk, "try_paraphraser")


def round_trip_for(user: User, pk: int) -> Run:
    """A round-trip translation, by the rule of `run_for`."""
    return run_of_kind(user, pk, "translate_round_trip")


def rating_for(user: User, pk: int, *, may: str) -> Run:
    """A round-trip translation whose candidates `user` may "annotate" (rate), whose ratings they may "read", or for
    which they may draw the candidates that are rated ("curate").
    """
    run = get_object_or_404(Run.objects.select_related("dataset"), pk=pk, kind="translate_round_trip")
    if run.dataset is None:
        raise Http404
    dataset_allow(user, run.dataset, may=may)
    if may == "annotate":
        dataset_require_active(run.dataset)
    return run


def ratings_open(user: User) -> QuerySet[Run]:
    """Round-trip translations whose candidates the person may rate, by the rule of `rating_for`."""
    runs = Run.objects.filter(kind="translate_round_trip", dataset__archived=False)
    if user.is_superuser:
        return runs
    member = {"dataset__memberships__user": user}
    return runs.filter(**member, dataset__memberships__role__in=ROLES_THAT_MAY["annotate"])


def rating_may(user: User, run: Run, *, may: str) -> bool:
    """Whether to offer a button; the view behind it asks `rating_for` again."""
    return allowed(lambda: rating_for(user, run.pk, may=may))
