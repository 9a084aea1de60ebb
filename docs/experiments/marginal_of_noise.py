"""The marginal reliability of judgements that say nothing: best and worst are drawn at random, so 0 is right.

python docs/experiments/marginal_of_noise.py
"""

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.report import scores_report

EACH, CAMPAIGNS = 4, 20


def judged_at_random(items: int, seed: int) -> Judgements:
    rng = np.random.default_rng([seed, items])
    tuples = np.repeat(design_tuples(items, seed=seed).tuples, EACH, axis=0)
    best = rng.integers(4, size=len(tuples))
    worst = (best + rng.integers(1, 4, size=len(tuples))) % 4
    return Judgements.from_slots(tuples, best, worst, item_count=items)


def main() -> None:
    for items in (30, 100, 300, 1000):
        found = [
            scores_report(judged_at_random(items, seed), seed=seed)["marginal_reliability"]
            for seed in range(CAMPAIGNS)
        ]
        print(
            f"{items:5} items: mean {np.mean(found):.2f}, from {min(found):.2f} to {max(found):.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
