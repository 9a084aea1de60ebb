"""Pairs learned a second on a GPU: our loop in bfloat16 against sentence-transformers' own with mixed precision.

Says so and ends where there is no CUDA device. Model and sentences are those of `encoding.py`.
"""

import sys
from dataclasses import replace

import torch
from _compare import alternate, is_quick, print_comparison, rates_compared
from _training import BASELINE, BATCH, ours, rows_made, theirs
from encoding import encoder_found

from mlworkers.pretrained.compute import choose_compute


def main() -> None:
    pairs, rounds = (512, 2) if is_quick(__doc__) else (8192, 3)
    if not torch.cuda.is_available():
        print("gpu_encoder_training: there is no CUDA device here, so nothing was measured.", file=sys.stderr)
        print('{"name": "gpu_encoder_training", "figure": null, "notes": "no CUDA device"}')
        return
    compute = choose_compute("cuda")
    (encoder, model), (other, _model) = encoder_found(compute), encoder_found(compute)
    rows, low = rows_made(pairs, seed=1), replace(compute, dtype=torch.bfloat16)

    seconds, baseline_seconds = alternate(
        ours(encoder, rows, low, precision="bfloat16"), theirs(other, rows, compute, amp=True), rounds=rounds
    )

    print_comparison(
        rates_compared(
            "encoder training on a GPU",
            work=pairs,
            unit="pairs/s",
            seconds=seconds,
            baseline=f"{BASELINE}, mixed precision",
            baseline_seconds=baseline_seconds,
            device=f"{torch.cuda.get_device_name()}, bfloat16",
            notes=f"{model}, {pairs} pairs, batches of {BATCH}, one epoch, best of {rounds} rounds",
        )
    )


if __name__ == "__main__":
    main()
