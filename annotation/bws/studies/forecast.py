"""What a campaign will come to: simulated before it is run, or from what it has shown so far."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from annotation.bws.designs.design import design_tuples, tuple_count
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import Scale, counting_scores, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices, simulated_judgements

# More items are simulated by so many: a reliability hardly depends on their number. Its interval is then
# wider than it need be, never narrower.
MOST_ITEMS_SIMULATED = 1500
MOST_JUDGEMENTS_SIMULATED = 2_000_000  # in each campaign
MOST_NOISE = 1000.0  # all answers are chance long before
# The noise that a campaign is tried with to see which explains its reliability.
NOISES = np.geomspace(0.05, 6.0, 13)
# Parts of a campaign's judgements at which MaxDiff is held against counting, and in how many campaigns.
SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 1.0)
CAMPAIGNS_SHARED = 4
_LIMIT = 0.999_999  # Fisher's z of a perfect correlation would be infinite


@dataclass(frozen=True)
class ForecastPlan:
    """Every number that shapes a forecast.

    noise: of each annotator, in standard deviations of the items' true values. noise_error: standard
    error of its logarithm, 0 where the noise is known. seconds_per_judgement: what a judgement takes.
    campaigns: simulated ones.
    trials: random splits in each.
    """

    items: int
    size: int = 4
    factor: float = 2.0
    judgements_per_tuple: int = 2
    noise: float = 0.7
    noise_error: float = 0.0
    seconds_per_judgement: float = 25.0
    campaigns: int = 40
    trials: int = 20
    seed: int = 1234


@dataclass(frozen=True)
class Expected:
    """mean over the simulated campaigns; low and high, between which at least 95 % of others should lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Forecast:
    """reliability: split-half Spearman, as published. Accuracy: Spearman with the true values, by either method.

    reliability is None where each tuple is judged once, and no half can be compared with another. maxdiff_share: the
    share of the judgements from which MaxDiff comes as near to the true values as counting from all of them; None where
    it takes more than all.
    """

    tuples: int
    judgements: int
    hours: float
    reliability: Expected | None
    counting_accuracy: Expected
    maxdiff_accuracy: Expected
    maxdiff_share: float | None


def forecast(plan: ForecastPlan, *, report: Report = unreported) -> Forecast:
    """Simulate campaigns like the planned one and tell what they came to.

    The items' true values are drawn from a normal distribution; every annotator sees them through the
    same noise. report: of the design's search (`design_tuples`).
    Raises ValueError for a plan that cannot be carried out.
    """
    _check(plan)
    items = min(plan.items, MOST_ITEMS_SIMULATED)
    simulated = tuple_count(items, plan.factor) * plan.judgements_per_tuple
    if simulated > MOST_JUDGEMENTS_SIMULATED:
        raise ValueError(
            f"A forecast simulates at most {MOST_JUDGEMENTS_SIMULATED:,} judgements, and this plan asks for "
            f"{simulated:.3g} of {items:,} items; lower the factor or the judgements of each tuple."
        )
    rng = np.random.default_rng(plan.seed)
    tuples = design_tuples(items, size=plan.size, factor=plan.factor, seed=plan.seed, report=report).tuples
    noises = plan.noise * np.exp(plan.noise_error * rng.standard_normal(plan.campaigns))
    outcomes = np.array([_outcome(plan, tuples, items, noise, rng) for noise in noises])
    reliability, counting, maxdiff = (_expected(outcomes[:, figure]) for figure in range(3))
    judgements = tuple_count(plan.items, plan.factor) * plan.judgements_per_tuple
    return Forecast(
        tuples=tuple_count(plan.items, plan.factor),
        judgements=judgements,
        hours=judgements * plan.seconds_per_judgement / 3600,
        reliability=reliability if plan.judgements_per_tuple > 1 else None,
        counting_accuracy=counting,
        maxdiff_accuracy=maxdiff,
        maxdiff_share=_maxdiff_share(plan, tuples, items),
    )


def fitted_noise(judgements: Judgements, *, trials: int = 20, seed: int = 1234) -> tuple[float, float]:
    """The noise under which simulated people, asked the same tuples as often, would agree as these people do.

    Returns it in standard deviations of the items' true values, and the standard error of its logarithm.
    Raises TooFewJudgements where the judgements have no split-half reliability.
    """
    rng = np.random.default_rng(seed)
    observed = split_half_reliability(judgements, trials=trials, seed=seed).spearman_mean
    heights = [np.mean(_reliabilities(judgements, noise, 3, trials, rng)) for noise in NOISES]
    # More noise never agrees better; what says otherwise here is chance.
    falling = np.minimum.accumulate(heights)
    logs = np.log(NOISES)
    log_noise = float(np.interp(-observed, -falling, logs))
    slope = np.interp(log_noise, logs, np.gradient(falling, logs))
    spread = np.std(_reliabilities(judgements, math.exp(log_noise), 10, trials, rng), ddof=1)
    return math.exp(log_noise), float(min(1.0, spread / max(1e-9, -slope)))


def _check(plan: ForecastPlan) -> None:
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
    counting, maxdiff = (_accuracy(method.values, latent) for method in scores)
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
        counting += _accuracy(counting_scores(judgements).values, latent)
        for place, share in enumerate(SHARES):
            first = judgements.only(np.arange(round(share * len(judgements))))
            scores = maxdiff_scores(first, with_errors=False, scale=Scale.SIGNED).values
            # What nobody has judged yet is expected in the middle: left out, few judgements would look too good.
            maxdiff[place] += _accuracy(np.nan_to_num(scores), latent)
    if counting > maxdiff[-1]:
        return None
    return float(np.interp(counting, np.maximum.accumulate(maxdiff), SHARES))


def _accuracy(scores: FloatArray, latent: FloatArray) -> float:
    return float(spearman(scores[None], latent[None], ~np.isnan(scores)[None])[0])


def _reliabilities(
    judgements: Judgements, noise: float, campaigns: int, trials: int, rng: np.random.Generator
) -> list[float]:
    """The reliabilities of simulated campaigns that ask what `judgements` asked."""
    found = []
    for _ in range(campaigns):
        latent = rng.standard_normal(judgements.item_count)
        best, worst = simulated_choices(latent[judgements.items], SimulatedAnnotator(noise), rng)
        judged = Judgements.from_slots(judgements.items, best, worst, item_count=judgements.item_count)
        found.append(split_half_reliability(judged, trials=trials).spearman_mean)
    return found


def _expected(outcomes: FloatArray) -> Expected:
    """The interval that holds at least 95 % of outcomes with a chance of 90 % (normal tolerance interval, Howe 1969).

    On Fisher's z, where correlations near 1 spread evenly. A prediction interval from so few campaigns holds 95 % only
    on the average of many forecasts, and one forecast is what somebody has.
    """
    count = len(outcomes)
    z = np.arctanh(np.clip(outcomes, -_LIMIT, _LIMIT))
    factor = 1.96 * math.sqrt((count - 1) * (1 + 1 / count) / chi2.ppf(0.1, count - 1))
    reach = factor * float(z.std(ddof=1))
    low, high = np.tanh([z.mean() - reach, z.mean() + reach])
    return Expected(float(outcomes.mean()), float(low), float(high))
