"""What a campaign will reach: simulated before it starts, or from what it has shown so far."""

import math
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy

from annotation.bws.designs.design import design_tuples, tuple_count
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.correlation import fisher_z, spearman_of
from annotation.bws.reliability.split_half import TooFewJudgements, split_half_reliability
from annotation.bws.scores.refitting import MaxDiffSettings
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.costs import SECONDS_PER_JUDGEMENT, campaign_costs
from annotation.bws.studies.simulation import (
    SimulatedAnnotator,
    differing_annotators,
    simulated_choices_of,
    simulated_judgements,
)

MOST_JUDGEMENTS_SIMULATED = 2_000_000  # in each campaign
MOST_NOISE = 1000.0  # all answers are chance long before
MOST_PEOPLE_SIMULATED = 100  # more people differ from campaign to campaign by hardly anything
# What is not known of a campaign before anybody judges: planning figures. The standard error of the logarithm of the
# noise, the standard deviation of that logarithm between annotators, and the share of careless answers.
USUAL_NOISE_ERROR = 0.35
USUAL_NOISE_SPREAD = 0.35
USUAL_CARELESS = 0.05
# The noise with which a campaign is simulated to see which explains its reliability.
NOISES = np.geomspace(0.05, 6.0, 13)  # each 1.49 times the one before it
CAMPAIGNS_FITTED = 3  # at each of them that is tried
CAMPAIGNS_REFINED = 10  # at the one that explains it best
# Parts of a campaign's judgements at which MaxDiff is compared with counting, and in how many campaigns.
SHARES = (0.2, 0.4, 0.65, 1.0)
CAMPAIGNS_SHARED = 4
# A difference of two noises with the standard deviation s sqrt(2) is as steep as a logistic one of the scale
# s sqrt(2) / 1.702 (Haley 1952), so utilities of items with a standard deviation of 1 have one of 1.702 / (s sqrt(2)).
LOGISTIC = 1.702
# Of the prior: with noise near 0 the formula gives nearly 0, and the fit would have no prior.
LEAST_PRECISION = 0.01
SIZES_COMPARED = (3, 4, 5, 6)


@dataclass(frozen=True)
class ForecastPlan:
    """Every number that shapes a forecast.

    factor: tuples per item.
    people: annotators who share the work; at least as many as judge each tuple are simulated.
    noise: median of the annotators, in standard deviations of the items' true values.
    noise_error: standard error of the logarithm of the noise, 0 if it is known.
    noise_spread: standard deviation of the logarithm of the noise between annotators.
    careless: share of answers given at random, 0..1.
    ties: share of judgements too close to call, 0..1 without 1. These are left out at random, because counting takes
    nothing from them; MaxDiff takes a little, so that its forecast is slightly low.
    campaigns: number of simulated campaigns.
    trials: random splits in each campaign.
    most_items: simulated items, at most; with more, the interval of a reliability is wider than it needs to be.
    """

    items: int
    size: int = 4
    factor: float = 2.0
    judgements_per_tuple: int = 2
    people: int = 12
    noise: float = 0.7
    noise_error: float = USUAL_NOISE_ERROR
    noise_spread: float = USUAL_NOISE_SPREAD
    careless: float = USUAL_CARELESS
    ties: float = 0.0
    seconds_per_judgement: float = SECONDS_PER_JUDGEMENT
    campaigns: int = 40
    trials: int = 20
    most_items: int = 1500
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

    reliability is None if most tuples have one judgement that is no tie, so that no half can be compared with another.
    maxdiff_share: the share of the judgements from which MaxDiff is as near to the true values as counting from all of
    them; None if it takes more than all.
    """

    tuples: int
    judgements: int
    hours: float
    reliability: ExpectedRange | None
    counting_accuracy: ExpectedRange
    maxdiff_accuracy: ExpectedRange
    maxdiff_share: float | None


@dataclass(frozen=True)
class SizeForecast:
    """What a campaign with tuples of another size reaches, in as many judgements or in as much of people's time.

    plan: of such a campaign. ranges: split-half reliability (None for single judgements), and accuracy by counting and
    by MaxDiff.
    """

    plan: ForecastPlan
    same_time: bool
    tuples: int
    judgements: int
    hours: float
    reliability: ExpectedRange | None
    counting_accuracy: ExpectedRange
    maxdiff_accuracy: ExpectedRange


def forecast(plan: ForecastPlan, *, report: Report = unreported) -> Forecast:
    """Simulate campaigns like the planned one and return what they reached.

    The items' true values are drawn from a normal distribution. Every campaign has its own noise and annotators.

    report: of the design's search (`design_tuples`).

    Raises ValueError for a plan that cannot be carried out.
    """
    items = min(plan.items, plan.most_items)
    _check(plan, items)
    tuples = design_tuples(items, size=plan.size, factor=plan.factor, seed=plan.seed, report=report).tuples
    return Forecast(
        **_work(plan), **_ranges(plan, tuples, items), maxdiff_share=_maxdiff_share(plan, tuples, items)
    )


def forecast_sizes(plan: ForecastPlan, *, report: Report = unreported) -> list[SizeForecast]:
    """Forecast the campaign with tuples of 3 to 6 items: first in as many judgements, then in as much time.

    The time of a judgement grows in proportion to the items (`seconds_at_size`), and people see an item as clearly
    among six as among three. For as much time, there are fewer or more tuples per item, so that every item appears
    as often.
    """
    compared = []
    for same_time in (False, True):
        for size in SIZES_COMPARED:
            own = replace(
                plan,
                size=size,
                # Appearances of an item, factor * size, stay as they are.
                factor=plan.factor * plan.size / size if same_time else plan.factor,
                # Reading time grows with the number of items (`seconds_at_size`).
                seconds_per_judgement=plan.seconds_per_judgement * size / plan.size,
            )
            items = min(own.items, own.most_items)
            _check(own, items)
            tuples = design_tuples(items, size=size, factor=own.factor, seed=own.seed, report=report).tuples
            compared.append(SizeForecast(own, same_time, **_work(own), **_ranges(own, tuples, items)))
    return compared


def fitted_noise(judgements: Judgements, plan: ForecastPlan) -> tuple[float, float]:
    """The noise under which simulated people, asked the same tuples as often, would agree as these people do.

    plan: how people differ and are careless, and how many they are if the judgements name nobody; its noise is not
    read. Returns the median noise in standard deviations of the items' true values, and the standard error of its
    logarithm.
    Raises TooFewJudgements if the judgements have no split-half reliability.
    """
    # Split-half Spearman r of the real campaign.
    observed = split_half_reliability(judgements, trials=plan.trials, seed=plan.seed).spearman_mean

    @cache
    def simulated(step: int) -> float:
        # Stream [seed, 2] for the search, [seed, 3] for the refinement; [seed, 1] is that of `_maxdiff_share`.
        rng = np.random.default_rng([plan.seed, 2])  # the same people and items at every noise
        return float(np.mean(_reliabilities(judgements, NOISES[step], CAMPAIGNS_FITTED, plan, rng)))

    # More noise means less agreement, so the two noises around the observed reliability are found by halving. Between
    # them, it is read off a line over log noise. More campaigns there move it along the line, and their spread divided
    # by the slope, with that of their mean, is the standard error of log noise.
    after = max(1, bisect_left(range(len(NOISES) - 1), -observed, key=lambda step: -simulated(step)))
    before, logs = after - 1, np.log(NOISES)
    # d r / d log noise between the two noises; -1e-9 where chance turned it up, since it is a divisor.
    slope = min(-1e-9, (simulated(after) - simulated(before)) / (logs[after] - logs[before]))
    # log noise = log a + (r - r(a)) / slope, within the two.
    first = np.clip(logs[before] + (observed - simulated(before)) / slope, logs[before], logs[after])
    rng = np.random.default_rng([plan.seed, 3])
    some = _reliabilities(judgements, math.exp(first), CAMPAIGNS_REFINED, plan, rng)
    # One Newton step from there, with the mean of more campaigns.
    log_noise = np.clip(first + (observed - np.mean(some)) / slope, logs[0], logs[-1])
    # SE(log noise) = sd(r) sqrt(1 + 1/10) / |slope|: chance in the real campaign, and in the mean of ten.
    error = np.std(some, ddof=1) * math.sqrt(1 + 1 / CAMPAIGNS_REFINED) / -slope
    return math.exp(log_noise), float(min(1.0, error))


def _check(plan: ForecastPlan, items: int) -> None:
    for name in ("items", "judgements_per_tuple", "people", "noise", "seconds_per_judgement", "trials"):
        if not 0 < getattr(plan, name) < math.inf:
            raise ValueError(
                f"A forecast needs {name.replace('_', ' ')} above 0, not {getattr(plan, name):g}."
            )
    if plan.noise > MOST_NOISE:
        raise ValueError(
            f"A forecast takes noise of at most {MOST_NOISE:g} standard deviations, not {plan.noise:g}."
        )
    for name in ("noise_error", "noise_spread"):
        if not 0 <= getattr(plan, name) < math.inf:
            raise ValueError(
                f"A forecast needs {name.replace('_', ' ')} of at least 0, not {getattr(plan, name):g}."
            )
    if not 0 <= plan.careless <= 1:
        raise ValueError(f"The share of careless answers is between 0 and 1, not {plan.careless:g}.")
    if not 0 <= plan.ties < 1:
        raise ValueError(f"The share of ties is at least 0 and below 1, not {plan.ties:g}.")
    if plan.campaigns < 2:
        raise ValueError(f"A forecast needs at least 2 simulated campaigns, not {plan.campaigns}.")
    simulated = tuple_count(items, plan.factor) * plan.judgements_per_tuple
    if simulated > MOST_JUDGEMENTS_SIMULATED:
        raise ValueError(
            f"A forecast simulates at most {MOST_JUDGEMENTS_SIMULATED:,} judgements, and this plan asks for "
            f"{simulated:.3g} of {items:,} items; ask for fewer tuples per item or fewer judgements per tuple."
        )


def _work(plan: ForecastPlan) -> dict[str, Any]:
    count = tuple_count(plan.items, plan.factor)
    costs = campaign_costs(
        count * plan.judgements_per_tuple, seconds_per_judgement=plan.seconds_per_judgement
    )
    return {"tuples": count, "judgements": costs.judgements, "hours": costs.hours}


def _ranges(plan: ForecastPlan, tuples: IntArray, items: int) -> dict[str, Any]:
    rng = np.random.default_rng(plan.seed)
    # Median noise of each campaign: log-normal around the plan's, with the standard error of its logarithm.
    noises = plan.noise * np.exp(plan.noise_error * rng.standard_normal(plan.campaigns))
    several = plan.judgements_per_tuple > 1
    # Reliability (NaN for single judgements) and accuracy by counting and by MaxDiff of each campaign.
    campaigns = []
    for noise in noises.tolist():
        latent, judgements = _simulated(plan, tuples, items, noise, rng)
        reliability = math.nan
        if several:
            # A stream for the splits, so that more trials leave the campaigns as they are.
            seed = int(rng.integers(2**32))
            with suppress(TooFewJudgements):  # ties leave one judgement for most tuples
                reliability = split_half_reliability(judgements, trials=plan.trials, seed=seed).spearman_mean
        counting = counting_scores(judgements, with_errors=False).values
        maxdiff = _settings(noise).utilities(judgements)
        campaigns.append((reliability, spearman_of(counting, latent), spearman_of(maxdiff, latent)))
    outcomes = np.array(campaigns)  # (campaigns, 3)
    return {
        "reliability": None if np.isnan(outcomes[:, 0]).any() else _expected(outcomes[:, 0]),
        "counting_accuracy": _expected(outcomes[:, 1]),
        "maxdiff_accuracy": _expected(outcomes[:, 2]),
    }


def _settings(noise: float) -> MaxDiffSettings:
    """What a fit would find out about items that vary by 1 and people with this noise."""
    # l = 1 / Var(u), with sd(u) = 1.702 / (noise sqrt(2)).
    return MaxDiffSettings(max(LEAST_PRECISION, 2 * (noise / LOGISTIC) ** 2))


def _simulated(
    plan: ForecastPlan, tuples: IntArray, items: int, noise: float, rng: np.random.Generator
) -> tuple[FloatArray, Judgements]:
    """True values (items,) and the judgements of one campaign without its ties, in random order."""
    people = max(plan.judgements_per_tuple, min(plan.people, MOST_PEOPLE_SIMULATED))
    latent = rng.standard_normal(items)  # item values N(0, 1), the unit of every noise
    judgements = simulated_judgements(
        tuples,
        latent,
        annotators=_people(plan, noise, people, rng),
        judgements_per_tuple=plan.judgements_per_tuple,
        seed=int(rng.integers(2**32)),
    )
    return latent, judgements.only(np.arange(round((1 - plan.ties) * len(judgements))))


def _people(
    plan: ForecastPlan, noise: float, people: int, rng: np.random.Generator
) -> list[SimulatedAnnotator]:
    """So many annotators who differ, around this median noise."""
    return differing_annotators(
        people, noise=noise, spread=plan.noise_spread, careless=plan.careless, rng=rng
    )


def _maxdiff_share(plan: ForecastPlan, tuples: IntArray, items: int) -> float | None:
    rng, settings = np.random.default_rng([plan.seed, 1]), _settings(plan.noise)
    counting, maxdiff = [], []
    for _ in range(CAMPAIGNS_SHARED):
        latent, judgements = _simulated(plan, tuples, items, plan.noise, rng)
        counting.append(spearman_of(counting_scores(judgements, with_errors=False).values, latent))
        parts = (judgements.only(np.arange(round(share * len(judgements)))) for share in SHARES)
        # Items that nobody has judged yet are expected in the middle: left out, few judgements would look too good.
        maxdiff.append([spearman_of(np.nan_to_num(settings.utilities(part)), latent) for part in parts])
    # Mean accuracies on z = artanh rho: (shares,) and one number.
    reached, goal = fisher_z(np.array(maxdiff)).mean(axis=0), fisher_z(np.array(counting)).mean()
    if goal > reached[-1]:
        return None
    # On Fisher's z, accuracy grows nearly in a line with the logarithm of the judgements.
    # Accuracy must not fall with more judgements (running maximum), so that log share is a function of z.
    return float(np.exp(np.interp(goal, np.maximum.accumulate(reached), np.log(SHARES))))


def _reliabilities(
    judgements: Judgements, noise: float, campaigns: int, plan: ForecastPlan, rng: np.random.Generator
) -> list[float]:
    """The reliabilities of simulated campaigns that ask what `judgements` asked, of as many people."""
    if judgements.annotators is None:
        # Nobody is named: random people, as many as planned.
        judges = rng.integers(min(plan.people, MOST_PEOPLE_SIMULATED), size=len(judgements))
    else:
        judges = np.unique(judgements.annotators, return_inverse=True)[1]
    reliabilities = []
    for _ in range(campaigns):
        latent = rng.standard_normal(judgements.item_count)  # true values N(0, 1), new in each campaign
        annotators = _people(plan, noise, int(judges.max(initial=0)) + 1, rng)
        # -1 reads the last item's value here, and NaN replaces it.
        values = np.where(judgements.items >= 0, latent[judgements.items], np.nan)
        choices = simulated_choices_of(values, judges, annotators, rng)
        # A tie stays one: the simulation asks how alike people order what they do order.
        best, worst = (np.where(judgements.ties, -1, slots) for slots in choices)
        judged = Judgements.from_slots(judgements.items, best, worst, item_count=judgements.item_count)
        # The halves are drawn as those of the observed reliability.
        reliability = split_half_reliability(judged, trials=plan.trials, seed=plan.seed)
        reliabilities.append(reliability.spearman_mean)
    return reliabilities


def _expected(outcomes: FloatArray) -> ExpectedRange:
    """The interval that holds at least 95 % of outcomes with a chance of 90 % (normal tolerance interval, Howe 1969).

    On Fisher's z. A prediction interval from so few campaigns would hold 95 % only on the average of many forecasts,
    and somebody has one forecast.
    """
    count = len(outcomes)
    z = fisher_z(outcomes)
    # Factor k = 1.96 sqrt((n - 1)(1 + 1/n) / chi2_{.1, n - 1}); for 40 campaigns 2.33 instead of 1.96.
    factor = 1.96 * math.sqrt((count - 1) * (1 + 1 / count) / scipy.stats.chi2.ppf(0.1, count - 1))
    reach = factor * float(z.std(ddof=1))
    # mean z -+ k sd(z), back by tanh.
    low, high = np.tanh([z.mean() - reach, z.mean() + reach])
    return ExpectedRange(float(outcomes.mean()), float(low), float(high))
