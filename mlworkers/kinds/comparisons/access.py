"""Access to comparisons of weightings."""

from curation.models import User
from mlworkers.access import run_of_kind
from mlworkers.models import Run


def comparison_for(user: User, pk: int) -> Run:
    """A comparison of weightings, by the rule of `run_for`."""
    return run_of_kind(user, pk, "compare_weightings")
