"""Paraphrases a second: rows of several sources and tags decoded together, against one sentence at a time.

    python benchmarks/paraphrasing.py [--quick]

Ours is `paraphrases_decoded`, as the run “Write paraphrases” calls it. The baseline is `generate` of transformers,
called for one source and pair of tags after the other with the same settings; its texts must be the same. The model is
a BART of random weights that was trained for some steps on the scenes of the demonstration.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios

from curation.pairs.text import normalise
from mlworkers.science.paraphrasing.decoding import Request, paraphrases_decoded, search_arguments
from mlworkers.science.paraphrasing.paraphraser import (
    Paraphraser,
    TaggedPair,
    Target,
    load_paraphraser,
    paraphraser_initialised,
)
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.paraphraser_training import paraphraser_trained
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.writing_plan import PAPER_PAIRS, Decoding
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.loading import quiet_transformers
from semblance.demo.scenes import scene_pairs

BASELINE = "generate of transformers, one sentence and pair of tags at a time"


def paraphraser_made(compute: Compute, *, pairs: int, epochs: int) -> Paraphraser:
    """A BART of the size that is the default without a base model."""
    plan = ParaphraserPlan(dataset="scenes", selection=1, epochs=epochs, batch_size=32)
    targets = [Target(*pair) for pair in PAPER_PAIRS]
    tagged = [
        TaggedPair(scene.a, scene.b, targets[number % len(targets)])
        for number, scene in enumerate(scene_pairs(pairs, seed=1))
    ]
    texts = [text for pair in tagged for text in pair[:2]]
    with tempfile.TemporaryDirectory() as folder:
        made = paraphraser_initialised(texts, TagBounds(), plan, compute)
        paraphraser_trained(made, tagged, tagged[:30], plan, rate=1e-3, folder=Path(folder))
        return load_paraphraser(Path(folder), compute)


def written_one_by_one(
    paraphraser: Paraphraser, requests: list[Request], decoding: Decoding
) -> list[list[str]]:
    texts = []
    with torch.inference_mode(), quiet_transformers():
        for request in requests:
            read = torch.tensor([paraphraser.input_tokens(*request)])
            content = len(paraphraser.sentence_tokens(request.source)) - paraphraser.marks
            written = paraphraser.model.generate(
                input_ids=read,
                attention_mask=torch.ones_like(read),
                **search_arguments(paraphraser, decoding, content),
            )
            decoded = paraphraser.tokenizer.batch_decode(written, skip_special_tokens=True)
            texts.append(list(dict.fromkeys(normalise(text) for text in decoded)))
    return texts


def main() -> None:
    quick = is_quick(__doc__)
    sources, tags, pairs, epochs, rounds = (4, 4, 100, 1, 1) if quick else (12, 16, 400, 2, 2)
    compute = choose_compute("cpu")
    # Multiplications of some rows gain little from a second core, and lose much where it has other work.
    torch.set_num_threads(1)
    paraphraser = paraphraser_made(compute, pairs=pairs, epochs=epochs)
    requests = [
        Request(scene.a, Target(*pair))
        for scene in scene_pairs(sources, seed=2)
        for pair in PAPER_PAIRS[:tags]
    ]
    decoding = Decoding()
    ours, theirs = (
        paraphrases_decoded(paraphraser, requests, decoding),
        written_one_by_one(paraphraser, requests, decoding),
    )
    assert ours == theirs, f"{sum(a != b for a, b in zip(ours, theirs, strict=True))} texts differ"
    seconds = every_round(
        lambda: paraphrases_decoded(paraphraser, requests, decoding),
        lambda: written_one_by_one(paraphraser, requests, decoding),
        rounds=rounds,
    )
    size = sum(weight.numel() for weight in paraphraser.model.parameters()) / 1e6
    lengths = sorted(len(paraphraser.sentence_tokens(request.source)) for request in requests)
    print_comparison(
        rates_compared(
            "paraphrasing",
            work=len(requests),
            unit="paraphrases/s",
            seconds=min(seconds[0]),
            baseline=BASELINE,
            baseline_seconds=min(seconds[1]),
            device=str(compute),
            notes=f"BART of {size:.1f} M, {sources} sources of {lengths[0]} to {lengths[-1]} tokens x {tags} pairs of "
            f"tags, {decoding.beams} beams, same texts, best of {rounds} rounds, {spread_of_ratios(seconds)}, "
            f"{torch.get_num_threads()} threads",
        )
    )


if __name__ == "__main__":
    main()
