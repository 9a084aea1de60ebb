"""Pairs trained on a second: our loop against sentence-transformers' Trainer, on a processor.

Both train the same model for one epoch on the same pairs, with the same loss, batch size, optimizer, learning rates and
dropout, from texts on. The pairs are drawn from the STS benchmark where `SEMBLANCE_REAL_DATA` names
its folder, and otherwise made; with real pairs, Spearman's correlation on the dev split says whether both end equally
good. The Trainer needs packages that nothing else needs: the extra `bench`.
"""

import sys
from collections.abc import Callable, Sequence
from time import process_time

import numpy as np
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios
from _training import (
    BASELINE,
    BATCH,
    TRAINER_PACKAGES,
    agreement,
    ours,
    rows_made,
    stsb_rows,
    theirs,
    trainer_is_installed,
)
from encoding import encoder_found
from sentence_transformers import SentenceTransformer

from mlworkers.science.encoders.rows import Rows
from mlworkers.science.pretrained.compute import choose_compute

ORDER = 5  # the seed of the order of the real pairs


def rows_of(pairs: int) -> tuple[Rows, Rows | None]:
    """Pairs to train on, and those of the dev split where the STS benchmark is here."""
    rows, dev = stsb_rows("train"), stsb_rows("dev")
    if rows is None:
        return rows_made(pairs, seed=1), None
    return rows.taken(np.random.default_rng(ORDER).permutation(len(rows))[:pairs]), dev


def epochs(works: Sequence[Callable[[], object]], processor: list[float]) -> Callable[[], object]:
    """The next of the trainings at each call; its processor time is added to the list."""

    def epoch() -> None:
        started = process_time()
        works[len(processor)]()
        processor.append(process_time() - started)

    return epoch


def main() -> None:
    pairs, rounds = (64, 2) if is_quick(__doc__) else (512, 3)
    if not trainer_is_installed():
        print(
            f"encoder_training: the Trainer needs {TRAINER_PACKAGES}; nothing is measured.", file=sys.stderr
        )
        print('{"name": "encoder_training", "figure": null, "notes": "the Trainer is not installed"}')
        return
    compute = choose_compute("cpu")
    rows, dev = rows_of(pairs)
    found: list[list[SentenceTransformer]] = [
        [encoder_found(compute)[0] for _ in range(rounds)] for _ in range(2)
    ]
    model = encoder_found(compute)[1]
    processor: tuple[list[float], list[float]] = ([], [])

    seconds = every_round(
        epochs([ours(encoder, rows, compute) for encoder in found[0]], processor[0]),
        epochs([theirs(encoder, rows, compute) for encoder in found[1]], processor[1]),
        rounds=rounds,
    )

    agreements = "" if dev is None else _agreements([found[0][0], found[1][0]], dev)
    print_comparison(
        rates_compared(
            "encoder training",
            work=pairs,
            unit="pairs/s",
            seconds=min(seconds[0]),
            baseline=BASELINE,
            baseline_seconds=min(seconds[1]),
            device=str(compute),
            notes=f"{model}, {pairs} {'STSb' if dev else 'made'} pairs, batches of {BATCH}, one epoch, best of "
            f"{rounds} rounds; {spread_of_ratios(seconds)}; processor time {spread_of_ratios(processor)}{agreements}",
        )
    )


def _agreements(encoders: list[SentenceTransformer], dev: Rows) -> str:
    own, other = (agreement(encoder, dev, choose_compute("cpu")) for encoder in encoders)
    return f"; Spearman on dev {own:.4f}, the Trainer's {other:.4f}"


if __name__ == "__main__":
    main()
