"""How often the intervals of raters' agreement hold: pairs and raters with normal effects, 1,000 tables a row.

    python docs/experiments/rater_agreement.py [--tables 1000]

A rating is the pair's effect plus a residual; its variance is 1. The pairs' share of it is the true ICC(1), and so are
alpha and ICC(2), as no rater is stricter than another.
"""

import argparse

import numpy as np

from curation.pairs.raters import Agreed, rater_agreement

SEED = 13
ROWS = [
    (pairs, raters, share) for pairs in (10, 30, 100, 500) for raters, share in ((3, 0.3), (3, 0.8), (5, 0.9))
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=1000)
    tables = parser.parse_args().tables
    rng = np.random.default_rng(SEED)
    print("| pairs | raters | true | ICC(1) | of the mean | ICC(2) | of the mean | alpha | width of ICC(1) |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for pairs, raters, share in ROWS:
        held, width = np.zeros(5), 0.0
        number, rater = (each.ravel() for each in np.indices((pairs, raters)))
        of_mean = raters * share / (1 + (raters - 1) * share)  # Spearman and Brown
        for _ in range(tables):
            values = np.sqrt(share) * rng.normal(size=(pairs, 1)) + np.sqrt(1 - share) * rng.normal(
                size=(pairs, raters)
            )
            found = rater_agreement(number, rater, values.ravel())
            truths = zip(
                (found.one, found.mean, found.two, found.two_mean, found.alpha),
                (share, of_mean) * 2 + (share,),
                strict=True,
            )
            held += [contains(each, truth) for each, truth in truths]
            width += found.one.high - found.one.low
        shares = " | ".join(f"{each:.3f}" for each in held / tables)
        print(f"| {pairs} | {raters} | {share} | {shares} | {width / tables:.2f} |", flush=True)


def contains(figure: Agreed, truth: float) -> bool:
    return figure.low <= truth <= figure.high


if __name__ == "__main__":
    main()
