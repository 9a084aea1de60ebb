"""How often a comparison of weightings calls two equal weightings different by their accuracy or F1.

python docs/experiments/false_alarms_labels.py [--trials 2000] [--jobs 2]

As `false_alarms.py`, but pairs have labels. The cosine of a pair is its label times 1.6 + s (s: the luck of an
encoder), plus an error that all encoders share, one of the weighting and one of the encoder, so accuracy is near .8.
Dev pairs of the same kind set the threshold of each encoder and metric, as suites with labels do; they are drawn again
in each trial too, although the interval does not count their variance. Both weightings are equally good.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from mlworkers.science.encoders.differences import difference_from
from mlworkers.science.encoders.measuring import Metric, classification_measured, threshold_tuned

METRICS = (Metric.ACCURACY, Metric.F1)
DISTANCE = 1.6  # of the means of the two labels, in standard deviations of the shared error
SEEDS = 5


@dataclass(frozen=True)
class Setting:
    """Test and dev pairs, and the share of the label 1."""

    pairs: int
    dev: int
    positive: float


@dataclass(frozen=True)
class Regime:
    """Standard deviations of the luck of an encoder, and of a weighting's and of an encoder's errors on pairs."""

    luck: float
    weighting: float
    encoder: float


SETTINGS = {
    "MRPC": Setting(1_725, 408, 0.66),
    "PAWS halves": Setting(338, 339, 0.31),
    "SNLI": Setting(4_000, 4_000, 0.5),
}
REGIMES = {
    "seeds": Regime(0.12, 0.0, 0.1),
    "between": Regime(0.06, 0.25, 0.1),
    "pairs": Regime(0.005, 0.5, 0.1),
    "interaction": Regime(0.0, 0.0, 0.4),
}


def trial(number: int, *, setting: Setting, regime: Regime, seeds: int = SEEDS) -> list[bool]:
    """Whether the interval excludes 0, for each metric."""
    rng = np.random.default_rng([number, setting.pairs, seeds])
    count = setting.pairs + setting.dev
    labels = (rng.uniform(size=count) < setting.positive).astype(np.int64)
    labels[[0, 1, -2, -1]] = [0, 1, 0, 1]  # both labels occur on either side
    shared = rng.normal(size=count)
    tables: dict[Metric, list[list[np.ndarray]]] = {metric: [] for metric in METRICS}
    for _weighting in range(2):
        own = regime.weighting * rng.normal(size=count)
        rows: dict[Metric, list[np.ndarray]] = {metric: [] for metric in METRICS}
        for _seed in range(seeds):
            factor = DISTANCE + regime.luck * rng.normal()
            margins = factor * (labels - 0.5) + shared + own + regime.encoder * rng.normal(size=count)
            cosines = np.tanh(margins / 4)
            for metric in METRICS:
                rows[metric].append(_by_pair(metric, cosines, labels, setting.pairs))
        for metric in METRICS:
            tables[metric].append(rows[metric])
    found = [difference_from(np.subtract(*(np.stack(rows) for rows in tables[metric]))) for metric in METRICS]
    return [bool((each.low or 0) > 0 or (each.high or 0) < 0) for each in found]


def _by_pair(metric: Metric, cosines: np.ndarray, labels: np.ndarray, pairs: int) -> np.ndarray:
    threshold = threshold_tuned(metric, cosines[pairs:], labels[pairs:])
    measured = classification_measured(
        metric, cosines[:pairs], labels[:pairs], threshold=threshold, resamples=0, seed=0
    )
    if measured.by_pair is None:
        raise ValueError(f"{metric} is undefined.")
    return measured.by_pair


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    print("pairs like | regime | " + " | ".join(METRICS))
    with ProcessPoolExecutor(given.jobs) as pool:
        for kind, setting in SETTINGS.items():
            for name, regime in REGIMES.items():
                one = partial(trial, setting=setting, regime=regime)
                rates = np.mean(list(pool.map(one, range(given.trials), chunksize=50)), axis=0)
                errors = np.sqrt(rates * (1 - rates) / given.trials)
                cells = [f"{rate:.3f} ± {error:.3f}" for rate, error in zip(rates, errors, strict=True)]
                print(f"{kind} | {name} | " + " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
