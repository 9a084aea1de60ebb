"""How many pairs of real corpora lie in the cells of ConPGS, by the cosines of an encoder and by BLEU.

    python docs/experiments/paraphrase_yields.py FOLDER [--pairs 350]   (FOLDER: as for real_paraphrase.py)

Of each corpus so many pairs at equal distances are labelled as “Label paraphrases” does with an encoder, here with
all-MiniLM-L6-v2 as it is. Cosines are on a scale of their own: a cross-encoder that was trained on the STS benchmark
gives other similarities, and so other yields. BLEU does not depend on a model.
"""

import argparse
from pathlib import Path

import numpy as np
from real_paraphrase import PAPER, WIDE, corpora, spread

from curation.files.progress import silent
from mlworkers.pipelines.models import folder_of_model
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.paraphrasing.measured import measure
from mlworkers.science.paraphrasing.profile import profile_of
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder

MODEL = "packaged:all-MiniLM-L6-v2"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=350, help="of each corpus; default: %(default)s")
    asked = parser.parse_args()
    compute = choose_compute("cpu")
    encoder = load_encoder(folder_of_model(MODEL, kind="encoder"), compute)

    def similarity(first: list[str], second: list[str]) -> np.ndarray:
        return pair_cosines(encoder, first, second, compute, report=silent).values

    print("| corpus | pairs | BLEU ≤ 45 | cosine > .70 | paper's 48 cells | SIM 50–100, BLEU 0–100 |")
    print("|---|---|---|---|---|---|")
    for corpus in corpora(asked.data):
        pairs = spread(list(dict.fromkeys(corpus)), asked.pairs)
        found = measure([pair[0] for pair in pairs], [pair[1] for pair in pairs], similarity)
        known = ~np.isnan(found.bleu)
        labels = found.similarity[known], found.bleu[known]
        shares = [100 * (labels[1] <= 45).mean(), 100 * (labels[0] > 70).mean()]
        cells = [cells_of(*labels, bounds) for bounds in (PAPER, WIDE)]
        figures = " | ".join([*(f"{share:.1f} %" for share in shares), *cells])
        print(f"| {pairs[0][2]} | {known.sum():,} | {figures} |", flush=True)


def cells_of(similarity: np.ndarray, bleu: np.ndarray, bounds: TagBounds) -> str:
    """The share of pairs in any cell, and how many cells have one."""
    found = profile_of(similarity, bleu, bounds)
    filled = int((found.tagged > 0).sum())
    return f"{100 * found.inside / found.pairs:.1f} % in {filled} of {bounds.cells}"


if __name__ == "__main__":
    main()
