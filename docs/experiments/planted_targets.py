"""Does p_y find wrong target similarities? Wrong targets are planted in a share of STSb's training pairs.

    python docs/experiments/planted_targets.py $DATA/stsb/stsb-en-train.csv

2,000 pairs are drawn; their human scores count for the nearest of the targets 0, 0.5 and 1, and a share of them gets
another target at random. p_y learns from the human scores of the other pairs, or (circular) from the targets with the
planted ones.
AUC: the chance that a pair with its own target has a higher p_y than one with a planted target; its 95 % interval.

The contrast is p_D of the second sentences, of a classifier that is trained with sentences of a trigram model of the
same pairs as machine sentences. The planting is random, so p_D cannot know of it.

"vectors" are the features |u - v|, u * v and the cosine, with a heavier penalty.
"""

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from mlworkers.science.consistency import classifier
from mlworkers.science.consistency.classifier import label_chances, score_features
from mlworkers.science.consistency.dataset import UNKNOWN, labelled_pairs, nearest_label, planted_labels
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import model_folder, parse_source
from mlworkers.science.realism.dataset import sdi_data
from mlworkers.science.realism.discrimination import auc_interval
from mlworkers.science.realism.head import cross_fit

TARGETS = (0.0, 0.5, 1.0)
SAMPLE = 2_000
SHARES = (0.1, 0.2, 0.4)
SEED = 42
VECTOR_PENALTY = 1.0


def main(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        rows = [(row[0], row[1], float(row[2]) / 5) for row in csv.reader(file)]
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    label = nearest_label([row[2] for row in rows], TARGETS)
    rng = np.random.default_rng(SEED)
    sampled = np.zeros(len(rows), dtype=bool)
    sampled[rng.permutation(len(rows))[:SAMPLE]] = True

    compute = choose_compute("cpu")
    packaged = parse_source("packaged:all-MiniLM-L6-v2")
    encoder = load_encoder(model_folder(packaged, run_folder=no_run, hub_folder=hub_folder), compute)
    left, right = (unit(encode(encoder, side, compute)) for side in (first, second))
    cosine = score_features((left * right).sum(axis=1))  # (n, d), (n, d) -> (n,) -> (n, 2)
    vectors = np.column_stack([np.abs(left - right), left * right, cosine[:, 0]])
    p_d = realism(encoder, compute, [text for text, one in zip(second, sampled, strict=True) if one])

    print("| planted | p_y from | features | AUC (95 %) | seconds |\n|---|---|---|---|---|")
    for share in SHARES:
        wrong, marks = planted_labels(np.where(sampled, label, UNKNOWN), labels=3, share=share, seed=SEED)
        for name, learned, features in (
            ("human scores", np.where(sampled, UNKNOWN, label), "cosine"),
            ("the targets (circular)", wrong, "cosine"),
            ("human scores", np.where(sampled, UNKNOWN, label), "vectors"),
            ("the targets (circular)", wrong, "vectors"),
        ):
            if features == "vectors" and share != 0.2:
                continue
            started = perf_counter()
            pairs = labelled_pairs(first, second, learned, labels=3, folds=5, seed=SEED)
            classifier._PENALTY = VECTOR_PENALTY if features == "vectors" else 1e-4
            chances = label_chances(vectors if features == "vectors" else cosine, pairs)
            p_y = chances[np.arange(len(rows)), wrong]
            area = auc_interval(p_y[sampled], ~marks[sampled], pairs.group[sampled])
            line(share, name, features, area, perf_counter() - started)
        line(share, "(p_D)", "vector of b", auc_interval(p_d, ~marks[sampled]), 0.0)


def no_run(run: int, part: str) -> Path:
    raise SystemExit(f"run:{run}/{part} is unknown here.")


def line(share: float, name: str, features: str, area, seconds: float) -> None:
    figures = f"{area.value:.3f} ({area.low:.3f} to {area.high:.3f})"
    print(f"| {share:.0%} | {name} | {features} | {figures} | {seconds:.1f} |", flush=True)


def unit(vectors) -> np.ndarray:
    values = np.asarray(vectors, dtype=np.float64)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def realism(encoder, compute, people: Sequence[str]) -> np.ndarray:
    """The log-odds of p_D of human sentences, each from a classifier that did not see it."""
    machines = list(trigram_sentences(people, len(people)))
    texts = [*people, *machines]
    human = np.arange(len(texts)) < len(people)
    data = sdi_data(texts, human, np.ones(len(texts), dtype=bool), folds=5, seed=SEED)
    logits = cross_fit(encode(encoder, list(data.texts), compute), data, penalties=[0.1]).logits
    margins = logits[:, 1] - logits[:, 0]
    area = auc_interval(margins[data.learned], human[data.learned], data.group[data.learned])
    print(f"p_D: AUC of human and trigram sentences {area.value:.3f} ({area.low:.3f} to {area.high:.3f})\n")
    return margins[: len(people)]


def trigram_sentences(texts: Sequence[str], number: int) -> Iterator[str]:
    rng = np.random.default_rng(SEED)
    follows = defaultdict(list)
    for text in texts:
        words = ["", "", *text.split(), ""]
        for one, two, three in zip(words, words[1:], words[2:], strict=False):
            follows[one, two].append(three)
    for _number in range(number):
        words = ["", ""]
        while len(words) < 40 and (follower := str(rng.choice(follows[words[-2], words[-1]]))):
            words.append(follower)
        yield " ".join(words[2:])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
