"""Batches without siblings: every row once, no source twice in a batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.training.siblings import SiblingsApart, batches_without_siblings

TABLES = st.integers(1, 60).flatmap(
    lambda rows: st.lists(st.lists(st.integers(0, 25), min_size=3, max_size=3), min_size=rows, max_size=rows)
)


@given(table=TABLES, size=st.integers(1, 16), seed=st.integers(0, 5))
def test_every_row_is_in_one_batch_and_no_source_twice_in_any(table, size, seed) -> None:
    sources = np.array(table, dtype=np.int64)

    batches = batches_without_siblings(sources, size, seed=(seed, 0))

    assert sorted(np.concatenate(batches).tolist()) == list(range(len(table)))
    for batch in batches:
        assert len(batch) <= size
        named = [source for row in batch.tolist() for source in set(table[row])]
        assert len(named) == len(set(named))


def test_rows_without_siblings_fill_the_fewest_batches_evenly() -> None:
    sources = np.arange(100).reshape(100, 1)

    batches = batches_without_siblings(sources, 32, seed=(1, 0))

    assert [len(batch) for batch in batches] == [25, 25, 25, 25]


def test_copies_of_one_source_are_spread_over_batches_that_stay_large() -> None:
    sources = np.repeat(np.arange(40), 5).reshape(-1, 1)  # 40 sources with 5 rows each

    sizes = sorted(len(batch) for batch in batches_without_siblings(sources, 20, seed=(1, 0)))

    assert (sum(sizes), len(sizes)) == (200, 10)
    assert sizes == [20] * 10


def test_a_source_with_more_rows_than_batches_gets_more_and_smaller_ones() -> None:
    sources = np.array([[0]] * 6 + [[n] for n in range(1, 7)])

    sizes = [len(batch) for batch in batches_without_siblings(sources, 6, seed=(1, 0))]

    assert sizes == [2] * 6


def test_each_epoch_has_its_own_order_which_follows_from_the_seed() -> None:
    sources = np.arange(24).reshape(24, 1)

    def batches(seed: int) -> list[list[int]]:
        made = SiblingsApart(sources, batch_size=6, epochs=2, warmup=0, seed=seed, evaluate_every=3)
        return [made.batch(step).tolist() for step in range(made.steps)]

    assert batches(1) == batches(1)
    assert batches(1)[:4] != batches(1)[4:]
    assert batches(1) != batches(2)


@pytest.mark.parametrize(("done", "due"), [(1, False), (3, True), (6, True), (7, False), (8, True)])
def test_the_model_is_evaluated_every_so_many_steps_and_at_the_end(done: int, due: bool) -> None:
    schedule = SiblingsApart(
        np.arange(48).reshape(48, 1), batch_size=6, epochs=1, warmup=0.25, seed=1, evaluate_every=3
    )

    assert (schedule.steps, schedule.is_evaluated(done)) == (8, due)
    assert [schedule.rate(step) for step in (0, 1, 2, 5, 8)] == [0, 0.5, 1, 0.5, 0]
