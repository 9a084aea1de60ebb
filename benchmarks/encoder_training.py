"""Pairs learned a second: our loop against sentence-transformers' own, on a processor.

Both train the same model on the same pairs, with the same batch size, optimizer, schedule and dropout, from texts on.
The library's newer trainer needs two further packages (accelerate, datasets) and takes both sides of a pair through the
model one after the other just as its loop does. Model and sentences are those of `encoding.py`.
"""

from _compare import alternate, is_quick, print_comparison, rates_compared
from _training import BASELINE, BATCH, ours, rows_made, theirs
from encoding import encoder_found

from mlworkers.pretrained.compute import choose_compute


def main() -> None:
    pairs, rounds = (64, 2) if is_quick(__doc__) else (512, 3)
    compute = choose_compute("cpu")
    (encoder, model), (other, _model) = encoder_found(compute), encoder_found(compute)
    rows = rows_made(pairs, seed=1)

    seconds, baseline_seconds = alternate(
        ours(encoder, rows, compute), theirs(other, rows, compute), rounds=rounds
    )

    print_comparison(
        rates_compared(
            "encoder training",
            work=pairs,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            device=str(compute),
            notes=f"{model}, {pairs} pairs, batches of {BATCH}, one epoch, best of {rounds} rounds",
        )
    )


if __name__ == "__main__":
    main()
