"""How often a comparison of weightings calls two equal weightings different, and how often it finds a true difference.

python docs/experiments/false_alarms.py [--trials 2000] [--jobs 2]

No encoder is trained here: the cosines are simulated. There are 1,379 test pairs (as many as the STS benchmark has)
with scores on 26 levels of 0..5. The cosine of a pair is its standardised score times 1 + s, plus an error that all
encoders share (sd .75, which puts Spearman's correlation near .81), plus an error of the weighting on this pair (the
same for all its seeds), plus an error of the single encoder on this pair. s is normal and drawn for each encoder: it is
the luck of a seed. Pairs, weightings and seeds are all drawn again in each trial. The regimes differ in which error is
large:

    seeds        luck with an sd of .004 in Spearman's correlation, little else
    between      the same luck, and weightings that err on different pairs
    pairs        weightings that err on different pairs, little luck
    interaction  two equal weightings whose encoders err on different pairs, and no luck

In the null trials both weightings have the same true correlation; for the power, one has a true advantage of .01.
Each way to make an interval sees the same trials:

    crossed      what Semblance uses: mlworkers/science/encoders/differences.py
    summed       the variances over pairs and over seeds added, the interaction counted twice
    cut off      the interaction counted once, and the variance of seeds not below 0 in place of that of pairs
    pairs only   the variance over pairs, as if the seeds were all the seeds there are
    percentile   the percentiles of the mean of seeds drawn with replacement
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import t as student

from curation.statistics.influence import spearman_by_pair
from mlworkers.science.encoders.differences import difference_from

PAIRS = 1379
SHARED = 0.75
# How much Spearman's correlation grows with the factor on the standardised score, found with 4 million pairs.
SLOPE = 0.28
ADVANTAGE = 0.01
WAYS = ("crossed", "summed", "cut off", "pairs only", "percentile")


@dataclass(frozen=True)
class Regime:
    """Standard deviations: luck, in Spearman's correlation; of a weighting's and of an encoder's errors, in cosines."""

    luck: float
    weighting: float
    encoder: float


REGIMES = {
    "seeds": Regime(0.004, 0.0, 0.05),
    "between": Regime(0.004, 0.17, 0.05),
    "pairs": Regime(0.0003, 0.3, 0.05),
    "interaction": Regime(0.0, 0.0, 0.2),
}


def differences_simulate(
    regime: Regime, *, seeds: int, pairs: int, advantage: float, rng: np.random.Generator
) -> np.ndarray:
    """A table (seeds, pairs) of the differences of two weightings whose true difference is `advantage`."""
    scores = np.round(rng.uniform(0, 5, pairs) * 5) / 5
    standardised = (scores - 2.5) / np.sqrt(25 / 12)
    shared = SHARED * rng.normal(size=pairs)
    tables = []
    for gained in (0.0, advantage):
        own = regime.weighting * rng.normal(size=pairs)
        factors = 1 + (gained + regime.luck * rng.normal(size=seeds)) / SLOPE
        noise = regime.encoder * rng.normal(size=(seeds, pairs))
        cosines = factors[:, None] * standardised + shared + own + noise  # (S, N)
        tables.append(np.stack([_pseudo_values(one, scores) for one in cosines]))
    return tables[1] - tables[0]


def alarms(table: np.ndarray, rng: np.random.Generator) -> list[bool]:
    """Whether the interval excludes 0, by each of the ways."""
    found = difference_from(table)
    seeds, pairs = table.shape
    by_seed, mean = table.mean(axis=1), table.mean()
    over_seeds, over_pairs = by_seed.var(ddof=1) / seeds, table.mean(axis=0).var(ddof=1) / pairs
    both = over_seeds + over_pairs
    degrees = both**2 / (over_seeds**2 / (seeds - 1) + over_pairs**2 / (pairs - 1))
    drawn = by_seed[rng.integers(seeds, size=(1000, seeds))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [
        bool(found.low > 0 or found.high < 0),
        bool(abs(mean) > student.ppf(0.975, degrees) * np.sqrt(both)),
        _cut_off_alarm(table, over_seeds, over_pairs),
        bool(abs(mean) > student.ppf(0.975, pairs - 1) * np.sqrt(over_pairs)),
        bool(low > 0 or high < 0),
    ]


def _cut_off_alarm(table: np.ndarray, over_seeds: float, over_pairs: float) -> bool:
    seeds, pairs = table.shape
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    of_rest = (rest**2).sum() / ((seeds - 1) * (pairs - 1)) / (seeds * pairs)
    variance, degrees = over_pairs, pairs - 1.0
    if over_seeds > of_rest:
        variance = over_pairs + over_seeds - of_rest
        squares = over_pairs**2 / (pairs - 1) + over_seeds**2 / (seeds - 1)
        degrees = variance**2 / (squares + of_rest**2 / ((seeds - 1) * (pairs - 1)))
    return bool(abs(table.mean()) > student.ppf(0.975, degrees) * np.sqrt(variance))


def trial(number: int, *, regime: Regime, seeds: int, pairs: int, advantage: float) -> list[bool]:
    rng = np.random.default_rng([number, seeds, pairs, round(1e4 * advantage)])
    table = differences_simulate(regime, seeds=seeds, pairs=pairs, advantage=advantage, rng=rng)
    return alarms(table, rng)


def _pseudo_values(cosines: np.ndarray, scores: np.ndarray) -> np.ndarray:
    found = spearman_by_pair(cosines, scores)
    if found is None:
        raise ValueError("All simulated cosines are equal.")
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    print("seeds | true difference | regime | " + " | ".join(WAYS))
    with ProcessPoolExecutor(given.jobs) as pool:
        for seeds, advantage in ((5, 0.0), (3, 0.0), (10, 0.0), (5, ADVANTAGE), (10, ADVANTAGE)):
            for name, regime in REGIMES.items():
                one = partial(trial, regime=regime, seeds=seeds, pairs=given.pairs, advantage=advantage)
                rates = np.mean(list(pool.map(one, range(given.trials), chunksize=50)), axis=0)
                errors = np.sqrt(rates * (1 - rates) / given.trials)
                cells = [f"{rate:.3f} ± {error:.3f}" for rate, error in zip(rates, errors, strict=True)]
                print(f"{seeds} | {advantage:g} | {name} | " + " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
