"""All figures of reliability together, as `bws reliability` prints them and bundles and studies keep them."""

from contextlib import suppress
from typing import Any

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.components import variance_components
from annotation.bws.reliability.interval import reliability_interval
from annotation.bws.reliability.marginal import marginal_reliability
from annotation.bws.reliability.per_tuple import fewer_judgements
from annotation.bws.reliability.split_half import Split, TooFewJudgements, split_half_reliability

TRIALS_OF_CHECK = 20


def split_half_report(
    judgements: Judgements, *, trials: int = 1000, seed: int = 1234, split: Split = Split.JUDGEMENTS
) -> dict[str, Any]:
    """The reliability by one way to split, and its 95 % interval if judgements were split.

    people_resampled: whether the interval covers other annotators as well as other tuples. Splits of tuples or
    annotators have no interval. Raises as `split_half_reliability`.
    """
    halves = split_half_reliability(judgements, trials=trials, seed=seed, split=split)
    low = high = people = None
    if split is Split.JUDGEMENTS:
        interval = reliability_interval(judgements, halves.spearman_mean, seed=seed)
        low, high, people = interval.low, interval.high, interval.people
    return halves.as_dict() | {"spearman_low": low, "spearman_high": high, "people_resampled": people}


def scores_report(judgements: Judgements, *, seed: int = 1234) -> dict[str, Any]:
    """What no split says of the scores from all judgements; None where too little was judged."""
    components = marginal = None
    with suppress(ValueError):
        components = variance_components(judgements).as_dict()
    with suppress(ValueError):
        marginal = marginal_reliability(judgements, seed=seed)
    return {"marginal_reliability": marginal, "components": components}


def curve_report(judgements: Judgements, *, trials: int = 100, seed: int = 1234) -> list[dict[str, Any]]:
    return [point.as_dict() for point in fewer_judgements(judgements, trials=trials, seed=seed)]


def splits_that_work(judgements: Judgements) -> list[Split]:
    """The ways to split that have a reliability."""
    return [split for split in Split if _works(judgements, split)]


def _works(judgements: Judgements, split: Split) -> bool:
    if split is Split.ANNOTATORS and judgements.annotators is None:
        return False
    try:
        split_half_reliability(judgements, trials=TRIALS_OF_CHECK, split=split)
    except TooFewJudgements:
        return False
    return True
