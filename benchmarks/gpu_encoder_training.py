"""Pairs trained on a second on a GPU: our loop in bfloat16 against sentence-transformers' Trainer with bf16.

Says so and ends where there is no CUDA device, or where the Trainer's packages are missing. Model and sentences are
those of `encoding.py`. It also prints how much of what the device can do our loop uses: floating-point operations that
the model needs (not those of padding) against a large multiplication in bfloat16, and the bytes of weights, gradients
and optimizer that a step must move at least against a copy within the device, both measured in the same run.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
import torch
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios
from _training import (
    BASELINE,
    BATCH,
    TRAINER_PACKAGES,
    ours,
    rows_made,
    theirs,
    trainer_is_installed,
)
from encoding import encoder_found
from sentence_transformers import SentenceTransformer

from mlworkers.science.encoders.forward import TokenizedSentences
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.pretrained.compute import choose_compute

# Times that a step reads or writes each weight or its gradient or moments, 4 bytes each: weights for the passes forward
# and back (2), gradients written (1), read for their norm (1), clipped (2), and AdamW (reads 4, writes 3).
TIMES_MOVED = 13


def main() -> None:
    pairs, rounds = (512, 2) if is_quick(__doc__) else (4096, 3)
    missing = ""
    if not torch.cuda.is_available():
        missing = "there is no CUDA device here"
    elif not trainer_is_installed():
        missing = f"the Trainer needs {TRAINER_PACKAGES}"
    if missing:
        print(f"gpu_encoder_training: {missing}, so nothing was measured.", file=sys.stderr)
        print(f'{{"name": "gpu_encoder_training", "figure": null, "notes": "{missing}"}}')
        return
    compute = choose_compute("cuda")
    (encoder, model), (other, _model) = encoder_found(compute), encoder_found(compute)
    rows, low = rows_made(pairs, seed=1), replace(compute, dtype=torch.bfloat16)
    own = ours(encoder, rows, low, precision="bfloat16")
    librarys = theirs(other, rows, compute, bf16=True)
    warm_up = rows.taken(np.arange(BATCH))
    for work in (
        ours(encoder, warm_up, low, precision="bfloat16"),
        theirs(other, warm_up, compute, bf16=True),
    ):
        work()

    seconds = every_round(own, librarys, rounds=rounds)

    print_comparison(
        rates_compared(
            "encoder training on a GPU",
            work=pairs,
            unit="pairs/s",
            seconds=min(seconds[0]),
            baseline=f"{BASELINE}, bf16",
            baseline_seconds=min(seconds[1]),
            device=f"{torch.cuda.get_device_name()}, bfloat16",
            notes=f"{model}, {pairs} pairs, batches of {BATCH}, one epoch, best of {rounds} rounds; "
            f"{spread_of_ratios(seconds)}; {_use_of_the_device(encoder, rows, min(seconds[0]))}",
        )
    )


def _use_of_the_device(encoder: SentenceTransformer, rows: Rows, seconds: float) -> str:
    """Of one epoch that took so many seconds, beside what the device does at best."""
    operations = _operations(encoder, rows) / seconds
    weights = sum(weight.numel() for weight in encoder.parameters())
    steps = -(-len(rows) // BATCH)
    moved = 4 * TIMES_MOVED * weights * steps / seconds
    most, fastest = _multiplication_rate(), _copy_rate()
    return (
        f"model FLOP utilisation {operations / most:.1%} ({operations / 1e12:.1f} of {most / 1e12:.0f} TFLOP/s), "
        f"bandwidth {moved / fastest:.1%} ({moved / 1e9:.0f} of {fastest / 1e9:.0f} GB/s)"
    )


def _operations(encoder: SentenceTransformer, rows: Rows) -> float:
    """Of an epoch, forward and back: 6 for each token and weight outside the embeddings, and those of attention,
    12 for each layer, dimension and pair of tokens (4 forward, in two multiplications, and twice that back).
    """
    network = encoder.transformers_model
    embedded = sum(weight.numel() for weight in network.embeddings.parameters())
    weights = sum(weight.numel() for weight in network.parameters()) - embedded
    config = network.config
    lengths = TokenizedSentences(encoder, [*rows.first.tolist(), *rows.second.tolist()]).lengths.astype(float)
    attention = 12 * config.num_hidden_layers * config.hidden_size * (lengths**2).sum()
    return float(6 * weights * lengths.sum() + attention)


def _multiplication_rate(size: int = 8192) -> float:
    """Floating-point operations a second of a large multiplication in bfloat16."""
    left, right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    return 2 * size**3 / _shortest(lambda: left @ right)


def _copy_rate(megabytes: int = 1024) -> float:
    """Bytes a second, read and written, of a copy within the device."""
    source = torch.empty(megabytes * 2**20, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * source.numel() / _shortest(lambda: target.copy_(source))


def _shortest(work: Callable[[], object], *, rounds: int = 10) -> float:
    seconds = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        started = perf_counter()
        work()
        torch.cuda.synchronize()
        seconds.append(perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
