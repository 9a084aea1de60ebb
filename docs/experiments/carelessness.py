"""How often careful people get a sign of carelessness, and careless ones none, by simulation.

    python docs/experiments/carelessness.py [PEOPLE]

Somebody looks after every fifth answer. Careful people see the cards in random order and have log-normal response
times (median and spread as printed); four pairs of two sentences have 440 letters, as in the STS benchmark.
"""

import sys
from collections import Counter

import numpy as np

from annotation.bws.annotators.carelessness import Answers, carelessness_signs

LETTERS, SIZE, EVERY, FIRST = 440, 4, 5, 10
ANSWERS = 200
SEED = 2026


def careful(rng: np.random.Generator, *, median: float, spread: float = 0.4) -> Answers:
    best = rng.integers(0, SIZE, ANSWERS)
    return Answers(
        best=best,
        worst=(best + rng.integers(1, SIZE, ANSWERS)) % SIZE,
        sizes=np.full(ANSWERS, SIZE),
        seconds=median * np.exp(spread * rng.standard_normal(ANSWERS)),
        letters=np.full(ANSWERS, LETTERS),
    )


def first_signs(whole: Answers) -> dict[str, int]:
    """After how many answers each kind of sign appears first."""
    first: dict[str, int] = {}
    for seen in range(FIRST, ANSWERS + 1, EVERY):
        part = Answers(
            *(array[:seen] for array in (whole.best, whole.worst, whole.sizes, whole.seconds, whole.letters))
        )
        for sign in carelessness_signs(part):
            first.setdefault(str(sign.kind), seen)
    return first


def main(people: int) -> None:
    for median in (14.0, 10.0, 8.0, 5.0, 3.0, 1.0):
        rng = np.random.default_rng([SEED, int(median)])
        signed, any_sign = Counter[str](), 0
        for _person in range(people):
            found = first_signs(careful(rng, median=median))
            signed.update(found.keys())
            any_sign += bool(found)
        rates = ", ".join(f"{kind} {count / people:.4f}" for kind, count in sorted(signed.items()))
        print(f"median {median:4.1f} s: any sign {any_sign / people:.4f}; {rates}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
