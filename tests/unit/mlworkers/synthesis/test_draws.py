"""Each row has a stream of random numbers of its own, which follows from what the row is."""

import numpy as np
from scipy.stats import kstest

from mlworkers.science.synthesis.draws import row_seed, uniform_draws

ROW = {"seed": 42, "source": "A dog runs.", "label": "0.5", "sample": 1}


def test_a_stream_follows_from_seed_source_label_and_sample_alone() -> None:
    others = [{"seed": 43}, {"source": "A dog runs!"}, {"label": "0"}, {"sample": 2}]

    streams = [tuple(uniform_draws(5, **{**ROW, **other})) for other in ({}, {}, *others)]

    assert streams[0] == streams[1]
    assert len(set(streams)) == 1 + len(others)


def test_a_longer_stream_begins_with_the_shorter_one() -> None:
    assert (uniform_draws(40, **ROW)[:7] == uniform_draws(7, **ROW)).all()


def test_the_numbers_of_many_streams_are_uniform() -> None:
    numbers = np.concatenate([uniform_draws(5, **{**ROW, "sample": sample}) for sample in range(2_000)])

    assert kstest(numbers, "uniform").pvalue > 0.001
    assert numbers.min() >= 0
    assert numbers.max() < 1


def test_streams_of_neighbouring_rows_are_not_correlated() -> None:
    first, second = (
        np.array([uniform_draws(1, **{**ROW, "sample": sample + after})[0] for sample in range(2_000)])
        for after in (0, 1)
    )

    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / 2_000**0.5


def test_half_of_a_character_in_a_source_makes_no_error() -> None:
    assert len(uniform_draws(3, **{**ROW, "source": "\ud800"})) == 3


def test_the_seed_for_a_server_has_31_bits_and_differs_between_rows() -> None:
    seeds = {row_seed(**{**ROW, "sample": sample}) for sample in range(1_000)}

    assert len(seeds) == 1_000
    assert all(0 <= seed < 2**31 for seed in seeds)
