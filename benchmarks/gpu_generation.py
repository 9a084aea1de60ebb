"""Self-debiased generation on a GPU with a model of gpt2-xl's size: ours against the layout that spends every token.

The model has random weights, with which a row takes as long per token as with trained ones (1.5 billion
parameters). Random rows seldom end early, so they are ended at random, after about 14 tokens, as short sentences are.
The layout takes as long for each source, so it writes for the first few alone, and its seconds are multiplied. Without
a GPU it says so and leaves.
"""

import sys
from dataclasses import replace

import torch
from _compare import alternate, is_quick, print_comparison, rates_compared
from transformers import GPT2Config, GPT2LMHeadModel

from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.synthesis.generator import Generator, generator_of
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source
from mlworkers.science.synthesis.writing import rows_written
from semblance.demo.scenes import scene_pairs

BASELINE = "the same loop, every row to its 40 tokens and one source at a time (DINO's layout)"
LENGTH = 14  # tokens


def generator_made(compute: Compute, *, quick: bool) -> Generator:
    texts = [text for scene in scene_pairs(500, seed=1) for text in (scene.a, scene.b)]
    tokenizer = tokenizer_learned(texts, vocabulary=2_000, longest=1_024)
    size = (
        {"n_embd": 768, "n_layer": 12, "n_head": 12}
        if quick
        else {"n_embd": 1_600, "n_layer": 48, "n_head": 25}
    )
    config = GPT2Config(vocab_size=50_257, bos_token_id=0, eos_token_id=0, **size)
    with torch.device(compute.device):
        model = GPT2LMHeadModel(config).to(compute.dtype)
    made = generator_of(model, tokenizer)
    drawn = torch.rand(len(made.ends), generator=torch.Generator().manual_seed(1)).to(made.device)
    return replace(made, ends=drawn < 1 / LENGTH, barred=torch.zeros_like(made.barred))


def main() -> None:
    quick = is_quick(__doc__)
    if not torch.cuda.is_available():
        print("gpu_generation: there is no CUDA device here, so nothing was measured.", file=sys.stderr)
        print('{"name": "gpu_generation", "figure": null, "notes": "no CUDA device"}')
        return
    compute = choose_compute("cuda", "bfloat16")
    generator = generator_made(compute, quick=quick)
    sources = [Source(number, scene.a, number) for number, scene in enumerate(scene_pairs(64, seed=2))]
    few = sources[:2]
    plan = GenerationPlan(dataset="scenes", model="here", precision="bfloat16")
    never = replace(generator, ends=torch.zeros_like(generator.ends))

    def ours() -> None:
        rows_written(generator, sources, plan, compute)
        torch.cuda.synchronize()

    def baseline() -> None:
        for source in few:
            rows_written(never, [source], plan, compute)
        torch.cuda.synchronize()

    ours()
    seconds, baseline_seconds = alternate(ours, baseline, rounds=2)
    rows = len(sources) * len(plan.label_list) * plan.samples
    size = sum(weight.numel() for weight in generator.model.parameters()) / 1e6
    print_comparison(
        rates_compared(
            "gpu_generation",
            work=rows,
            unit="rows/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds * len(sources) / len(few),
            device=torch.cuda.get_device_name(),
            notes=f"{size:,.0f} M parameters with random weights, bfloat16, rows of about {LENGTH} tokens, "
            f"{len(sources)} sources, the baseline on {len(few)}, "
            f"{torch.cuda.max_memory_allocated() / 1e9:.1f} GB on the device",
        )
    )


if __name__ == "__main__":
    main()
