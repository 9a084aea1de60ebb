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


def differing_annotators(
    people: int, *, noise: float, spread: float, careless: float, rng: np.random.Generator
) -> list[SimulatedAnnotator]:
    """Draw people whose noise is log-normal. noise: its median. spread: standard deviation of its logarithm."""
    noises = noise * np.exp(spread * rng.standard_normal(people))  # sigma_a = noise e^(spread z)
    return [SimulatedAnnotator(float(own), careless) for own in noises]


def simulated_choices(
    values: FloatArray, annotator: SimulatedAnnotator, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Judge n tuples by the latent values of their items (n, k): best and worst slots (n,), never the same.

    Every value gets new noise in every tuple (Thurstone 1927, case V). NaN where a tuple has no item.
    """
    return simulated_choices_of(values, np.zeros(len(values), dtype=np.int64), [annotator], rng)


def simulated_choices_of(
    values: FloatArray, judges: IntArray, annotators: Sequence[SimulatedAnnotator], rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """As `simulated_choices`, each tuple (n, k) judged by the annotator whose index `judges` (n,) holds."""
    noises, shares = np.array([(person.noise, person.careless) for person in annotators]).T
    careless = rng.random(len(values)) < shares[judges]
    # Noise alone makes every choice of two different slots equally likely.
    seen = np.where(careless[:, None], 0.0 * values, values)
    # value + sigma_a z; of a careless answer only z, so that every order of the items is equally likely.
    noise = np.where(careless, 1.0, noises[judges])[:, None] * rng.standard_normal(values.shape)
    order = np.argsort(seen + noise, axis=1, kind="stable")
    last = (~np.isnan(values)).sum(axis=1) - 1  # NaN is sorted behind all numbers
    return order[np.arange(len(order)), last], order[:, 0]  # best: largest; worst: smallest


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
    Raises ValueError if there are fewer annotators than judgements per tuple.
    """
    if not 1 <= judgements_per_tuple <= len(annotators):
        raise ValueError(
            f"{judgements_per_tuple} judgements per tuple need as many annotators, not {len(annotators)}."
        )
    rng = np.random.default_rng(seed)
    # Who judges each tuple (T, each): everybody moves on by one from tuple to tuple. How far apart those of one tuple
    # are in this circle changes with the block of tuples.
    each, people = judgements_per_tuple, len(annotators)
    blocks = -(-len(tuples) // people)  # ceil(T / people): one block of tuples for each turn of the circle
    # Different seats within a block are different people: no one judges a tuple twice.
    seats = rng.permuted(np.tile(np.arange(people), (blocks, 1)), axis=1)[:, :each]
    number = rng.permutation(len(tuples))
    # Judge = (tuple's number + seat) mod people: a whole block gives everybody the same work.
    judges = (number[:, None] + seats[number // people]) % people
    judged = rng.permutation(judges.size)  # (T each,) in random order: tuple * each + seat
    asked, judge = judged // each, judges.ravel()[judged]
    best, worst = simulated_choices_of(latent[tuples[asked]], judge, annotators, rng)
    return Judgements.from_slots(tuples[asked], best, worst, item_count=len(latent), annotators=judge)
