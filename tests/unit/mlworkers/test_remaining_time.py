"""The time that a run still takes, in words that hold still."""

from itertools import pairwise

import numpy as np
import pytest

from mlworkers.runs.results import remaining_in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (2, "10 s"),
        (44, "40 s"),
        (61, "1 min"),
        (229, "4 min"),
        (1000, "15 min"),
        (3700, "1 h"),
        (8000, "2 h 15 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_an_estimate_is_rounded_to_what_it_is_worth(seconds: float | None, words: str) -> None:
    assert remaining_in_words(seconds) == words


def test_a_speed_that_varies_a_little_does_not_make_the_estimate_jump() -> None:
    rng = np.random.default_rng(13)
    true = np.arange(3000, 0, -2.0)  # asked every two seconds

    said = [remaining_in_words(one) for one in true * (1 + 0.02 * rng.standard_normal(len(true)))]

    changes = sum(before != after for before, after in pairwise(said))
    assert changes < len(said) / 4
