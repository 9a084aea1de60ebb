"""Pairs trained on a second by two processes of one thread each, against one process with the threads of both.

Both learn the same pairs by the same plan, from the same model. A step is measured after the first tenth of them: a
process takes seconds to start, which is said by itself. This is a processor; it says what the processes cost one
another, and nothing of GPUs.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import torch
from _compare import is_quick, print_comparison, rates_compared, spread_of_ratios
from _training import BATCH, rows_made, stsb_rows
from encoding import encoder_found

from mlworkers.science.encoders.plan import EncoderPlan
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.training import encoder_train
from mlworkers.science.pretrained.compute import choose_compute

PROCESSES = 2
PLAN = EncoderPlan("pairs", "model", "scores", epochs=1, batch_size=BATCH, device="cpu")


class Clock:
    """The report of a training: when it began to count, and how long each pair took after that."""

    def __init__(self) -> None:
        self.began = perf_counter()
        self.seen: list[tuple[int, float]] = []

    def __call__(self, done: int, total: int, message: str) -> None:
        if done and (not self.seen or done != self.seen[-1][0]):
            self.seen.append((done, perf_counter()))

    def seconds_a_step(self) -> float:
        start = len(self.seen) // 10
        (first, began), (last, ended) = self.seen[start], self.seen[-1]
        return (ended - began) / (last - first)

    def seconds_before(self) -> float:
        return self.seen[0][1] - self.began


def training(base: Path, rows: Rows, devices: int) -> Callable[[], Clock]:
    def train() -> Clock:
        clock = Clock()
        encoder_train(base, rows, replace(PLAN, devices=str(devices)), report=clock)
        return clock

    return train


def main() -> None:
    pairs, rounds = (640, 1) if is_quick(__doc__) else (1600, 3)
    torch.set_num_threads(PROCESSES)
    found = stsb_rows("train", at_most=pairs)
    rows = rows_made(pairs, seed=1) if found is None else found
    encoder, model = encoder_found(choose_compute("cpu"))
    with tempfile.TemporaryDirectory() as folder:
        encoder.save(folder, create_model_card=False)
        clocks = [
            (training(Path(folder), rows, PROCESSES)(), training(Path(folder), rows, 1)())
            for _round in range(rounds)
        ]
    own, theirs = ([clock.seconds_a_step() for clock in side] for side in zip(*clocks, strict=True))
    before = [min(clock.seconds_before() for clock in side) for side in zip(*clocks, strict=True)]
    print_comparison(
        rates_compared(
            "several devices",
            work=BATCH,
            unit="pairs/s",
            seconds=min(own),
            baseline=f"one process with {PROCESSES} threads",
            baseline_seconds=min(theirs),
            notes=f"{model}, {pairs} {'made' if found is None else 'STSb'} pairs, batches of {BATCH}, {PROCESSES} "
            f"processes with one thread each, best of {rounds} rounds; {spread_of_ratios((own, theirs))}; until the "
            f"first step {before[0]:.1f} s, {before[1]:.1f} s with one process; load {os.getloadavg()[0]:.1f}",
        )
    )


if __name__ == "__main__":
    main()
