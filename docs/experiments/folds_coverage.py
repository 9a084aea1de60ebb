"""How often the 95 % interval of a cross-validation's mean over folds holds the true mean, with several training seeds.

python docs/experiments/folds_coverage.py [--trials 400]

200 pairs in five folds. A model's cosine of a pair is its true score, plus noise that all models share, plus noise of
the training, whose size differs from training to training; what a seed does is in part common to its folds. The truth
is the mean of 800 cross-validations of five seeds on pairs of their own. With one seed the interval is the bootstrap
over pairs, which takes the models as they are.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from curation.results.estimates import Estimate
from curation.statistics.correlation import Scores
from mlworkers.science.encoders.cross_validation import method_figures
from mlworkers.science.encoders.folds import Folds, Protocol

FOLDS, PAIRS = 5, 200
SHARED, OWN = 0.5, 0.4  # standard deviations of the noise that models share, and of that of a training
SPREAD, COMMON = (
    0.5,
    0.5,
)  # of the logarithm of a training's noise, and the share of its variance that folds share
TRUE_TRIALS = 800


def drawn(seeds: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], Scores]:
    """What the models of so many seeds give the pairs, (seeds, pairs), and the pairs' scores, (pairs,)."""
    scores = rng.standard_normal(PAIRS)
    fold = np.arange(PAIRS) % FOLDS
    of_seed, of_fold = rng.standard_normal((seeds, 1)), rng.standard_normal((seeds, FOLDS))
    size = OWN * np.exp(
        SPREAD * (np.sqrt(COMMON) * of_seed + np.sqrt(1 - COMMON) * of_fold)
    )  # (seeds, folds)
    noise = SHARED * rng.standard_normal(PAIRS) + size[:, fold] * rng.standard_normal((seeds, PAIRS))
    return scores + noise, scores


def mean_of(predicted: NDArray[np.float64], scores: Scores, *, resamples: int = 0) -> Estimate:
    folds = Folds(
        Protocol.RANDOM,
        np.arange(PAIRS, dtype=np.int64) % FOLDS,
        [str(number + 1) for number in range(FOLDS)],
        np.zeros(PAIRS, dtype=bool),
    )
    every = np.ones(PAIRS, dtype=bool)
    about = {"unseen": every, "resamples": resamples, "seed": 1}
    return method_figures("fine-tuned", predicted, scores, folds, [""] * PAIRS, **about).mean


def true_mean(rng: np.random.Generator) -> float:
    values = [mean_of(*drawn(5, rng)).value for _trial in range(TRUE_TRIALS)]
    return float(np.mean([value for value in values if value is not None]))


def covered(seeds: int, trials: int, truth: float, rng: np.random.Generator) -> tuple[float, float]:
    """The share of intervals that hold the truth, and their mean width. With one seed, the bootstrap over pairs."""
    found = [mean_of(*drawn(seeds, rng), resamples=500 if seeds == 1 else 0) for _trial in range(trials)]
    ends = np.array([(one.low, one.high) for one in found], dtype=np.float64)
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return float(held.mean()), float((ends[:, 1] - ends[:, 0]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--trials", type=int, default=400, help="for each number of seeds; default: %(default)s"
    )
    trials, rng = parser.parse_args().trials, np.random.default_rng(7)
    truth = true_mean(rng)
    print(f"true mean {truth:.4f}")
    print("| seeds | interval over | holds the true mean | width |\n|---|---|---|---|")
    for seeds in (1, 2, 3, 5, 10):
        share, width = covered(seeds, trials, truth, rng)
        print(f"| {seeds} | {'pairs' if seeds == 1 else 'pairs and seeds'} | {share:.1%} | {width:.3f} |")


if __name__ == "__main__":
    main()
