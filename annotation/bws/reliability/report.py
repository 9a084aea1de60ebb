"""All figures of reliability together, as `bws reliability` prints them and bundles and studies keep them."""

from contextlib import suppress
from typing import Any

from annotation.bws.judgements import Judgements, UnknownAnnotators
from annotation.bws.reliability.components import variance_components
from annotation.bws.reliability.interval import reliability_interval
from annotation.bws.reliability.marginal import marginal_interval, marginal_reliability
from annotation.bws.reliability.per_tuple import fewer_judgements
from annotation.bws.reliability.split_half import Split, TooFewJudgements, split_half_reliability
from annotation.bws.scores.refitting import MaxDiffFit, maxdiff_fit

TRIALS_OF_CHECK = 20


def split_half_report(
    judgements: Judgements, *, trials: int = 1000, seed: int = 1234, split: Split = Split.JUDGEMENTS
) -> dict[str, Any]:
    """The reliability by one way to split, and its 95 % interval.

    people_resampled: whether the interval covers other annotators as well as other tuples. Raises as
    `split_half_reliability`.
    """
    halves = split_half_reliability(judgements, trials=trials, seed=seed, split=split)
    interval = reliability_interval(judgements, halves.spearman_mean, split=split, seed=seed)
    return halves.as_dict() | {
        "spearman_low": interval.low,
        "spearman_high": interval.high,
        "people_resampled": interval.people,
    }


def scores_report(
    judgements: Judgements, *, fit: MaxDiffFit | None = None, seed: int = 1234
) -> dict[str, Any]:
    """What no split says of the scores from all judgements; None where too little was judged.

    fit: of these judgements, if there is one already.
    """
    components = None
    with suppress(ValueError):
        components = variance_components(judgements).as_dict()
    fit = fit or maxdiff_fit(judgements)
    marginal = marginal_reliability(judgements, fit.posterior, seed=seed)
    low, high = (None, None) if marginal is None else marginal_interval(fit, marginal)
    return {
        "marginal_reliability": marginal,
        "marginal_reliability_low": low,
        "marginal_reliability_high": high,
        "components": components,
    }


def curve_report(
    judgements: Judgements,
    *,
    fit: MaxDiffFit | None = None,
    trials: int = 100,
    fits: int = 5,
    seed: int = 1234,
) -> list[dict[str, Any]]:
    """The figures at 1, 2, … judgements per tuple (`fewer_judgements`). fit: as in `scores_report`."""
    fit = fit or maxdiff_fit(judgements)
    return [
        point.as_dict()
        for point in fewer_judgements(judgements, trials=trials, fit=fit, fits=fits, seed=seed)
    ]


def splits_that_work(judgements: Judgements) -> list[Split]:
    """The ways to split that have a reliability."""
    working = []
    for split in Split:
        with suppress(TooFewJudgements, UnknownAnnotators):
            split_half_reliability(judgements, trials=TRIALS_OF_CHECK, split=split)
            working.append(split)
    return working
