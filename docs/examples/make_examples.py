"""Write the example files of the README: sentences of the demonstration's grammar, so their relatedness is known.

usage: python docs/examples/make_examples.py        (in the folder of the repository; the files are the same every time)
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.judgement_files import write_judgements
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements
from semblance.demo.scenes import (
    FILLERS,
    Scene,
    ScenePair,
    _any_part,
    _sentence,
    _varied,
    latent_relatedness,
    scene_of,
    scene_pairs,
)

FOLDER = Path(__file__).parent
TRAIN, TEST, ITEMS, SEED = 600, 200, 60, 13
STORIES, STORY_SENTENCES = 150, 6
PREMISES = {"train": 80, "test": 20}


def write_csv(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with (FOLDER / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def row(pair: ScenePair) -> list[object]:
    return [pair.a, pair.b, f"{pair.latent:.3f}"]


def relatedness(left: str, right: str) -> float:
    one, other = scene_of(left), scene_of(right)
    return latent_relatedness(one, other) if one and other else 0.0


def inference_rows(seed: int, premises: int, without: set[str]) -> list[list[object]]:
    """Premises, each with the same scene in other words, a scene with half in common, and one with next to nothing."""
    pairs = scene_pairs(premises * 20, seed=seed, without=without)
    same = [pair for pair in pairs if pair.latent > 0.99][:premises]
    others = [pair.a for pair in pairs if pair not in same]
    rows: list[list[object]] = []
    for pair in same:
        rows.append([pair.a, pair.b, "entailment"])
        for label, low, high in (("neutral", 0.4, 0.6), ("contradiction", 0.0, 0.15)):
            text = next(text for text in others if low <= relatedness(pair.a, text) <= high)
            others.remove(text)
            rows.append([pair.a, text, label])
    return rows


train = scene_pairs(TRAIN, seed=SEED)
sentences = {text for pair in train for text in (pair.a, pair.b)}
test = scene_pairs(TEST, seed=SEED + 1, without=sentences)  # shares no sentence with the training pairs
columns = ["sentence1", "sentence2", "score"]
write_csv(
    "pairs.csv",
    [*columns, "split"],
    [[*row(pair), split] for split, pairs in (("train", train), ("test", test)) for pair in pairs],
)
write_csv("test.csv", columns, map(row, test))

items = [f"pair-{number:02}" for number in range(1, ITEMS + 1)]  # the first rows of pairs.csv
(FOLDER / "items.txt").write_text("\n".join(items) + "\n", encoding="utf-8")
people = [SimulatedAnnotator(noise=0.12) for _ in range(4)]
judgements = simulated_judgements(
    design_tuples(ITEMS, seed=SEED).tuples,
    np.array([pair.latent for pair in train[:ITEMS]]),
    annotators=people,
    judgements_per_tuple=4,
    seed=SEED,
)
write_judgements(
    FOLDER / "judgements.csv", items, judgements, [f"simulated {n + 1}" for n in range(len(people))]
)

# Pairs with labels as inference corpora have them. No split shares a sentence with another, nor with pairs.csv.
taken = sentences | {text for pair in test for text in (pair.a, pair.b)}
inference: list[list[object]] = []
for number, (split, premises) in enumerate(PREMISES.items()):
    rows = inference_rows(SEED + 2 + number, premises, taken)
    taken |= {str(text) for each in rows for text in each[:2]}
    inference += [[*each, split] for each in rows]
write_csv("inference.csv", ["sentence1", "sentence2", "gold_label", "split"], inference)

# Running text: each paragraph is a document, whose sentences stay near the scene of the one before.
rng = np.random.default_rng(SEED)
stories = []
for _ in range(STORIES):
    scene = Scene(**{slot: _any_part(slot, rng) for slot in FILLERS})
    told = []
    for _ in range(STORY_SENTENCES):
        told.append(_sentence(scene, rng))
        scene = Scene(*(_varied(slot, part, 0.7, rng) for slot, part in scene._asdict().items()))
    stories.append(" ".join(told))
(FOLDER / "stories.txt").write_text("\n\n".join(stories) + "\n", encoding="utf-8")
