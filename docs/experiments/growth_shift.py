"""How far the scores of pairs that join a campaign by bridge tuples are shifted against those that were there.

200 items are judged in a design of their own. Then 100 join that are better on average, by bridge tuples with anchors
among the first. A second campaign asks about all 300 in one design. The shift of a group is the mean of its scores in
the grown campaign less that in the one design, both less the same of the first items that were no anchors (0..1). The
methods: counting, MaxDiff with one prior mean, MaxDiff with a prior mean for the first items and one for those that
joined, all estimated from the same judgements. Everything is simulated.

    python docs/experiments/growth_shift.py [--campaigns 20]
"""

import argparse
from functools import partial

import numpy as np

from annotation.bws.designs.bridging import bridge_design
from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
from annotation.bws.studies.simulation import differing_annotators, simulated_judgements

FIRST, JOINED, EACH, PEOPLE = 200, 100, 2, 12
GROUPS = np.repeat([0, 1], [FIRST, JOINED])


def counting(judged: Judgements) -> FloatArray:
    return counting_scores(judged).values


def maxdiff(judged: Judgements, *, groups: IntArray | None = None) -> FloatArray:
    return maxdiff_scores(judged, groups=groups).values


METHODS = {
    "counting": counting,
    "MaxDiff, one mean": maxdiff,
    "MaxDiff, a mean per group": partial(maxdiff, groups=GROUPS),
}


def shifts(seed: int, better: float) -> dict[str, tuple[float, float]]:
    """By method, of those that joined and of the anchors."""
    rng = np.random.default_rng([seed, 8])
    latent = rng.standard_normal(FIRST + JOINED) + better * GROUPS
    people = differing_annotators(PEOPLE, noise=0.7, spread=0.35, careless=0.05, rng=rng)
    judge = partial(simulated_judgements, latent=latent, annotators=people, judgements_per_tuple=EACH)
    first = judge(design_tuples(FIRST, seed=seed).tuples, seed=seed)
    items, bridges = bridge_design(counting_scores(first).values[:FIRST], JOINED, seed=seed)
    grown = together(first, judge(items[bridges.tuples], seed=seed + 1))
    whole = judge(design_tuples(FIRST + JOINED, seed=seed).tuples, seed=seed + 2)
    anchors = np.isin(np.arange(FIRST + JOINED), items) & (GROUPS == 0)
    others = (GROUPS == 0) & ~anchors
    found = {}
    for name, method in METHODS.items():
        change = method(grown) - method(whole)  # (300,)
        base = change[others].mean()
        found[name] = (change[GROUPS == 1].mean() - base, change[anchors].mean() - base)
    return found


def together(first: Judgements, second: Judgements) -> Judgements:
    parts = [
        np.concatenate([getattr(first, name), getattr(second, name)]) for name in ("items", "best", "worst")
    ]
    return Judgements(*parts, item_count=second.item_count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=20)
    campaigns = parser.parse_args().campaigns
    for better in (0.0, 0.5, 1.0):
        found = [shifts(seed, better) for seed in range(campaigns)]
        for name in METHODS:
            values = np.array([each[name] for each in found])  # (campaigns, 2)
            means, errors = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(campaigns)
            print(
                f"joined better by {better:g}, {name:26} joined {means[0]:+.3f} ± {errors[0]:.3f}, "
                f"anchors {means[1]:+.3f} ± {errors[1]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
