"""How similar the two sentences of existing pairs are in wording: the share of pairs with BLEU at most 45.

    PYTHONPATH=. python docs/experiments/wording_of_corpora.py "$DATA"

DATA has stsb/, snli/ and wikisplit/. The labels are those of the run `label_paraphrases`: `compared_text` and BLEU
of the second sentence against the first.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from curation.files.progress import silent
from mlworkers.science.paraphrasing.lexical import bleu_scores, bleu_signature
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.text import compared_text

WIKISPLIT_PAIRS = 1_500
ENTAILMENT = "0"
Pairs = Iterator[tuple[str, str]]


def stsb(folder: Path) -> Pairs:
    for path in sorted((folder / "stsb").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            yield from ((first, second) for first, second, score in csv.reader(file) if float(score) >= 4)


def snli(folder: Path) -> Pairs:
    for path in sorted((folder / "snli").glob("*.tsv")):
        for line in path.read_text("utf-8").splitlines():
            first, second, label = line.split("\t")
            if label == ENTAILMENT:
                yield first, second


def wikisplit(folder: Path) -> Pairs:
    lines = (folder / "wikisplit" / "validation.tsv").read_text("utf-8").splitlines()
    for line in lines[:WIKISPLIT_PAIRS]:
        first, second = line.split("\t")
        yield first, second.replace("<::::>", " ")


def main() -> None:
    folder, most = Path(sys.argv[1]), TagBounds().bleu_most
    print(bleu_signature())
    corpora = (("STSb, score 4 or more", stsb), ("SNLI, entailments", snli), ("WikiSplit", wikisplit))
    for name, read in corpora:
        pairs = [(compared_text(first), compared_text(second)) for first, second in read(folder)]
        whole = [pair for pair in pairs if all(pair)]
        bleu = bleu_scores([first for first, _ in whole], [second for _, second in whole], report=silent)
        share = float(np.mean(bleu <= most))
        margin = 1.96 * (share * (1 - share) / len(whole)) ** 0.5
        print(
            f"{name}: {len(whole)} pairs ({len(pairs) - len(whole)} without text), BLEU mean {bleu.mean():.1f}, "
            f"median {np.median(bleu):.1f}, at most {most}: {100 * share:.1f} % ± {100 * margin:.1f}"
        )


if __name__ == "__main__":
    main()
