"""Replication on Ruddit: how many judgements per tuple do MaxDiff and counting need?

    python docs/experiments/ruddit_halves.py $DATA/ruddit/Ruddit_individual_annotations.csv [--trials 40]

Rows with gold_comment and rows whose best is their worst are left out. The script splits the tuples into two halves at
random. In one half it keeps 1, 2, 3, 4 and 6 judgements of each tuple, and it scores both halves by the same method.
The figure is the Spearman correlation between the two scorings: its mean over the trials, with the standard error of
the mean.
"""

import argparse
import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.reliability.replication import compared_methods, replication
from annotation.bws.scores.refitting import maxdiff_fit

NUMBERS = (1, 2, 3, 4, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judgements", type=Path)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1234)
    options = parser.parse_args()
    judgements = read_judgements(options.judgements, without=["gold_comment"]).judgements
    figures: dict[str, list[dict[str, float]]] = {}
    print(
        f"{len(judgements):,} judgements, {judgements.item_count:,} items, {options.trials} splits of the tuples"
    )
    print("judgements of a tuple  " + "  ".join(f"{number:>11}" for number in NUMBERS))
    for name, method in compared_methods(maxdiff_fit(judgements).settings).items():
        found = [
            replication(
                judgements, method, judgements_per_tuple=number, trials=options.trials, seed=options.seed
            )
            for number in NUMBERS
        ]
        errors = [point.spearman_sd / math.sqrt(point.trials) for point in found]
        cells = (
            f"{point.spearman_mean:.3f} ±{error:.4f}" for point, error in zip(found, errors, strict=True)
        )
        print(f"{name:<21}  " + "  ".join(cells))
        figures[name] = [
            {
                "judgements_per_tuple": point.judgements_per_tuple,
                "spearman": point.spearman_mean,
                "error": error,
            }
            for point, error in zip(found, errors, strict=True)
        ]
    print(json.dumps({"trials": options.trials, "seed": options.seed, "figures": figures}))


if __name__ == "__main__":
    main()
