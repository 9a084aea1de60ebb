"""Does a language model of this machine find the most and the least similar of four pairs of the STS benchmark?

    PYTHONPATH=. python docs/experiments/judge_by_language_model.py DEV.csv FOLDER [--tuples 100]

DEV.csv: the published stsb-en-dev.csv, of columns sentence, sentence, score in 0..5. FOLDER: a causal model in
safetensors, such as the folder below SEMBLANCE_HOME/converted of packaged:SmolLM2-135M-Instruct. Of each tuple one
pair has a score of at most .8, one of 1.4 to 2.2, one of 2.8 to 3.6 and one of at least 4.4, in random order; each is
asked in two orders, without guidelines. Guessing finds 1/4.
"""

import argparse
import csv
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import sem, t

from mlworkers.science.judges.asking import Asking
from mlworkers.science.judges.writing import WritingJudge
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.synthesis.generator import load_generator

SEED = 5
BANDS = ((0.0, 0.8), (1.4, 2.2), (2.8, 3.6), (4.4, 5.0))
ASKING = Asking(
    "Which pair is most related in meaning, and which is least related?", "most related", "least related"
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dev", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tuples", type=int, default=100)
    asked = parser.parse_args()
    with asked.dev.open(encoding="utf-8", newline="") as file:
        scored = [(float(score), a, b) for a, b, score in csv.reader(file)]
    bands = [[pair for pair in scored if low <= pair[0] <= high] for low, high in BANDS]
    judge = WritingJudge(load_generator(asked.folder, choose_compute("cpu")), ASKING)
    rng = np.random.default_rng(SEED)
    # Of each tuple the share of its two orders in which the choice was right, and whether both had the same answer.
    best, worst, same = [], [], []
    places = Counter[tuple[int, int]]()
    for _ in range(asked.tuples):
        four = [band[int(rng.integers(len(band)))] for band in bands]
        order = rng.permutation(4).tolist()
        chosen = []
        for shown in (order, order[::-1]):
            choice = judge.choice([four[place][1:] for place in shown])
            places[choice.best, choice.worst] += 1
            chosen.append((shown[choice.best], shown[choice.worst]))
        best.append(np.mean([one == 3 for one, _other in chosen]))
        worst.append(np.mean([other == 0 for _one, other in chosen]))
        same.append(float(chosen[0] == chosen[1]))
    print(f"{asked.tuples} tuples in two orders; 95 % intervals over tuples (Student's t)")
    for name, shares in (
        ("the most similar found", best),
        ("the least similar found", worst),
        ("the same answer in both orders", same),
    ):
        low, high = t.interval(0.95, len(shares) - 1, np.mean(shares), sem(shares))
        print(f"{name}: {np.mean(shares):.3f} ({low:.3f} to {high:.3f})")
    print(f"places of the answers (best, worst), from 0: {dict(places.most_common())}")


if __name__ == "__main__":
    main()
