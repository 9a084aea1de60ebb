"""Compare two ways to spend extra judgements after a whole design: the design again, or an adaptive phase.

600 items, true values from a normal distribution, annotators with noise. A design with two 4-tuples per item is judged
once. Then as many judgements again are added in one way or the other. The script prints the Spearman correlation of
MaxDiff (prior precision 1, as in campaigns) with the truth. Everything is simulated.

    python docs/experiments/adaptive_after_a_design.py [--campaigns 10]
"""

import argparse
from collections.abc import Iterator

import numpy as np
from adaptive_phase import ITEMS, answered, together
from scipy.stats import spearmanr

from annotation.bws.designs.adaptive import adaptive_block
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, fit_utilities, posterior_errors

PRIOR = 1.0
REPORTED_AT = (3.0, 4.0)  # judgements per item


def fitted(judged: Judgements) -> Posterior:
    return fit_utilities(MaxDiffLikelihood(judged), prior_precision=PRIOR)


def again(tuples: np.ndarray, judged: Judgements, _rng: np.random.Generator) -> np.ndarray:
    """The next eighth of the design, from its beginning."""
    return np.array_split(tuples, 8)[(len(judged) * 8 // len(tuples)) % 8]


def adaptive(_tuples: np.ndarray, judged: Judgements, rng: np.random.Generator) -> np.ndarray:
    fit = fitted(judged)
    return adaptive_block(fit.utilities, posterior_errors(fit.precision)[0], seed=int(rng.integers(2**31)))


def reached(scheme, noise: float, seed: int) -> Iterator[float]:
    rng = np.random.default_rng([seed, 3])
    latent = rng.standard_normal(ITEMS)
    tuples = design_tuples(ITEMS, factor=2, seed=seed).tuples
    judged = answered(tuples, latent, noise, rng)
    for each in REPORTED_AT:
        while len(judged) < each * ITEMS:
            judged = together(judged, answered(scheme(tuples, judged, rng), latent, noise, rng))
        yield float(spearmanr(fitted(judged).utilities, latent).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=10)
    campaigns = parser.parse_args().campaigns
    for noise in (0.5, 1.0):
        found = {
            scheme.__name__: np.array([list(reached(scheme, noise, seed)) for seed in range(campaigns)])
            for scheme in (again, adaptive)
        }
        gain = found["adaptive"] - found["again"]
        for index, each in enumerate(REPORTED_AT):
            error = gain[:, index].std(ddof=1) / np.sqrt(campaigns)
            print(
                f"noise {noise}, {each:g} judgements per item: design again {found['again'][:, index].mean():.4f}, "
                f"adaptive {found['adaptive'][:, index].mean():.4f}, gain {gain[:, index].mean():.4f} ± {error:.4f}"
            )


if __name__ == "__main__":
    main()
