"""Rows per second through an OpenAI-compatible endpoint: many requests at a time against one at a time.

    python benchmarks/endpoint_generation.py --make FOLDER
    transformers serve FOLDER --continuous-batching --device cpu --port 8000
    OPENAI_BASE_URL=http://127.0.0.1:8000/v1 python benchmarks/endpoint_generation.py --model FOLDER

`--make` writes a small chat model with random weights, whose answers nearly always take all tokens that they may; with
`--steps N` one that was trained for N steps to answer with sentences of the demonstration's scenes. The server is
whatever the address leads to: vLLM, Ollama or a hosted service can be measured in the same way. Both sides ask the same
server for the same rows with the same seeds; rows are counted as they are answered, kept or not.
"""

import argparse
import os
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import torch
from _compare import alternate, print_comparison, rates_compared
from transformers import AutoTokenizer, GenerationConfig, LlamaConfig, LlamaForCausalLM

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.learned_tokenizer import END, tokenizer_learned
from mlworkers.science.synthesis.asking import rows_asked
from mlworkers.science.synthesis.bootstrap import generator_trained
from mlworkers.science.synthesis.chat import AnswerForm, question_of
from mlworkers.science.synthesis.endpoint import ChatClient, endpoint_of
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan
from mlworkers.science.synthesis.prompts import TASKS, Example, LabelledPair, examples_written
from mlworkers.science.synthesis.rows import Source
from semblance.demo.scenes import scene_pairs

TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def model_write(folder: Path, *, width: int, layers: int) -> None:
    texts = [text for scene in scene_pairs(500, seed=1) for text in (scene.a, scene.b)]
    tokenizer = tokenizer_learned(texts, vocabulary=2_000, longest=1_024)
    tokenizer.chat_template = TEMPLATE
    heads = max(1, width // 64)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=1_024,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    torch.manual_seed(1)
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def model_train(folder: Path, *, steps: int, width: int, layers: int) -> None:
    """A chat model that answers what `question_of` asks, as JSON, learned from pairs of the demonstration's scenes."""
    pairs = [LabelledPair(scene.a, scene.b, scene.latent) for scene in scene_pairs(1_500, seed=1)]
    examples = [
        Example(
            f"user: {question_of(each.prompt, AnswerForm.JSON)}\nassistant: ",
            f'{{"sentence": "{each.answer}}}{END}',
        )
        for each in examples_written(pairs, TASKS["sentences"])
    ]
    plan = BootstrapPlan(
        dataset="scenes",
        score_set="",
        steps=steps,
        minutes=60,
        layers=layers,
        width=width,
        learning_rate=3e-3,
    )
    result = generator_trained(examples, plan, choose_compute("cpu"), folder=folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    GenerationConfig(do_sample=True, eos_token_id=tokenizer.eos_token_id).save_pretrained(folder)
    print(
        f"{result.parameters:,} parameters, loss {result.loss:.3f} after {result.steps} steps",
        file=sys.stderr,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--make", type=Path, metavar="FOLDER", help="write the model and leave")
    parser.add_argument("--steps", type=int, default=0, help="train the model for so many steps")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--model", default="", help="the name that the server knows it by")
    parser.add_argument("--sources", type=int, default=4)
    parser.add_argument("--max-tokens", type=int, default=40)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    chosen = parser.parse_args()
    if chosen.make and chosen.steps:
        model_train(chosen.make, steps=chosen.steps, width=chosen.width, layers=chosen.layers)
        return
    if chosen.make:
        model_write(chosen.make, width=chosen.width, layers=chosen.layers)
        return
    address = os.environ.get("OPENAI_BASE_URL", "")
    if not address or not chosen.model:
        print("endpoint_generation: no OPENAI_BASE_URL or --model, so nothing was measured.", file=sys.stderr)
        print('{"name": "endpoint_generation", "figure": null, "notes": "no endpoint"}')
        return
    endpoint = endpoint_of(address, os.environ.get("OPENAI_API_KEY", ""))
    sources = [
        Source(number, scene.a, number) for number, scene in enumerate(scene_pairs(chosen.sources, seed=2))
    ]
    plan = GenerationPlan(
        dataset="scenes",
        model=f"openai:{chosen.model}"[:200],
        concurrency=chosen.concurrency,
        max_tokens=chosen.max_tokens,
    )

    def rows(plan: GenerationPlan) -> int:
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(ChatClient(endpoint, chosen.model, timeout=plan.timeout, attempts=2)) as client,
        ):
            return len(rows_asked(client, sources, plan, answers=Path(folder) / "answers").rows)

    count = rows(plan)  # also lets the server load its model
    seconds, baseline_seconds = alternate(
        lambda: rows(plan), lambda: rows(replace(plan, concurrency=1)), rounds=chosen.rounds
    )
    print_comparison(
        rates_compared(
            "endpoint_generation",
            work=count,
            unit="rows/s",
            seconds=seconds,
            baseline="one request at a time, the same server",
            baseline_seconds=baseline_seconds,
            device="the server's",
            notes=f"{count} rows, {plan.concurrency} requests at a time, best of {chosen.rounds} rounds",
        )
    )


if __name__ == "__main__":
    main()
