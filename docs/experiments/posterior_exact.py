"""What normal intervals of MaxDiff lack: the exact posterior beside them, and the intervals that are in use.

    python docs/experiments/posterior_exact.py [--campaigns 60] [--judgements 1 2 4 8] [--in-use]

100 items with utilities of standard deviation 1.7 in two 4-tuples each; choices drawn from the model. The exact
posterior comes from Hamiltonian Monte Carlo, with steps scaled by the normal approximation. `--in-use`: only what
`maxdiff_scores` gives.
"""

import argparse

import numpy as np
from interval_coverage import EQUAL, ITEMS, held, maxdiff_choices

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.contrasts import contrasts
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, fit_utilities, inverse
from annotation.bws.scores.scoring import maxdiff_scores

SPREAD, DRAWS, BURN_IN, LEAPS = 1.7, 1500, 100, 6
ITEMS_ADDED = 2.0  # the prior of the precision that is in use


def drawn_posterior(
    likelihood: MaxDiffLikelihood, mode: Posterior, rng: np.random.Generator, *, precision_too: bool = False
) -> tuple[np.ndarray, float]:
    """Draws (DRAWS, m) of the utilities, less the mean of each draw, and the geometric mean of the precision."""
    root, precision = np.linalg.cholesky(inverse(mode.precision)), mode.prior_precision

    def height(place: np.ndarray) -> tuple[float, np.ndarray]:
        utilities = mode.utilities + root @ place
        value = likelihood.value(utilities) - precision / 2 * float(utilities @ utilities)
        return value, root.T @ (likelihood.expand(utilities)[0] - precision * utilities)

    place, draws, precisions = rng.standard_normal(ITEMS), [], []
    value, slope = height(place)
    for step in range(DRAWS + BURN_IN):
        momentum, size = rng.standard_normal(ITEMS), rng.uniform(0.15, 0.35)
        energy = value - momentum @ momentum / 2
        here, now = place, momentum + size / 2 * slope
        for leap in range(LEAPS):
            here = here + size * now
            there, steep = height(here)
            now = now + (size if leap < LEAPS - 1 else size / 2) * steep
        if np.log(rng.random()) < there - now @ now / 2 - energy:
            place, value, slope = here, there, steep
        utilities = mode.utilities + root @ place
        if precision_too:
            shape = (ITEMS + ITEMS_ADDED) / 2
            precision = rng.gamma(shape, 2 / (utilities @ utilities + ITEMS_ADDED))
            value, slope = height(place)
        if step >= BURN_IN:
            draws.append(utilities - utilities.mean())
            precisions.append(precision)
    return np.array(draws), float(np.exp(np.log(precisions).mean()))


def ways(likelihood: MaxDiffLikelihood, truth: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    found, estimated = {}, fit_with_prior(likelihood).prior_precision
    found["precision estimated"] = estimated
    for name, precision in (("known", SPREAD**-2), ("estimated", estimated)):
        mode = fit_utilities(likelihood, prior_precision=precision)
        draws, _precision = drawn_posterior(likelihood, mode, rng)
        centre, curved = mode.utilities - mode.utilities.mean(), contrasts(mode).errors
        mean, deviation = draws.mean(axis=0), draws.std(axis=0)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        found[f"{name}: quantiles"] = ((low < truth) & (truth < high)).mean()
        for label, middle, error in (
            ("mode, curvature", centre, curved),
            ("mean, deviation", mean, deviation),
            ("mode, deviation", centre, deviation),
            ("mean, curvature", mean, curved),
        ):
            found[f"{name}: {label}"] = (np.abs(middle - truth) < 1.96 * error).mean()
        found[f"{name}: deviation / curvature"] = (deviation / curved).mean()
        found[f"{name}: mean - mode, in errors"] = np.sqrt((((mean - centre) / curved) ** 2).mean())
        found[f"{name}: error of the mode"] = np.sqrt(((centre - truth) ** 2).mean())
        found[f"{name}: error of the mean"] = np.sqrt(((mean - truth) ** 2).mean())
    draws, found["precision drawn"] = drawn_posterior(likelihood, mode, rng, precision_too=True)
    away = np.abs(draws.mean(axis=0) - truth)
    found["precision drawn: mean, deviation"] = (away < 1.96 * draws.std(axis=0)).mean()
    return found


def campaign(each: int, in_use: bool, rng: np.random.Generator) -> dict[str, float]:
    utilities = SPREAD * rng.standard_normal(ITEMS)
    utilities[EQUAL + 1] = utilities[EQUAL]
    tuples = np.repeat(design_tuples(ITEMS, seed=int(rng.integers(50))).tuples, each, axis=0)
    judged = Judgements.from_slots(tuples, *maxdiff_choices(utilities[tuples], rng), item_count=ITEMS)
    truth = utilities - utilities.mean()
    if in_use:
        covered, different = held(maxdiff_scores(judged), truth)
        return {"held": covered, "equal items called different": different}
    return ways(MaxDiffLikelihood(judged), truth, rng)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=60)
    parser.add_argument("--judgements", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--in-use", action="store_true")
    options = parser.parse_args()
    for each in options.judgements:
        rng = np.random.default_rng(each)
        found = [campaign(each, options.in_use, rng) for _ in range(options.campaigns)]
        print(f"{each} judgements per tuple")
        for name in found[0]:
            values = np.array([one[name] for one in found])
            error = values.std(ddof=1) / np.sqrt(len(values))
            print(f"    {name:36} {values.mean():.4f} ± {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
