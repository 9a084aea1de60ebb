"""How often the 95 % interval of Spearman's correlation from the infinitesimal jackknife holds the true one.

    python docs/experiments/correlation_coverage.py

Pairs of scores are drawn from a normal distribution with a known correlation, once as they are and once with the first
rounded to five values, as human scores often are. The percentile bootstrap stands beside it for few pairs.
"""

import numpy as np
from scipy import stats

from curation.statistics.influence import spearman_within
from curation.statistics.intervals import bootstrap_interval

TRIALS, BOOTSTRAPS, FEW = 1_000, 200, 50
SEED = 7


def main() -> None:
    rng = np.random.default_rng(SEED)
    print("first score, correlation, pairs: covered by the jackknife, by the bootstrap")
    for rounded in (False, True):
        for correlation in (0.0, 0.5, 0.9):
            covariance = [[1, correlation], [correlation, 1]]
            # Of a normal distribution Spearman's is 6/π asin(r/2) (Pearson 1907); with ties it is estimated.
            true = 6 / np.pi * np.arcsin(correlation / 2)
            if rounded:
                many = rng.multivariate_normal([0, 0], covariance, 2_000_000)
                true = stats.spearmanr(five_values(many[:, 0]), many[:, 1]).statistic
            for pairs in (10, 20, 50, 200, 1_000):
                covered, bootstrapped = [], []
                for trial in range(TRIALS):
                    first, second = rng.multivariate_normal([0, 0], covariance, pairs).T
                    first = five_values(first) if rounded else first
                    found = spearman_within(first, second)
                    if found.value is None:
                        continue
                    covered.append(found.low <= true <= found.high)
                    if pairs <= FEW and trial < BOOTSTRAPS:
                        interval = bootstrap_interval(first, second, seed=trial)
                        bootstrapped.append(interval.low <= true <= interval.high)
                beside = f"{np.mean(bootstrapped):.3f}" if bootstrapped else "–"
                words = "five values" if rounded else "continuous"
                print(f"{words}, {correlation}, {pairs}: {np.mean(covered):.3f}, {beside}")


def five_values(scores):
    return np.clip(np.round(scores), -2, 2)


if __name__ == "__main__":
    main()
