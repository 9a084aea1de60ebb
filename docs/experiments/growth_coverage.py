"""How often the 95 % intervals of MaxDiff hold the truth in a campaign that pairs joined later.

120 items of normal utilities are judged in a design of their own, then 60 join by bridge tuples. Their utilities are
higher by a number of standard deviations. Choices are drawn from the MaxDiff model. Counted are intervals of the
difference between the groups' mean utilities, of differences between an item of one and an item of the other group
(20 random ones of each campaign), and of single items: with one prior mean for all, with a prior mean per group that is
taken as known, and with one that is known as well as the judgements say. Everything is simulated.

    python docs/experiments/growth_coverage.py [--campaigns 100] [--spread 1.7]
"""

import argparse

import numpy as np
from interval_coverage import maxdiff_choices

from annotation.bws.designs.bridging import bridge_design
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.scores.contrasts import Contrasts, contrasts
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.prior_means import with_uncertain_means
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.scores.variational import averaged

FIRST, JOINED, EACH, PAIRS = 120, 60, 2, 20
GROUPS = np.repeat([0, 1], [FIRST, JOINED])
METHODS = ("one mean", "means taken as known", "means with their errors")


def judged(tuples: IntArray, utilities: FloatArray, rng: np.random.Generator) -> Judgements:
    asked = np.repeat(tuples, EACH, axis=0)
    return Judgements.from_slots(asked, *maxdiff_choices(utilities[asked], rng), item_count=FIRST + JOINED)


def fitted(judgements: Judgements, method: str) -> tuple[FloatArray, Contrasts]:
    groups = None if method == METHODS[0] else GROUPS
    likelihood = MaxDiffLikelihood(judgements)
    posterior = averaged(likelihood, fit_with_prior(likelihood, groups=groups), precision_known=False)
    if method == METHODS[2]:
        posterior = with_uncertain_means(posterior, GROUPS)
    return posterior.utilities, contrasts(posterior)


def campaign(seed: int, better: float, spread: float) -> dict[str, FloatArray]:
    """By method: whether the interval of the groups' difference holds, and the shares of differences and of items.

    The fourth figure is the error of the groups' difference.
    """
    rng = np.random.default_rng([seed, 9])
    truth = spread * (rng.standard_normal(FIRST + JOINED) + better * GROUPS)
    first = judged(design_tuples(FIRST, seed=seed).tuples, truth, rng)
    items, bridges = bridge_design(counting_scores(first).values[:FIRST], JOINED, seed=seed)
    second = judged(items[bridges.tuples], truth, rng)
    columns = (
        np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("items", "best", "worst")
    )
    together = Judgements(*columns, item_count=FIRST + JOINED)
    left, right = rng.integers(FIRST, FIRST + JOINED, PAIRS), rng.integers(0, FIRST, PAIRS)
    weights = np.where(GROUPS == 1, 1 / JOINED, -1 / FIRST)
    found = {}
    for method in METHODS:
        utilities, errors = fitted(together, method)
        assert errors.covariance is not None  # noqa: S101
        off = utilities - utilities.mean() - truth + truth.mean()
        group_error = float(np.sqrt(weights @ errors.covariance @ weights))
        pairs_hold = np.abs(off[left] - off[right]) < 1.96 * errors.of_differences(left, right)
        items_hold = np.abs(off) < 1.96 * errors.errors
        group = abs(weights @ off) < 1.96 * group_error
        found[method] = np.array([group, pairs_hold.mean(), items_hold.mean(), weights @ off])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=100)
    parser.add_argument("--spread", type=float, default=1.7)
    options = parser.parse_args()
    for better in (0.0, 1.0):
        found = [campaign(seed, better, options.spread) for seed in range(options.campaigns)]
        for method in METHODS:
            values = np.array([each[method] for each in found])
            group, pairs, items, off = values.mean(axis=0)
            print(
                f"joined better by {better:g}, {method:24} groups' difference {group:.3f} (off {off:+.3f}), "
                f"differences of two items {pairs:.3f}, single items {items:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
