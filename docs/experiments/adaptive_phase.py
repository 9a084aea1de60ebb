"""How many judgements an accuracy costs: a fixed design with counting or MaxDiff, random blocks, adaptive blocks.

600 items, true values from a normal distribution, annotators with noise. The accuracy to reach is that of counting with
8 judgements per item on a fixed design of 2 N tuples. The other methods stop when they reach it. Everything is
simulated.

    python docs/experiments/adaptive_phase.py [--campaigns 10]
"""

import argparse
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

from annotation.bws.designs.adaptive import adaptive_block
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, fit_utilities, posterior_errors
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices

ITEMS, PRIOR, MOST = 600, 0.3, 10.0
Tuples = np.ndarray
Next = Callable[[Posterior | None, int, np.random.Generator], Tuples]


def answered(tuples: Tuples, latent: np.ndarray, noise: float, rng: np.random.Generator) -> Judgements:
    best, worst = simulated_choices(latent[tuples], SimulatedAnnotator(noise=noise), rng)
    return Judgements.from_slots(tuples, best, worst, item_count=len(latent))


def together(first: Judgements, second: Judgements) -> Judgements:
    parts = [
        np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("items", "best", "worst")
    ]
    return Judgements(*parts, item_count=first.item_count)


def goal(noise: float, campaigns: int) -> float:
    """The accuracy of counting with 8 N judgements on a fixed design, over campaigns of their own."""
    found = []
    for seed in range(campaigns):
        rng = np.random.default_rng([seed, 1])
        latent = rng.standard_normal(ITEMS)
        tuples = np.repeat(design_tuples(ITEMS, factor=2, seed=seed).tuples, 4, axis=0)
        scores = counting_scores(answered(tuples, latent, noise, rng)).values
        found.append(spearmanr(scores, latent).statistic)
    return float(np.mean(found))


def cost(scheme: Next, noise: float, seed: int, wanted: float) -> float:
    """Judgements an item until MaxDiff on what the scheme asks for reaches the accuracy."""
    rng = np.random.default_rng([seed, 2])
    latent = rng.standard_normal(ITEMS)
    judged, fit, block = None, None, 0
    while judged is None or len(judged) < MOST * ITEMS:
        new = answered(scheme(fit, block, rng), latent, noise, rng)
        judged = new if judged is None else together(judged, new)
        fit = fit_utilities(MaxDiffLikelihood(judged), prior_precision=PRIOR)
        block += 1
        if spearmanr(fit.utilities, latent).statistic >= wanted:
            break
    return len(judged) / ITEMS


def random_blocks(_fit: Posterior | None, _block: int, rng: np.random.Generator) -> Tuples:
    return rng.permutation(ITEMS).reshape(-1, 4)


def adaptive(fit: Posterior | None, block: int, rng: np.random.Generator) -> Tuples:
    """Two random blocks, then those that the judgements so far ask for."""
    if fit is None or block < 2:
        return random_blocks(fit, block, rng)
    return adaptive_block(fit.utilities, posterior_errors(fit.precision)[0], seed=int(rng.integers(2**31)))


def fixed(seed: int) -> Next:
    """A design of 2 N tuples, asked from its beginning, again and again."""
    tuples = design_tuples(ITEMS, factor=2, seed=seed).tuples

    def following(_fit: Posterior | None, block: int, _rng: np.random.Generator) -> Tuples:
        blocks = np.array_split(tuples, 8)
        return blocks[block % 8]

    return following


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=10)
    campaigns = parser.parse_args().campaigns
    for noise in (0.5, 1.0):
        wanted = goal(noise, campaigns)
        print(
            f"noise {noise}: counting with 8 judgements an item reaches Spearman {wanted:.4f}; MaxDiff needs"
        )
        for name, scheme in (
            ("fixed design", None),
            ("random blocks", random_blocks),
            ("adaptive", adaptive),
        ):
            costs = [cost(scheme or fixed(seed), noise, seed, wanted) for seed in range(campaigns)]
            error = np.std(costs, ddof=1) / np.sqrt(campaigns)
            print(f"  {name}: {np.mean(costs):.2f} ± {error:.2f} judgements an item ({campaigns} campaigns)")


if __name__ == "__main__":
    main()
