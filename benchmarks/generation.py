"""Self-debiased generation: ours against transformers' `generate`, one prompt at a time.

The generator is the one that a dataset without a large model gets: a GPT-2 of four layers and about four million
parameters, trained here for some steps on the demonstration's scene pairs, so that its sentences end as a trained
model's do. Both sides write the same rows for the same sources with the same settings (DINO's: 3 labels, 5 samples,
top-k 5, top-p 0.9, λ 100, ε 0.01, at most 40 tokens); rows are counted after post-processing, without sampled partners.

The baseline is DINO's layout in the library's own loop: for each source and label one call of `generate` with
`num_return_sequences` rows, a logits processor that holds the counter prompts' keys and values and applies the same
algebra, and 40 tokens for every row, since a row is cut at its quote only afterwards.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from _compare import alternate, is_quick, print_comparison, rates_compared
from transformers import LogitsProcessor, LogitsProcessorList

from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.synthesis.bootstrap import generator_trained
from mlworkers.science.synthesis.debiasing import debiased
from mlworkers.science.synthesis.generator import Generator, load_generator
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan
from mlworkers.science.synthesis.postprocessing import postprocessed
from mlworkers.science.synthesis.prompts import TASKS, LabelledPair, examples_written
from mlworkers.science.synthesis.rows import Source, WrittenRow
from mlworkers.science.synthesis.writing import rows_written
from semblance.demo.scenes import scene_pairs

BASELINE = "transformers generate with a debiasing processor, one prompt at a time, on one core"


class SelfDebiasing(LogitsProcessor):
    """DINO's algebra as transformers' users write it: a cache of its own for the counter prompts."""

    def __init__(
        self, generator: Generator, counters: Sequence[list[int]], prompt: int, plan: GenerationPlan
    ) -> None:
        self._generator, self._plan, self._prompt = generator, plan, prompt
        self._caches = [None] * len(counters)
        self._counters = counters

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        scores = scores.masked_fill(self._generator.barred, -torch.inf)
        others = [self._logits(place, input_ids) for place in range(len(self._counters))]
        stacked = torch.stack(others) if others else scores.new_empty(0, *scores.shape)
        return debiased(scores, stacked, decay=self._plan.decay, floor=self._plan.floor)

    def _logits(self, place: int, input_ids: torch.Tensor) -> torch.Tensor:
        if self._caches[place] is None:
            tokens = torch.tensor([self._counters[place]] * len(input_ids))
        else:
            tokens = input_ids[:, -1:]
        output = self._generator.model(tokens, past_key_values=self._caches[place], use_cache=True)
        self._caches[place] = output.past_key_values
        return output.logits[:, -1].masked_fill(self._generator.barred, -torch.inf)


def written_by_transformers(
    generator: Generator, sources: list[Source], plan: GenerationPlan
) -> list[WrittenRow]:
    torch.manual_seed(plan.seed)
    rows = []
    for source in sources:
        for label in plan.label_list:
            own, *counters = (
                generator.prompt_tokens(text, room=plan.max_tokens)
                for text in plan.instructions.prompts(label, source.text)
            )
            output = generator.model.generate(
                torch.tensor([own]),
                attention_mask=torch.ones(1, len(own), dtype=torch.long),
                do_sample=True,
                num_return_sequences=plan.samples,
                top_k=plan.top_k,
                top_p=plan.top_p,
                max_new_tokens=plan.max_tokens,
                pad_token_id=generator.tokenizer.eos_token_id,
                logits_processor=LogitsProcessorList([SelfDebiasing(generator, counters, len(own), plan)]),
            )
            rows += [
                WrittenRow(source.id, label, sample, generator.text(tokens), len(tokens))
                for sample, tokens in enumerate(output[:, len(own) :].tolist())
            ]
    return rows


def generator_made(compute: Compute, *, steps: int) -> Generator:
    pairs = [LabelledPair(scene.a, scene.b, scene.latent) for scene in scene_pairs(1_500, seed=1)]
    plan = BootstrapPlan(dataset="scenes", score_set="latent", steps=steps, batch=16)
    with tempfile.TemporaryDirectory() as folder:
        generator_trained(
            list(examples_written(pairs, TASKS["sentences"])), plan, compute, folder=Path(folder)
        )
        return load_generator(Path(folder), compute)


def sources_made(count: int) -> list[Source]:
    return [Source(number, scene.a, number) for number, scene in enumerate(scene_pairs(count, seed=2))]


def written_by_us(
    generator: Generator, sources: list[Source], plan: GenerationPlan, compute: Compute
) -> list[WrittenRow]:
    size = plan.shard_sources
    shards = [sources[start : start + size] for start in range(0, len(sources), size)]
    return [row for shard in shards for row in rows_written(generator, shard, plan, compute)]


def main() -> None:
    quick = is_quick(__doc__)
    count, steps, rounds = (4, 60, 1) if quick else (30, 400, 2)
    compute = choose_compute("cpu")
    # Multiplications of five rows gain nothing from a second core, and lose much where it has other work.
    torch.set_num_threads(1)
    generator = generator_made(compute, steps=steps)
    sources = sources_made(count)
    plan = GenerationPlan(dataset="scenes", model="here")

    def kept(rows: list[WrittenRow]) -> int:
        return sum(not row.sampled for row in postprocessed(rows, sources, plan).kept)

    ours, theirs = (
        kept(written_by_us(generator, sources, plan, compute)),
        kept(written_by_transformers(generator, sources, plan)),
    )
    # Both draw from the same distributions with other noise, so that their counts differ by chance alone.
    assert abs(ours - theirs) < 4 * (ours + theirs + 1) ** 0.5, (
        f"{ours} rows are kept of ours, {theirs} of theirs"
    )
    seconds, baseline_seconds = alternate(
        lambda: kept(written_by_us(generator, sources, plan, compute)),
        lambda: kept(written_by_transformers(generator, sources, plan)),
        rounds=rounds,
    )
    size = sum(weight.numel() for weight in generator.model.parameters()) / 1e6
    print_comparison(
        rates_compared(
            "generation",
            work=ours,
            unit="kept rows/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds * ours / max(theirs, 1),
            device=str(compute),
            notes=f"GPT-2 of {size:.1f} M after {steps} steps, {count} sources x 3 labels x {plan.samples} samples, "
            f"{ours} rows kept of ours and {theirs} of theirs, sampled partners not counted, best of {rounds} rounds",
        )
    )


if __name__ == "__main__":
    main()
