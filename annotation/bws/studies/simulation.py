"""Simulated annotators: they see each item's latent value through noise, and some answer at random.

The one place that simulates judgements: for the demonstration, for forecasts and for tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements


@dataclass(frozen=True)
class SimulatedAnnotator:
    """noise: standard deviation, in the units of the latent values, of what is added to each value seen.

    careless: share of answers given at random, 0..1.
    """

    noise: float = 0.5
    careless: float = 0.0


def simulated_choices(
    values: FloatArray, annotator: SimulatedAnnotator, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Judge n tuples by the latent values of their items (n, k): best and worst slots (n,), never the same.

    Every value is seen anew in every tuple (Thurstone 1927, case V).
    """
    careless = rng.random(len(values)) < annotator.careless
    # Noise alone makes every choice of two different slots equally likely.
    seen = np.where(careless[:, None], 0.0, values)
    noise = np.where(careless, 1.0, annotator.noise)[:, None] * rng.standard_normal(values.shape)
    order = np.argsort(seen + noise, axis=1, kind="stable")
    return order[:, -1], order[:, 0]


def simulated_judgements(
    tuples: IntArray,
    latent: FloatArray,
    *,
    annotators: Sequence[SimulatedAnnotator],
    judgements_per_tuple: int,
    seed: int,
) -> Judgements:
    """Have every tuple (T, k) judged by `judgements_per_tuple` different people, the work spread evenly.

    latent: (m,) values of the items. Returns T * judgements_per_tuple judgements in random order.
    Raises ValueError where there are fewer annotators than judgements per tuple.
    """
    if not 1 <= judgements_per_tuple <= len(annotators):
        raise ValueError(
            f"{judgements_per_tuple} judgements per tuple need as many annotators, not {len(annotators)}."
        )
    rng = np.random.default_rng(seed)
    people = _dealt(len(tuples), len(annotators), judgements_per_tuple, rng)
    judged = rng.permutation(people.size)
    asked, people = judged // judgements_per_tuple, people.ravel()[judged]
    best, worst = np.empty(len(judged), dtype=np.int64), np.empty(len(judged), dtype=np.int64)
    for number, annotator in enumerate(annotators):
        mine = people == number
        best[mine], worst[mine] = simulated_choices(latent[tuples[asked[mine]]], annotator, rng)
    return Judgements.from_slots(tuples[asked], best, worst, item_count=len(latent), annotators=people)


def _dealt(tuples: int, people: int, each: int, rng: np.random.Generator) -> IntArray:
    """Who judges each tuple (T, each): different people, each of them about equally often."""
    blocks = -(-tuples // people)
    # Everybody moves on by one from tuple to tuple; how far apart those of one tuple sit changes with the
    # block.
    seats = rng.permuted(np.tile(np.arange(people), (blocks, 1)), axis=1)[:, :each]
    number = rng.permutation(tuples)
    dealt: IntArray = (number[:, None] + seats[number // people]) % people
    return dealt
