"""How many judgements per tuple are enough: reliability and scores with fewer of them than were collected."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.bws.judgements import FloatArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import spearman, spearman_of
from annotation.bws.reliability.drawing import random_ranks
from annotation.bws.reliability.split_half import HalfScores, batches
from annotation.bws.scores.refitting import MaxDiffFit
from annotation.bws.scores.scoring import counting_scores

MOST_POINTS = 12


@dataclass(frozen=True)
class FewerJudgements:
    """What so many judgements of each tuple give: means and standard deviations over random choices of them.

    judgements: how many are kept; a tuple that has fewer keeps all. spearman: between the counting scores of two halves
    of them, as in `split_half_reliability`; None for one judgement per tuple. agreement: Spearman between their
    counting scores and those of all judgements, which contain the same judgements; 1 if they are all.
    maxdiff_agreement: the same between MaxDiff scores, from fewer choices; None if MaxDiff was not fitted.
    """

    judgements_per_tuple: int
    judgements: int
    spearman_mean: float | None
    spearman_sd: float | None
    agreement_mean: float
    agreement_sd: float
    maxdiff_agreement_mean: float | None
    maxdiff_agreement_sd: float | None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def fewer_judgements(
    judgements: Judgements,
    *,
    trials: int = 100,
    fit: MaxDiffFit | None = None,
    fits: int = 5,
    seed: int = 1234,
) -> list[FewerJudgements]:
    """Reliability, and agreement with all judgements, at 1, 2, … judgements per tuple.

    (Abdalla, Vishnubhotla and Mohammad 2023, footnote 6, compare scores from 2, 4 and 6.) The last number is the
    largest that at least half of the tuples have; of many numbers a dozen are computed. Each trial puts the judgements
    of each tuple into a random order, and keeps the first. Numbers at which some trial has nothing to compare have no
    point.
    fit: of all judgements by MaxDiff, whose prior and weight of ties the fits of few judgements share. The first `fits`
    trials are fitted: the mean agreement of five has a standard error of about half of its standard deviation, which is
    .01 or less from 100 items on.
    """
    tuples = tuple_numbers(judgements.items)
    if not len(tuples):
        return []
    sizes = np.bincount(tuples)
    # Sizes in rising order: at least half of the tuples have the one in the middle or more.
    most = int(np.sort(sizes)[len(sizes) // 2])
    # At most MOST_POINTS numbers from 1 to `most`.
    numbers = np.unique(np.linspace(1, most, min(most, MOST_POINTS)).round().astype(int)).tolist()
    every, scores = counting_scores(judgements, with_errors=False).values, HalfScores(judgements)
    correlations: dict[int, list[FloatArray]] = {number: [] for number in numbers}  # each (2, B)
    fitted: dict[int, list[float]] = {number: [] for number in numbers}
    # Cost: each batch is counted once for every number, and only the first `fits` trials are fitted.
    rng = np.random.default_rng(seed)
    for count in batches(trials, len(judgements)):
        # Drawn once: all numbers share orders and sides, so points differ by the number alone.
        rank = random_ranks(tuples, count, rng)  # (n, B)
        odd = rng.integers(
            0, 2, size=(len(sizes), count)
        )  # (T, B): whether the odd judgement is in the first half
        for number in numbers:
            kept = np.minimum(sizes, number)[:, None]  # (T, 1)
            # The half takes the first kept / 2 of each tuple, and the odd one where `odd` is 1.
            first, chosen = rank < (kept // 2 + kept % 2 * odd)[tuples], rank < number
            some, _, seen = scores.count(chosen)
            # Against `every`, the scores from all judgements, over the items that the kept judgements show.
            with_all = spearman(some, np.broadcast_to(every, some.shape), seen)
            halves = spearman(*scores.count(first, chosen)) if number > 1 else np.zeros(count)
            correlations[number].append(np.stack([halves, with_all]))
            if fit is not None:
                left = chosen[:, : max(0, fits - len(fitted[number]))]
                fitted[number] += [
                    1.0
                    if len(few) == len(judgements)
                    else spearman_of(fit.settings.utilities(few), fit.posterior.utilities)
                    for few in map(judgements.only, left.T)
                ]
    return [
        _point(number, int(np.minimum(sizes, number).sum()), values, fitted[number])
        for number, parts in correlations.items()
        if not np.isnan(values := np.concatenate(parts, axis=1)).any()
    ]


def _point(number: int, judgements: int, values: FloatArray, fitted: list[float]) -> FewerJudgements:
    (half, all_), (half_sd, all_sd) = values.mean(axis=1).tolist(), values.std(axis=1).tolist()
    return FewerJudgements(
        judgements_per_tuple=number,
        judgements=judgements,
        spearman_mean=half if number > 1 else None,
        spearman_sd=half_sd if number > 1 else None,
        agreement_mean=all_,
        agreement_sd=all_sd,
        maxdiff_agreement_mean=float(np.mean(fitted)) if fitted else None,
        maxdiff_agreement_sd=float(np.std(fitted)) if fitted else None,
    )
