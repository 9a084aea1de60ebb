"""Compare ways to spend extra judgements after a whole design: the design again, or an adaptive phase.

Items with true values from a normal distribution, annotators with noise. A design with two 4-tuples per item is judged
once. Then as many judgements again are added. An adaptive phase fits MaxDiff for each block, with a prior precision of
1 or with the one that the judgements so far say. The script prints the Spearman correlation of MaxDiff (estimated
precision) with the truth. Everything is simulated.

    python docs/experiments/adaptive_after_a_design.py [--campaigns 10] [--items 600] [--noise .3 .5 .7 1 1.5]
"""

import argparse
from collections.abc import Iterator

import numpy as np
from adaptive_phase import answered, together
from scipy.stats import spearmanr

from annotation.bws.designs.adaptive import adaptive_block
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, posterior_errors

REPORTED_AT = (3.0, 4.0)  # judgements per item


def fitted(judged: Judgements, precision: float | None = None) -> Posterior:
    return fit_with_prior(MaxDiffLikelihood(judged), prior_precision=precision)


def again(tuples: np.ndarray, judged: Judgements, _rng: np.random.Generator) -> np.ndarray:
    """The next eighth of the design, from its beginning."""
    return np.array_split(tuples, 8)[(len(judged) * 8 // len(tuples)) % 8]


def _block(fit: Posterior, rng: np.random.Generator) -> np.ndarray:
    return adaptive_block(fit.utilities, posterior_errors(fit.precision)[0], seed=int(rng.integers(2**31)))


def adaptive_at_1(_tuples: np.ndarray, judged: Judgements, rng: np.random.Generator) -> np.ndarray:
    return _block(fitted(judged, 1.0), rng)


def adaptive(_tuples: np.ndarray, judged: Judgements, rng: np.random.Generator) -> np.ndarray:
    return _block(fitted(judged), rng)


def reached(scheme, noise: float, items: int, seed: int) -> Iterator[float]:
    rng = np.random.default_rng([seed, 3])
    latent = rng.standard_normal(items)
    tuples = design_tuples(items, factor=2, seed=seed).tuples
    judged = answered(tuples, latent, noise, rng)
    for each in REPORTED_AT:
        while len(judged) < each * items:
            judged = together(judged, answered(scheme(tuples, judged, rng), latent, noise, rng))
        yield float(spearmanr(fitted(judged).utilities, latent).statistic)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=10)
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--noise", type=float, nargs="+", default=[0.3, 0.5, 0.7, 1.0, 1.5])
    options = parser.parse_args()
    for noise in options.noise:
        found = {
            scheme.__name__: np.array(
                [list(reached(scheme, noise, options.items, seed)) for seed in range(options.campaigns)]
            )
            for scheme in (again, adaptive_at_1, adaptive)
        }
        for index, each in enumerate(REPORTED_AT):
            columns = {name: values[:, index] for name, values in found.items()}
            means = ", ".join(f"{name} {values.mean():.4f}" for name, values in columns.items())
            gains = ", ".join(
                f"{gain.mean():+.4f} ± {gain.std(ddof=1) / np.sqrt(options.campaigns):.4f}"
                for gain in (columns["adaptive"] - columns[name] for name in ("again", "adaptive_at_1"))
            )
            print(
                f"noise {noise}, {each:g} judgements per item: {means}; adaptive against both: {gains}",
                flush=True,
            )


if __name__ == "__main__":
    main()
