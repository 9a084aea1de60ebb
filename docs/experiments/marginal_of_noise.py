"""The marginal reliability and its interval, of judgements that say nothing and of some that say something.

    python docs/experiments/marginal_of_noise.py [--campaigns 20]

Of judgements that say nothing, best and worst are drawn at random (a spread of 0), so a reliability of 0 is right.
Otherwise choices are drawn from the model, with utilities of the given spread (a standard deviation), and right is the
squared correlation of the fitted utilities with the true ones.
"""

import argparse

import numpy as np
from interval_coverage import maxdiff_choices

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.report import scores_report
from annotation.bws.scores.refitting import maxdiff_fit

# items, judgements per tuple, spread
CASES = (
    (30, 4, 0.0),
    (100, 4, 0.0),
    (300, 4, 0.0),
    (1000, 4, 0.0),
    (30, 1, 0.5),
    (100, 1, 0.3),
    (100, 1, 0.5),
    (100, 1, 1.7),
    (300, 1, 0.5),
    (30, 4, 1.0),
    (100, 4, 1.7),
)


def campaign(items: int, each: int, spread: float, seed: int) -> list[float]:
    """The reliability, the ends of its interval, what is right, whether it is within the interval, and the seconds."""
    rng = np.random.default_rng([seed, items])
    utilities = spread * rng.standard_normal(items)
    tuples = np.repeat(design_tuples(items, seed=seed % 20).tuples, each, axis=0)
    best, worst = maxdiff_choices(utilities[tuples], rng)
    judged = Judgements.from_slots(tuples, best, worst, item_count=items)
    fit = maxdiff_fit(judged)
    found = scores_report(judged, fit=fit, seed=seed)
    value, low, high = (found[f"marginal_reliability{end}"] for end in ("", "_low", "_high"))
    right = np.corrcoef(fit.posterior.utilities, utilities)[0, 1] ** 2 if spread else 0.0
    return [value, low, high, right, low <= right <= high, low == 0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--campaigns", type=int, default=20)
    campaigns = parser.parse_args().campaigns
    print("items, judgements per tuple, spread: mean (from, to); interval; right; held; begins at 0")
    for case in CASES:
        found = np.array([campaign(*case, seed) for seed in range(campaigns)])
        value, low, high, right, held, chance = found.mean(axis=0)
        print(
            f"{case}: {value:.3f} ({found[:, 0].min():.2f}, {found[:, 0].max():.2f}); "
            f"{low:.2f} to {high:.2f}; {right:.3f}; {held:.3f}; {chance:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
