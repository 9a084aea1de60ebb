"""Access to the questions that people asked an encoder."""

from django.http import Http404
from django.shortcuts import get_object_or_404

from curation.models import Dataset, User
from curation.people.access import dataset_allow
from mlworkers.models import Run


def relation_for(user: User, pk: int) -> Run:
    """The answer to two sentences, for the person who asked; nobody else gets it."""
    return get_object_or_404(Run, pk=pk, kind="relate_sentences", started_by=user)


def sentence_search_for(user: User, pk: int) -> tuple[Run, Dataset]:
    """The search for the sentences that are nearest to one, and its dataset, for the person who asked; nobody else gets
    them, and nobody who may no longer read the dataset.
    """
    run = get_object_or_404(
        Run.objects.select_related("dataset"), pk=pk, kind="search_sentences", started_by=user
    )
    if run.dataset is None:
        raise Http404
    dataset_allow(user, run.dataset, may="read")
    return run, run.dataset
