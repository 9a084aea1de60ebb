"""Does the outcome of simulated campaigns lie in the interval that the forecast gave for it?

There are two ways to forecast. The first is before anybody judges, with the usual noise. The second is half-way through
the campaign, as on a dashboard: the noise is fitted to the judgements so far of the campaign that is forecast. The goal
is that 90 of 100 outcomes lie in the interval, also if the annotators of each campaign differ and are careless now and
then. "One kind" forecasts as before people differed in the simulation: with one kind of careful annotators, and without
data with a known noise.

    python docs/experiments/forecast_calibration.py [--campaigns 100] [--items 100] [--halfway 40]
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.correlation import spearman_of
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
from annotation.bws.studies.forecast import ExpectedRange, Forecast, ForecastPlan, fitted_noise, forecast
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

EACH, PEOPLE = 4, 12
FIGURES = ("split-half reliability", "counting", "MaxDiff")


@dataclass(frozen=True)
class Truth:
    """What the people of the campaigns are like.

    noise: its median. between: standard deviation of its logarithm between campaigns; spread: between the people of
    one. careless: the mean share, the same for all or drawn (exponential).
    """

    noise: float = 0.7
    between: float = 0.0
    spread: float = 0.35
    careless: float = 0.05
    careless_drawn: bool = False

    def people(self, rng: np.random.Generator) -> list[SimulatedAnnotator]:
        median = self.noise * np.exp(self.between * rng.standard_normal())
        noises = median * np.exp(self.spread * rng.standard_normal(PEOPLE))
        shares = np.full(PEOPLE, self.careless)
        if self.careless_drawn:
            shares = np.minimum(1, rng.exponential(self.careless, size=PEOPLE))
        return [SimulatedAnnotator(*person) for person in zip(noises.tolist(), shares.tolist(), strict=True)]


TRUTHS = {
    "noise .7, one kind, careful": Truth(spread=0, careless=0),
    "noise .7": Truth(),
    "noise .5": Truth(noise=0.5),
    "noise 1.0": Truth(noise=1.0),
    "noise .7, differs between campaigns": Truth(between=0.35),
    "likewise, people differ more": Truth(between=0.35, spread=0.6, careless_drawn=True),
}


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--halfway", type=int, default=40, help="So many of them half-way, too.")
    options = parser.parse_args()
    plan = ForecastPlan(items=options.items, judgements_per_tuple=EACH, people=PEOPLE)
    one_kind = replace(plan, noise_spread=0, careless=0)
    before, after = forecast(replace(one_kind, noise_error=0)), forecast(plan)
    print(
        "of 100 campaigns, outcomes within the 95 % interval, one kind / people differ:", ", ".join(FIGURES)
    )
    for name, truth in TRUTHS.items():
        campaigns = list(_campaigns(truth, options.items, options.campaigns))
        _tell(f"without data; {name}", *(_held_in(each, campaigns) for each in (before, after)))
        if some := campaigns[: options.halfway]:
            _tell(f"half-way; {name}", *(_held_halfway(each, some) for each in (one_kind, plan)))


def _campaigns(truth: Truth, items: int, number: int) -> Iterator[tuple[Judgements, FloatArray]]:
    """The judgements of each campaign in order of arrival, and its three figures (3,) at the end."""
    for seed in range(number):
        rng = np.random.default_rng(seed)
        latent = rng.standard_normal(items)
        judged = simulated_judgements(
            design_tuples(items, seed=1000 + seed).tuples,
            latent,
            annotators=truth.people(rng),
            judgements_per_tuple=EACH,
            seed=seed,
        )
        yield judged, _outcome(judged, latent)


def _outcome(judged: Judgements, latent: FloatArray) -> FloatArray:
    scores = (
        counting_scores(judged).values,
        maxdiff_scores(judged, with_errors=False).values,
    )
    accuracy = [spearman_of(found, latent) for found in scores]
    return np.array([split_half_reliability(judged, trials=100).spearman_mean, *accuracy])


def _held_in(found: Forecast, campaigns: list[tuple[Judgements, FloatArray]]) -> FloatArray:
    return np.mean([_held(found, outcome) for _, outcome in campaigns], axis=0)


def _held_halfway(plan: ForecastPlan, campaigns: list[tuple[Judgements, FloatArray]]) -> FloatArray:
    return np.mean([_held(_forecast_from(judged, plan), outcome) for judged, outcome in campaigns], axis=0)


def _forecast_from(judged: Judgements, plan: ForecastPlan) -> Forecast:
    """What a dashboard would say after half of the judgements."""
    half: IntArray = np.arange(len(judged) // 2)
    noise, error = fitted_noise(judged.only(half), plan)
    return forecast(replace(plan, noise=noise, noise_error=error, campaigns=20))


def _held(found: Forecast, outcome: FloatArray) -> list[bool]:
    intervals = (found.reliability, found.counting_accuracy, found.maxdiff_accuracy)
    return [_within(interval, value) for interval, value in zip(intervals, outcome, strict=True)]


def _within(interval: ExpectedRange | None, value: float) -> bool:
    return interval is not None and interval.low <= value <= interval.high


def _tell(what: str, before: FloatArray, after: FloatArray) -> None:
    pairs = zip(100 * before, 100 * after, strict=True)
    print(f"{what:50}", "  ".join(f"{old:4.0f} /{new:4.0f}" for old, new in pairs), flush=True)


if __name__ == "__main__":
    main()
