"""Ways to learn p_D from verdicts, on sentences whose faults are known.

People's sentences come from the grammar of the demonstration. "Machine" sentences come from it too, from some of its
events more often (a shortcut by topic), and one in five has a fault: its words are broken (one is missing, said twice
or moved), or its scene is odd (somebody swims, rows or fishes indoors or in town), which people's sentences never are.
Verdicts are the experiment's own, so none is a person's. Measured is how well p_D ranks sentences without a fault above
those with one, among machine sentences without a verdict, with classifiers that saw none of them.

python docs/experiments/learn_from_verdicts.py [--seeds 1]
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import model_folder, parse_source
from mlworkers.science.realism.dataset import sdi_data
from mlworkers.science.realism.discrimination import auc
from mlworkers.science.realism.head import cross_fit
from semblance.demo.scenes import scene_of, scene_pairs

PEOPLE = MACHINES = 600
FAULTY = 0.2
PENALTIES = (1.0, 0.1)


def broken(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    place = int(rng.integers(len(words) - 1))
    match rng.integers(3):
        case 0:
            del words[place]
        case 1:
            words.insert(place, words[place])
        case _:
            words.insert(int(rng.integers(len(words))), words.pop(place))
    return " ".join(words)


def is_odd(text: str) -> bool:
    scene = scene_of(text)
    return scene is not None and scene.event.group == "water" and scene.place.group in {"indoors", "town"}


def sentences(seed: int, fault: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Texts, whether people's, and whether without a fault."""
    rng = np.random.default_rng(seed)
    pool = list(dict.fromkeys(text for pair in scene_pairs(15 * PEOPLE, seed=seed) for text in pair[:2]))
    odd = [text for text in pool if is_odd(text)]
    plain = [text for text in pool if not is_odd(text)]
    people, rest = plain[:PEOPLE], plain[PEOPLE:]
    often = [text for text in rest if scene_of(text).event.group in {"cooking", "music", "sport", "water"}]
    seldom = sorted(set(rest) - set(often))
    whole = often[: MACHINES * 6 // 10] + seldom[: MACHINES * 4 // 10]
    faulty = rng.random(len(whole)) < FAULTY
    others = iter(odd)
    machines = [
        text if not has else broken(text, rng) if fault == "broken words" else next(others)
        for text, has in zip(whole, faulty, strict=True)
    ]
    texts = people + machines
    right = np.array([scene_of(text) is not None and not is_odd(text) for text in texts])
    return texts, np.arange(len(texts)) < len(people), right


def no_run(run_id: int, part: str) -> Path:
    raise FileNotFoundError(f"run {run_id}")


def main(seeds: int) -> None:
    compute = choose_compute()
    source = parse_source("packaged:all-MiniLM-L6-v2")
    encoder = load_encoder(model_folder(source, run_folder=no_run, hub_folder=hub_folder), compute)
    print("verdicts | AUC of the rest: without, kept leave the machine class, and kept join the human class counting "
          "1, 5, 20, 80 times; the rejected alone counting 20 times")  # fmt: skip
    for fault in ("broken words", "odd scene"):
        found: dict[int, list[list[float]]] = {}
        for seed in range(seeds):
            texts, human, right = sentences(seed, fault)
            data = sdi_data(texts, human, np.ones(len(texts), bool), folds=5, seed=seed)
            vectors = encode(encoder, list(data.texts), compute).astype(np.float64)
            machine = np.flatnonzero(data.learned & ~human)
            for number in (100, 300):
                judged = np.zeros(len(texts), bool)
                judged[np.random.default_rng([seed, number]).permutation(machine)[:number]] = True
                rest = np.setdiff1d(machine, np.flatnonzero(judged))
                kept, rejected = judged & right, judged & ~right
                ways = [
                    data,
                    replace(data, learned=data.learned & ~kept),
                    *(data.with_verdicts(kept, rejected, count=count) for count in (1, 5, 20, 80)),
                    data.with_verdicts(np.zeros_like(kept), rejected, count=20),
                ]
                row = [
                    auc(cross_fit(vectors, way, penalties=PENALTIES).logits[rest, 1], right[rest])
                    for way in ways
                ]
                found.setdefault(number, []).append(row)
        for number, rows in found.items():
            means = " ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
            print(f"{fault}, {number} verdicts | {means} | sd {np.std(rows, axis=0).max():.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    main(parser.parse_args().seeds)
