"""What does each figure of reliability say about the scores of a second campaign?

Two campaigns with the same items, four judgements of each tuple, other people and other tuples. The script prints the
figures of the first, and how its scores correlate with those of the second. People are those of
`reliability_coverage.py`.

    python docs/experiments/reliability_replicated.py [--campaigns 6] [--items 200]
"""

from argparse import ArgumentParser

import numpy as np
from reliability_coverage import judged_by
from scipy.stats import pearsonr, spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.report import scores_report
from annotation.bws.reliability.split_half import Split, split_half_reliability
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores

CROWDS = {"30 alike": (30, False), "30 differ": (30, True), "5 differ": (5, True)}
FIGURES = (
    "split of judgements, split of judgements stepped up, split of tuples stepped up, ICC of counting scores; "
    "counting against counting: Pearson, Spearman; marginal reliability of MaxDiff; MaxDiff against MaxDiff: Pearson, "
    "Spearman"
)


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--campaigns", type=int, default=6)
    parser.add_argument("--items", type=int, default=200)
    options = parser.parse_args()
    designs = [design_tuples(options.items, seed=seed).tuples for seed in range(2 * options.campaigns)]
    print(FIGURES)
    for crowd, (people, differ) in CROWDS.items():
        judged = [judged_by(tuples, 4, people, differ, seed=seed) for seed, tuples in enumerate(designs)]
        rows = [_compared(one, two) for one, two in zip(judged[::2], judged[1::2], strict=True)]
        print(f"{crowd:9}:", "  ".join(f"{value:.3f}" for value in np.mean(rows, axis=0)), flush=True)


def _compared(one: Judgements, two: Judgements) -> list[float]:
    halves = split_half_reliability(one, trials=100)
    tuples = split_half_reliability(one, trials=100, split=Split.TUPLES)
    report = scores_report(one)
    counted = counting_scores(one).values, counting_scores(two).values
    # Utilities: the logit of scores between 0 and 1.
    fitted = [
        np.log(scores / (1 - scores)) for scores in (maxdiff_scores(each).values for each in (one, two))
    ]
    return [
        halves.spearman_mean,
        halves.spearman_brown,
        tuples.spearman_brown,
        report["components"]["score_icc"],
        pearsonr(*counted).statistic,
        spearmanr(*counted).statistic,
        report["marginal_reliability"],
        pearsonr(*fitted).statistic,
        spearmanr(*fitted).statistic,
    ]


if __name__ == "__main__":
    main()
