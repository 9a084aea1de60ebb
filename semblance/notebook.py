"""Short names for notebooks: judgements of a file, their reliability, and two encoders compared on the same pairs.

Nothing here reads a database or settings. `docs/guide/reference/python.md` lists the modules behind these names.
"""

from pathlib import Path

from numpy.typing import ArrayLike

from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.split_half import split_half_reliability
from mlworkers.science.encoders.comparison import differences_of
from mlworkers.science.encoders.differences import Difference
from mlworkers.science.encoders.measuring import Metric, correlation_measured

__all__ = ["encoders_compare", "judgements_read", "split_half_reliability"]


def judgements_read(path: str | Path) -> Judgements:
    """Read judgements as `semblance bws reliability` does."""
    return read_judgements(Path(path)).judgements


def encoders_compare(
    first: ArrayLike, second: ArrayLike, human: ArrayLike, *, metric: Metric = Metric.SPEARMAN
) -> Difference:
    """Subtract the second cosines' correlation with human scores from the first's, with a 95 % interval over pairs.

    first, second, human: (n,) of the same pairs. Raises ValueError if they are unusable.
    """
    measured = {
        name: [correlation_measured(metric, cosines, human, resamples=0, seed=1)]
        for name, cosines in (("first", first), ("second", second))
    }
    return differences_of(measured, [("first", "second")])["first", "second"]
