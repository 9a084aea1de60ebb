"""The linguistic figures of a file's pairs, and whether the 95 % intervals of an analysis hold them.

The pairs of a file are taken as everything that could be drawn. Groups of so many pairs are drawn from them, analysed,
and the share of intervals that hold the figure of all pairs at the same number of tokens is printed, with the share of
differences of two such groups whose interval excludes 0 (they are drawn alike, so 5 % should).

    python docs/experiments/linguistic_coverage.py $SEMBLANCE_REAL_DATA/stsb/stsb-en-train.csv
"""

import argparse
import csv
from collections import Counter

import numpy as np

from mlworkers.science.linguistics.analysis import linguistic_analysis
from mlworkers.science.linguistics.diversity import distinct, sentences_tokenised, zipf_coefficient
from mlworkers.science.linguistics.groups import AnalysedPairs
from mlworkers.science.linguistics.measures import DIVERSITY, MEASURES, Group
from mlworkers.science.linguistics.tokens import tokens_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="CSV of two sentences per row, without a header")
    parser.add_argument("--pairs", type=int, default=300, help="of each group")
    parser.add_argument("--groups", type=int, default=200, help="analyses, each of two groups")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with open(options.file, encoding="utf-8", newline="") as file:
        rows = [(first, second) for first, second, *_rest in csv.reader(file)]
    known: dict[str, int] = {}
    a, b = (np.array([known.setdefault(row[side], len(known)) for row in rows]) for side in (0, 1))
    texts = np.array(rows, dtype=object)
    rng = np.random.default_rng(options.seed)
    # The second sentences are what both groups are judged by, as those of generated pairs are.
    everything = sentences_tokenised([tokens_of(text) for text in dict.fromkeys(texts[:, 1].tolist())])
    overlaps = linguistic_analysis(
        _pairs(texts, a, b, np.arange(len(rows)), np.zeros(len(rows))), share=0.5, seed=0, report=_silent
    )[0].groups[0]
    own = linguistic_analysis(
        _pairs(texts, a, b, np.arange(len(rows)), np.zeros(len(rows)), generated=False),
        share=0.5,
        seed=0,
        report=_silent,
    )[0].groups[0]
    for name in MEASURES:
        value = own.at_own_size[name] if name in DIVERSITY else own.figures[name].value
        print(f"{name:18} of all pairs {value:.4f}")
    held: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for trial in range(options.groups):
        drawn = rng.permutation(len(rows))[: 2 * options.pairs]
        realism = np.repeat([0.0, 1.0], options.pairs)
        family = linguistic_analysis(
            _pairs(texts[drawn], a[drawn], b[drawn], drawn, realism), share=0.5, seed=trial, report=_silent
        )[0]
        lowest = next(each for each in family.groups if each.group is Group.LOWEST)
        for name in MEASURES:
            estimate = lowest.figures[name]
            true = (
                _diversity(everything, name, family.budget, rng)
                if name in DIVERSITY
                else overlaps.figures[name].value
            )
            held[name] += estimate.low <= true <= estimate.high
            apart = family.highest_minus_lowest[name]
            different[name] += not apart.low <= 0 <= apart.high
    print(f"{options.groups} analyses of two groups of {options.pairs} pairs")
    for name in MEASURES:
        print(
            f"{name:18} held {held[name] / options.groups:.3f}  different {different[name] / options.groups:.3f}"
        )


def _pairs(texts, a, b, numbers, realism, *, generated: bool = True) -> AnalysedPairs:
    return AnalysedPairs(
        numbers=numbers,
        a=a,
        b=b,
        first=texts[:, 0],
        second=texts[:, 1],
        generated=np.full(len(numbers), generated),
        realism=realism,
        target=np.full(len(numbers), np.nan),
    )


def _diversity(sentences, name: str, budget: int, rng) -> float:
    if name.startswith("Zipf"):
        orders = [rng.permutation(sentences.size) for _draw in range(100)]
        return zipf_coefficient(sentences, budget=budget, orders=orders)
    if name == "Distinct-N":
        return float(np.mean([distinct(sentences, n, budget=budget) for n in (1, 2, 3)]))
    return distinct(sentences, int(name[-1]), budget=budget)


def _silent(*_report: object) -> None:
    pass


if __name__ == "__main__":
    main()
