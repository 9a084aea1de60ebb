"""How far the standard errors that are estimated for many items are from the exact ones, where the prior is weak.

    python docs/experiments/probed_errors.py [--items 4000]

Two 4-tuples per item, each judged once, choices drawn from the model with the prior's precision. The exact errors come
from the inverse of the whole precision; `bws score` estimates them above 20,000 items.
"""

import argparse
from time import perf_counter

import numpy as np
from interval_coverage import maxdiff_choices

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import estimated_inverse_diagonal, fit_utilities, inverse_diagonal


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=4000)
    items = parser.parse_args().items
    rng, tuples = np.random.default_rng(1), design_tuples(items, seed=1).tuples
    usual = rng.standard_normal(items)
    for precision in (1.0, 0.3, 0.1, 0.03, 0.01):
        utilities = usual * precision**-0.5
        slots = maxdiff_choices(utilities[tuples], rng)
        judged = Judgements.from_slots(tuples, *slots, item_count=items)
        fit = fit_utilities(MaxDiffLikelihood(judged), prior_precision=precision)
        exact = inverse_diagonal(fit.precision)
        started = perf_counter()
        off = np.abs(np.sqrt(estimated_inverse_diagonal(fit.precision, seed=3) / exact) - 1)
        print(
            f"precision {precision}: mean error {off.mean():.4f}, 95 of 100 below {np.quantile(off, 0.95):.4f}, "
            f"largest {off.max():.4f}; {perf_counter() - started:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
