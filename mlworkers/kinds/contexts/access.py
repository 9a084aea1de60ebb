"""Access to corpora and to scores of pairs by contexts."""

from curation.models import User
from mlworkers.access import run_of_kind
from mlworkers.models import Run


def corpus_for(user: User, pk: int) -> Run:
    """A run that indexed a corpus, by the rule of `run_for`."""
    return run_of_kind(user, pk, "index_corpus")


def context_scores_for(user: User, pk: int) -> Run:
    """A run that scores pairs by contexts, by the rule of `run_for`."""
    return run_of_kind(user, pk, "score_contexts")
