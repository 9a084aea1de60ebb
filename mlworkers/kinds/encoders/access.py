"""Access to the questions that people asked an encoder."""

from django.http import Http404

from curation.models import Dataset, User
from curation.people.access import dataset_allow
from mlworkers.access import answer_for
from mlworkers.models import Run


def relation_for(user: User, pk: int) -> Run:
    """The answer to two sentences, for the person who asked; nobody else gets it."""
    return answer_for(user, pk, "relate_sentences")


def sentence_search_for(user: User, pk: int) -> tuple[Run, Dataset]:
    """The search for the sentences that are nearest to one, and its dataset, for the person who asked; nobody else gets
    them, and nobody who may no longer read the dataset.
    """
    run = answer_for(user, pk, "search_sentences")
    if run.dataset is None:
        raise Http404
    dataset_allow(user, run.dataset, may="read")
    return run, run.dataset
