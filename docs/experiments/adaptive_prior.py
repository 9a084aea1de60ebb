"""What a prior score per pair is worth to the adaptive phase: for choosing tuples, and for scoring.

200 items of normal true values and a prior score z of each, with a given correlation to the truth. A design is judged
once (--factor 4-tuples per item), and as many judgements again are asked for in adaptive blocks. The judgements of the
design estimate the slope b of the utilities on z and the precision of what is left, by the highest marginal likelihood
(Laplace), and with them the correlation of z with the utilities and the lower end of its 95 % interval.

Tuples are chosen from a MaxDiff fit in four ways: with a prior mean of 0 (precision 1, as in campaigns; or estimated),
of b z (precision of the rest), or of the logit of z on 0..1 (precision 1: no slope is estimated). At the end every
campaign is scored by MaxDiff with an estimated precision, once with a prior mean of 0 and once with b z. The guard uses
the prior only if the lower end is above a bound. Error: sqrt(1 - r^2) with r the correlation with the truth, so the
standard deviation of what the scores leave unknown, in those of the truth. Everything is simulated.

    python docs/experiments/adaptive_prior.py [--campaigns 20] [--factor 1]
"""

import argparse
from dataclasses import dataclass

import numpy as np
from adaptive_phase import answered, together
from scipy.optimize import minimize_scalar
from scipy.special import logit
from scipy.stats import norm, pearsonr, t

from annotation.bws.designs.adaptive import adaptive_block
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, Judgements
from annotation.bws.scores.empirical_bayes import log_determinant
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import fit_utilities, posterior_errors, solve

ITEMS = 200
NOISES = (0.3, 0.7, 1.0)
CORRELATIONS = (0.0, 0.3, 0.6, 0.8, 0.9)
BOUNDS = (0.5, 0.7, 0.8)
LOG_PRECISIONS = (-4.0, 3.0)


@dataclass(frozen=True, eq=False)
class Expected:
    """A prior mean of the utilities (m,), the precision around it, and how z correlates with them, with its low end."""

    mean: FloatArray
    precision: float
    correlation: float = 0.0
    low: float = 0.0


def estimated(judged: Judgements, z: FloatArray) -> Expected:
    """The slope on z (m,) and the precision that make the judgements likeliest; a z of zeros estimates no slope."""
    likelihood = MaxDiffLikelihood(judged)
    slope, start = 0.0, np.zeros(len(z))

    def loss(log_precision: float) -> float:
        """Less the log marginal likelihood at the best slope, which it leaves in `slope` with its error."""
        nonlocal slope, start, error
        precision = float(np.exp(log_precision))
        for _ in range(20):
            fit = fit_utilities(likelihood, prior_precision=precision, prior_mean=slope * z, start=start)
            start = fit.utilities
            if not z.any():
                break
            curvature = precision * float(z @ z) - precision**2 * float(z @ solve(fit.precision, z))
            step = precision * float(z @ (fit.utilities - slope * z)) / curvature
            slope, error = slope + step, curvature**-0.5
            if abs(step) < 0.01 * error:
                break
        away = fit.utilities - fit.prior_mean
        evidence = likelihood.value(fit.utilities) - precision / 2 * float(away @ away)
        return -evidence - (len(z) * log_precision - log_determinant(fit.precision)) / 2

    error = 0.0
    found = minimize_scalar(loss, bounds=LOG_PRECISIONS, method="bounded", options={"xatol": 0.05})
    loss(found.x)
    precision = float(np.exp(found.x))

    def correlation(slope: float) -> float:
        return slope * z.std() / np.sqrt(slope**2 * z.var() + 1 / precision)

    return Expected(slope * z, precision, correlation(slope), correlation(slope - 1.96 * error))


def grown(judged: Judgements, latent: FloatArray, noise: float, expected: Expected, seed: int) -> Judgements:
    """As many judgements again, each block chosen from all before it."""
    rng = np.random.default_rng([seed, 5])
    wanted = 2 * len(judged)
    while len(judged) < wanted:
        fit = fit_utilities(
            MaxDiffLikelihood(judged), prior_precision=expected.precision, prior_mean=expected.mean
        )
        errors = posterior_errors(fit.precision)[0]
        block = adaptive_block(fit.utilities, errors, seed=int(rng.integers(2**31)))
        judged = together(judged, answered(block[: wanted - len(judged)], latent, noise, rng))
    return judged


def scored(judged: Judgements, z: FloatArray) -> FloatArray:
    expected = estimated(judged, z)
    fit = fit_utilities(
        MaxDiffLikelihood(judged), prior_precision=expected.precision, prior_mean=expected.mean
    )
    return fit.utilities


def unknown(scores: FloatArray, latent: FloatArray) -> float:
    return float(np.sqrt(1 - pearsonr(scores, latent).statistic ** 2))


def campaign(noise: float, factor: int, seed: int) -> np.ndarray:
    """For each correlation a row (10,): the estimated one and its low end; six errors; and how z correlates with the
    scores without and with b z, where b z chose.

    The errors, as chosen and scored: 0 with precision 1 and 0; the same and b z; 0 with an estimated precision and 0;
    b z and 0; b z and b z; logit of z and 0.
    """
    rng = np.random.default_rng([seed, 4])
    latent, beside = rng.standard_normal((2, ITEMS))
    tuples = design_tuples(ITEMS, factor=factor, seed=seed).tuples
    judged = answered(tuples, latent, noise, rng)
    zeros = np.zeros(ITEMS)
    without = [
        grown(judged, latent, noise, expected, seed)
        for expected in (Expected(zeros, 1.0), estimated(judged, zeros))
    ]
    base, other = (unknown(scored(every, zeros), latent) for every in without)
    rows = []
    for true in CORRELATIONS:
        z = true * latent + np.sqrt(1 - true**2) * beside
        slope = estimated(judged, z)
        raw = Expected(logit(np.clip(norm.cdf(z), 0.02, 0.98)), 1.0)
        sloped, plain = (grown(judged, latent, noise, expected, seed) for expected in (slope, raw))
        of_z = [scored(sloped, zeros), scored(sloped, z)]
        row = [slope.correlation, slope.low, base, unknown(scored(without[0], z), latent), other]
        row += [unknown(scores, latent) for scores in of_z]
        row += [unknown(scored(plain, zeros), latent)]
        rows.append([*row, *(pearsonr(scores, z).statistic for scores in of_z)])
    return np.array(rows)


def interval(values: np.ndarray) -> str:
    """The mean over campaigns and its 95 % interval."""
    half = t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.4f} ± {half:.4f}"


def report(noise: float, rows: np.ndarray) -> None:
    """rows: (campaigns, correlations, columns of `campaign`). Differences are those of the error."""
    base, estimated_base = rows[:, 0, 2], rows[:, 0, 4]
    print(f"\nnoise {noise}: error without a prior {base.mean():.4f}")
    print(f"  chosen with an estimated precision:    {interval(estimated_base - base)}")
    for index, true in enumerate(CORRELATIONS):
        row = rows[:, index]
        by_z, scored_z = row[:, 5] - estimated_base, row[:, 3] - base
        print(f"  correlation {true}: estimated {row[:, 0].mean():.3f}, low end {row[:, 1].mean():.3f}")
        print(f"    chosen with logit of z:              {interval(row[:, 7] - base)}")
        print(f"    chosen with b z, not with 0:         {interval(by_z)}")
        print(f"    scored with b z:                     {interval(scored_z)}")
        print(f"    chosen and scored with b z:          {interval(row[:, 6] - base)}")
        for bound in BOUNDS:
            on = row[:, 1] > bound
            print(
                f"    only with a low end above {bound} ({on.mean():.2f}): choosing {interval(on * by_z)}, "
                f"scoring {interval(on * scored_z)}"
            )
        print(f"    z with scores without, with b z:     {row[:, 8].mean():.3f}, {row[:, 9].mean():.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20)
    parser.add_argument("--factor", type=int, default=1)
    options = parser.parse_args()
    print(f"{ITEMS} items, {options.factor} tuples per item judged once, then as many judgements again")
    for noise in NOISES:
        report(noise, np.stack([campaign(noise, options.factor, seed) for seed in range(options.campaigns)]))


if __name__ == "__main__":
    main()
