"""Which rows are learned when, and how fast."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.encoders.plan import EncoderPlan
from mlworkers.science.training.schedule import (
    BatchesOfLikeLength,
    ShuffledEpochs,
    batches_of_like_length,
    is_curve_point,
)


def schedule(**settings) -> ShuffledEpochs:
    return ShuffledEpochs(
        **{"rows": 10, "batch_size": 4, "epochs": 2, "warmup": 1 / 3, "evaluations": 1, "seed": 5} | settings
    )


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 3), st.integers(0, 99))
def test_every_epoch_sees_every_pair_once(pairs: int, batch_size: int, epochs: int, seed: int) -> None:
    found = schedule(rows=pairs, batch_size=batch_size, epochs=epochs, seed=seed)

    for epoch in range(epochs):
        steps = range(epoch * found.per_epoch, (epoch + 1) * found.per_epoch)
        assert sorted(np.concatenate([found.batch(step) for step in steps])) == list(range(pairs))


def test_the_order_is_the_seed_s_and_another_in_each_epoch() -> None:
    first, again, other = schedule(), schedule(), schedule(seed=6)

    assert [first.batch(step).tolist() for step in range(6)] == [
        again.batch(step).tolist() for step in range(6)
    ]
    assert first.batch(0).tolist() != other.batch(0).tolist()
    assert first.batch(0).tolist() != first.batch(3).tolist()


def test_the_rate_rises_and_falls_in_a_line_as_transformers_has_it() -> None:
    found = schedule(epochs=3)

    assert [round(found.rate(step), 4) for step in range(9)] == [
        0, 0.3333, 0.6667, 1, 0.8333, 0.6667, 0.5, 0.3333, 0.1667
    ]  # fmt: skip


def test_without_a_warm_up_the_first_step_is_the_fastest() -> None:
    assert [schedule(warmup=0).rate(step) for step in (0, 3)] == [1, 0.5]


@pytest.mark.parametrize(
    ("evaluations", "steps"), [(1, [5, 10]), (2, [3, 5, 8, 10]), (100, list(range(1, 11)))]
)
def test_an_epoch_is_evaluated_so_often_and_at_its_end(evaluations: int, steps: list[int]) -> None:
    found = schedule(rows=5, batch_size=1, evaluations=evaluations)

    assert [done for done in range(1, 11) if found.is_evaluated(done)] == steps


def test_a_long_training_has_a_curve_of_two_hundred_points() -> None:
    found = schedule(rows=10_000, batch_size=4, epochs=1)

    noted = [done for done in range(1, found.steps + 1) if is_curve_point(done, found.steps)]

    assert len(noted) == 193
    assert noted[-1] == found.steps


def test_a_plan_s_warm_up_is_rounded_up_to_whole_steps() -> None:
    plan = EncoderPlan(dataset="d", model="m", scores="s", epochs=2, batch_size=4, warmup=0.1)

    assert plan.schedule(25).rising_steps == 2  # a tenth of 14 steps


def test_an_epoch_holds_every_row_once_in_batches_of_like_length() -> None:
    lengths = np.random.default_rng(3).integers(10, 90, size=1003)

    batches = batches_of_like_length(lengths, 16, seed=(42, 0))

    assert sorted(np.concatenate(batches)) == list(range(1003))
    padding = sum(max(lengths[batch]) * len(batch) for batch in batches) / lengths.sum()
    assert padding < 1.15  # a random order pads by two thirds
    other = batches_of_like_length(lengths, 16, seed=(42, 1))
    assert [batch.tolist() for batch in batches] != [batch.tolist() for batch in other]


def test_batches_of_like_length_follow_from_the_step_alone() -> None:
    lengths = np.random.default_rng(3).integers(10, 90, size=50)
    first, second = (
        BatchesOfLikeLength(lengths, batch_size=8, steps=20, warmup=0.1, seed=1) for _ in range(2)
    )

    in_order = [first.batch(step).tolist() for step in range(20)]
    backwards = [second.batch(step).tolist() for step in reversed(range(20))]

    assert in_order == backwards[::-1]


def test_where_steps_are_counted_the_rate_rises_at_once_and_falls_to_nothing() -> None:
    found = BatchesOfLikeLength(np.ones(10, dtype=np.int64), batch_size=2, steps=100, warmup=0.1, seed=1)
    rates = [found.rate(step) for step in range(100)]

    assert rates[0] == pytest.approx(0.1)
    assert max(rates) == rates[9] == 1.0
    assert rates[99] == pytest.approx(1 / 90)
    assert all(left >= right for left, right in pairwise(rates[10:]))
