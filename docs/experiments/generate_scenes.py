"""Compare what a small generator writes with the meaning that it was asked for.

    python docs/experiments/generate_scenes.py --steps 1500 --layers 3 --width 192 --rate 0.003

The script trains a generator on scene pairs of the demonstration and writes rows for the sentences of other pairs, with
and without self-debiasing. Then it parses every sentence back into its scene. It reports how many sentences are no
scene, how closely the others are related to their source, and how far that is on average from the label.
"""

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.synthesis.bootstrap import generator_trained
from mlworkers.science.synthesis.generator import Generator, load_generator
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan
from mlworkers.science.synthesis.postprocessing import postprocessed
from mlworkers.science.synthesis.prompts import TASKS, LabelledPair, examples_written
from mlworkers.science.synthesis.rows import Source
from mlworkers.science.synthesis.writing import rows_written
from semblance.demo.scenes import latent_relatedness, scene_of, scene_pairs

COMPUTE = choose_compute("cpu")


def trained(plan: BootstrapPlan, folder: Path) -> Generator:
    pairs = [LabelledPair(scene.a, scene.b, scene.latent) for scene in scene_pairs(1_500, seed=1)]
    generator_trained(list(examples_written(pairs, TASKS["sentences"])), plan, COMPUTE, folder=folder)
    return load_generator(folder, COMPUTE)


def figures(generator: Generator, sources: list[Source], plan: GenerationPlan) -> dict[str, Any]:
    started, used = perf_counter(), process_time()
    size = plan.shard_sources
    rows = [
        row
        for start in range(0, len(sources), size)
        for row in rows_written(generator, sources[start : start + size], plan, COMPUTE)
    ]
    seconds, processor = perf_counter() - started, process_time() - used
    processed = postprocessed(rows, sources, plan)
    written = sum(not row.sampled for row in processed.kept)
    texts = {source.id: source.text for source in sources}
    judged = [
        (row.label, scene_of(texts[row.source]), scene_of(row.text))
        for row in processed.rows
        if not row.sampled
    ]
    latent = [(label, latent_relatedness(left, right)) for label, left, right in judged if left and right]
    by_label = {label: [value for each, value in latent if each == label] for label in plan.label_list}
    means = {label: float(np.mean(values)) for label, values in by_label.items()}
    return {
        "self_debiasing": plan.self_debiasing,
        "rows": len(rows),
        "kept": written,
        "kept_per_second": round(written / seconds, 1),
        "kept_per_processor_second": round(written / processor, 1),
        "no_scene": round(1 - len(latent) / len(rows), 4),
        "relatedness": {label: round(mean, 3) for label, mean in means.items()},
        # Spearman rewards labels that lie apart, wherever they lie: this is how far each lies from what was asked for.
        "distance_from_label": {label: round(abs(mean - float(label)), 3) for label, mean in means.items()},
        "spearman": round(
            float(spearmanr([float(label) for label, _ in latent], [value for _, value in latent])[0]), 3
        ),
        "dropped": {reason: count for reason, count in processed.dropped.items() if count},
        "labels": Counter(row.label for row in processed.kept if not row.sampled),
        "sample": [(texts[row.source], row.label, row.text) for row in processed.kept[:6] if not row.sampled],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=192)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--sources", type=int, default=100)
    given = parser.parse_args()
    plan = BootstrapPlan(
        dataset="scenes",
        score_set="latent",
        steps=given.steps,
        layers=given.layers,
        width=given.width,
        learning_rate=given.rate,
    )
    sources = [
        Source(number, scene.a, number) for number, scene in enumerate(scene_pairs(given.sources, seed=2))
    ]
    with tempfile.TemporaryDirectory() as folder:
        started, used = perf_counter(), process_time()
        generator = trained(plan, Path(folder))
        parameters = sum(weight.numel() for weight in generator.model.parameters())
        taken = {
            "seconds": round(perf_counter() - started),
            "processor_seconds": round(process_time() - used),
        }
        print(json.dumps({"parameters": parameters, "steps": plan.steps, **taken}))
        for on in (True, False):
            writing = GenerationPlan(dataset="scenes", model="here", self_debiasing=on)
            print(json.dumps(figures(generator, sources, writing), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
