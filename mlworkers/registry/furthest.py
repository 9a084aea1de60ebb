"""The pairs on which an evaluated encoder is furthest from people, from the result that its run stored."""

from collections.abc import Sequence

from curation.datasets.agreement import Difference, ListedPair, pairs_listed
from mlworkers.models import Run


def furthest_of(run: Run) -> Sequence[ListedPair]:
    """The largest difference first; none of other kinds of run, of older evaluations, and of suites alone.

    `first` is the score that people gave, on its own scale, `second` the cosine. Pairs that are gone are left out.
    """
    if run.kind != "evaluate_encoder" or run.dataset_id is None:
        return []
    listed = pairs_listed([Difference(*row) for row in run.result.get("furthest", ())])
    return [one for one in listed if one.pair.dataset_id == run.dataset_id]
