"""What a campaign will reach: simulated before it starts, or from what it has shown so far."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from annotation.bws.designs.design import design_tuples, tuple_count
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.correlation import fisher_z, spearman_of
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import Scale, counting_scores, maxdiff_scores
from annotation.bws.studies.costs import SECONDS_PER_JUDGEMENT, campaign_costs
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices, simulated_judgements

# More items are simulated by so many: a reliability hardly depends on their number. Its interval is then wider than it
# needs to be, never narrower.
MOST_ITEMS_SIMULATED = 1500
MOST_JUDGEMENTS_SIMULATED = 2_000_000  # in each campaign
MOST_NOISE = 1000.0  # all answers are chance long before
# The noise with which a campaign is simulated to see which explains its reliability.
NOISES = np.geomspace(0.05, 6.0, 13)
# Parts of a campaign's judgements at which MaxDiff is compared with counting, and in how many campaigns.
SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
CAMPAIGNS_SHARED = 4


@dataclass(frozen=True)
class ForecastPlan:
    """Every number that shapes a forecast.

    factor: tuples per item. noise: of each annotator, in standard deviations of the items' true values. noise_error:
    standard error of its logarithm, 0 if the noise is known. campaigns: simulated ones. trials: random splits in each.
    """

    items: int
    size: int = 4
    factor: float = 2.0
    judgements_per_tuple: int = 2
    noise: float = 0.7
    noise_error: float = 0.0
    seconds_per_judgement: float = SECONDS_PER_JUDGEMENT
    campaigns: int = 40
    trials: int = 20
    seed: int = 1234


@dataclass(frozen=True)
class ExpectedRange:
    """mean over the simulated campaigns; low and high, between which at least 95 % of others should be."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """reliability: split-half Spearman, as published. Accuracy: Spearman with the true values, by either method.

    reliability is None if each tuple is judged once, and no half can be compared with another. maxdiff_share: the share
    of the judgements from which MaxDiff is as near to the true values as counting from all of them; None if it takes
    more than all.
    """

    tuples: int
    judgements: int
    hours: float
    reliability: ExpectedRange | None
    counting_accuracy: ExpectedRange
    maxdiff_accuracy: ExpectedRange
    maxdiff_share: float | None


def forecast(plan: ForecastPlan, *, report: Report = unreported) -> Forecast:
    """Simulate campaigns like the planned one and return what they reached.

    The items' true values are drawn from a normal distribution; every annotator sees them through the same noise.
    report: of the design's search (`design_tuples`). Raises ValueError for a plan that cannot be carried out.
    """
    items = min(plan.items, MOST_ITEMS_SIMULATED)
    _check(plan, items)
    rng = np.random.default_rng(plan.seed)
    tuples = design_tuples(items, size=plan.size, factor=plan.factor, seed=plan.seed, report=report).tuples
    noises = plan.noise * np.exp(plan.noise_error * rng.standard_normal(plan.campaigns))
    outcomes = np.array([_outcome(plan, tuples, items, noise, rng) for noise in noises])  # (campaigns, 3)
    reliability, counting, maxdiff = (_expected(outcomes[:, figure]) for figure in range(3))
    count = tuple_count(plan.items, plan.factor)
    costs = campaign_costs(
        count * plan.judgements_per_tuple, seconds_per_judgement=plan.seconds_per_judgement
    )
    return Forecast(
        tuples=count,
        judgements=costs.judgements,
        hours=costs.hours,
        reliability=reliability if plan.judgements_per_tuple > 1 else None,
        counting_accuracy=counting,
        maxdiff_accuracy=maxdiff,
        maxdiff_share=_maxdiff_share(plan, tuples, items),
    )


def fitted_noise(judgements: Judgements, *, trials: int = 20, seed: int = 1234) -> tuple[float, float]:
    """The noise under which simulated people, asked the same tuples as often, would agree as these people do.

    Returns it in standard deviations of the items' true values, and the standard error of its logarithm.
    Raises TooFewJudgements if the judgements have no split-half reliability.
    """
    rng = np.random.default_rng(seed)
    observed = split_half_reliability(judgements, trials=trials, seed=seed).spearman_mean
    means = [np.mean(_reliabilities(judgements, noise, 3, trials, rng)) for noise in NOISES]
    # More noise never means more agreement; if the figures rise, that is chance.
    falling = np.minimum.accumulate(means)
    # The curve of reliability over log noise is read backwards at the observed reliability. The spread of the
    # reliability there, divided by the curve's slope, is the standard error of log noise.
    logs = np.log(NOISES)
    log_noise = float(np.interp(-observed, -falling, logs))
    slope = np.interp(log_noise, logs, np.gradient(falling, logs))
    spread = np.std(_reliabilities(judgements, math.exp(log_noise), 10, trials, rng), ddof=1)
    return math.exp(log_noise), float(min(1.0, spread / max(1e-9, -slope)))


def _check(plan: ForecastPlan, items: int) -> None:
    for name in ("items", "judgements_per_tuple", "noise", "seconds_per_judgement", "trials"):
        if not 0 < getattr(plan, name) < math.inf:
            raise ValueError(
                f"A forecast needs {name.replace('_', ' ')} above 0, not {getattr(plan, name):g}."
            )
    if plan.noise > MOST_NOISE:
        raise ValueError(
            f"A forecast takes noise of at most {MOST_NOISE:g} standard deviations, not {plan.noise:g}."
        )
    if plan.campaigns < 2:
        raise ValueError(f"A forecast needs at least 2 simulated campaigns, not {plan.campaigns}.")
    simulated = tuple_count(items, plan.factor) * plan.judgements_per_tuple
    if simulated > MOST_JUDGEMENTS_SIMULATED:
        raise ValueError(
            f"A forecast simulates at most {MOST_JUDGEMENTS_SIMULATED:,} judgements, and this plan asks for "
            f"{simulated:.3g} of {items:,} items; ask for fewer tuples per item or fewer judgements per tuple."
        )


def _outcome(
    plan: ForecastPlan, tuples: IntArray, items: int, noise: float, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Reliability (NaN for single judgements) and accuracy by counting and by MaxDiff of one campaign."""
    latent, judgements = _simulated(plan, tuples, items, noise, rng)
    reliability = math.nan
    if plan.judgements_per_tuple > 1:
        seed = int(rng.integers(2**32))
        reliability = split_half_reliability(judgements, trials=plan.trials, seed=seed).spearman_mean
    scores = counting_scores(judgements), maxdiff_scores(judgements, with_errors=False)
    counting, maxdiff = (spearman_of(method.values, latent) for method in scores)
    return reliability, counting, maxdiff


def _simulated(
    plan: ForecastPlan, tuples: IntArray, items: int, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, Judgements]:
    """True values (items,) and the judgements of one campaign, in random order."""
    latent = rng.standard_normal(items)
    judgements = simulated_judgements(
        tuples,
        latent,
        annotators=[SimulatedAnnotator(noise)] * plan.judgements_per_tuple,
        judgements_per_tuple=plan.judgements_per_tuple,
        seed=int(rng.integers(2**32)),
    )
    return latent, judgements


def _maxdiff_share(plan: ForecastPlan, tuples: IntArray, items: int) -> float | None:
    rng = np.random.default_rng([plan.seed, 1])
    counting, maxdiff = 0.0, np.zeros(len(SHARES))
    for _ in range(CAMPAIGNS_SHARED):
        latent, judgements = _simulated(plan, tuples, items, plan.noise, rng)
        counting += spearman_of(counting_scores(judgements).values, latent)
        for step, share in enumerate(SHARES):
            first = judgements.only(np.arange(round(share * len(judgements))))
            scores = maxdiff_scores(first, with_errors=False, scale=Scale.SIGNED).values
            # Items that nobody has judged yet are expected in the middle: left out, few judgements would look too good.
            maxdiff[step] += spearman_of(np.nan_to_num(scores), latent)
    if counting > maxdiff[-1]:
        return None
    return float(np.interp(counting, np.maximum.accumulate(maxdiff), SHARES))


def _reliabilities(
    judgements: Judgements, noise: float, campaigns: int, trials: int, rng: np.random.Generator
) -> list[float]:
    """The reliabilities of simulated campaigns that ask what `judgements` asked."""
    reliabilities = []
    for _ in range(campaigns):
        latent = rng.standard_normal(judgements.item_count)
        values = np.where(judgements.items >= 0, latent[judgements.items], np.nan)
        choices = simulated_choices(values, SimulatedAnnotator(noise), rng)
        # A tie stays one: the simulation asks how alike people order what they do order.
        best, worst = (np.where(judgements.ties, -1, slots) for slots in choices)
        judged = Judgements.from_slots(judgements.items, best, worst, item_count=judgements.item_count)
        reliabilities.append(split_half_reliability(judged, trials=trials).spearman_mean)
    return reliabilities


def _expected(outcomes: FloatArray) -> ExpectedRange:
    """The interval that holds at least 95 % of outcomes with a chance of 90 % (normal tolerance interval, Howe 1969).

    On Fisher's z. A prediction interval from so few campaigns would hold 95 % only on the average of many forecasts,
    and somebody has one forecast.
    """
    count = len(outcomes)
    z = fisher_z(outcomes)
    factor = 1.96 * math.sqrt((count - 1) * (1 + 1 / count) / chi2.ppf(0.1, count - 1))
    reach = factor * float(z.std(ddof=1))
    low, high = np.tanh([z.mean() - reach, z.mean() + reach])
    return ExpectedRange(float(outcomes.mean()), float(low), float(high))
