"""Does the outcome of simulated campaigns lie in the interval that the forecast gave for it?

There are two ways to forecast. The first is before anybody judges, with a known noise. The second is half-way through
the campaign, as on a dashboard: the noise is fitted to the judgements so far of the campaign that is forecast. The goal
is that 90 of 100 outcomes lie in the interval.

    python docs/experiments/forecast_calibration.py [--campaigns 100] [--items 100]
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
from annotation.bws.studies.forecast import ExpectedRange, Forecast, ForecastPlan, fitted_noise, forecast
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

NOISES = (0.5, 1.0)
EACH, PEOPLE = 4, 8
FIGURES = ("split-half reliability", "counting", "MaxDiff")


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--items", type=int, default=100)
    options = parser.parse_args()
    plan = ForecastPlan(items=options.items, judgements_per_tuple=EACH)
    print("of 100 campaigns, outcomes within the 95 % interval:", ", ".join(FIGURES))
    for noise in NOISES:
        known = replace(plan, noise=noise)
        campaigns = list(_campaigns(known, options.campaigns))
        before = forecast(known)
        _tell(f"noise {noise:g}, known", [_held(before, outcome) for _, outcome in campaigns])
        halfway = [_held(_forecast_from(judged, plan), outcome) for judged, outcome in campaigns]
        _tell(f"noise {noise:g}, fitted half-way", halfway)


def _campaigns(plan: ForecastPlan, number: int) -> Iterator[tuple[Judgements, FloatArray]]:
    """The judgements of each campaign in order of arrival, and its three figures (3,) at the end."""
    for seed in range(number):
        tuples = design_tuples(plan.items, seed=1000 + seed).tuples
        latent = np.random.default_rng(seed).standard_normal(plan.items)
        judged = simulated_judgements(
            tuples,
            latent,
            annotators=[SimulatedAnnotator(plan.noise)] * PEOPLE,
            judgements_per_tuple=EACH,
            seed=seed,
        )
        yield judged, _outcome(judged, latent)


def _outcome(judged: Judgements, latent: FloatArray) -> FloatArray:
    scores = counting_scores(judged).values, maxdiff_scores(judged, with_errors=False).values
    accuracy = [float(spearman(found[None], latent[None], ~np.isnan(found)[None])[0]) for found in scores]
    return np.array([split_half_reliability(judged, trials=100).spearman_mean, *accuracy])


def _forecast_from(judged: Judgements, plan: ForecastPlan) -> Forecast:
    """What a dashboard would say after half of the judgements."""
    half: IntArray = np.arange(len(judged) // 2)
    noise, error = fitted_noise(judged.only(half))
    return forecast(replace(plan, noise=noise, noise_error=error, campaigns=20))


def _held(found: Forecast, outcome: FloatArray) -> list[bool]:
    intervals = (found.reliability, found.counting_accuracy, found.maxdiff_accuracy)
    return [_within(interval, value) for interval, value in zip(intervals, outcome, strict=True)]


def _within(interval: ExpectedRange | None, value: float) -> bool:
    return interval is not None and interval.low <= value <= interval.high


def _tell(what: str, held: list[list[bool]]) -> None:
    shares = 100 * np.mean(np.array(held), axis=0)
    print(f"{what:28}", "  ".join(f"{share:5.0f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
