"""Several encoders on the same test pairs."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from mlworkers.encoders.comparison import compare, undefined
from mlworkers.encoders.intervals import bootstrap_interval

GENERATOR = np.random.default_rng(8)
GOLD = GENERATOR.integers(0, 6, size=120).astype(float)


def noisy(amount: float, *, seeds: int = 1) -> list[np.ndarray]:
    return [GOLD + amount * GENERATOR.normal(size=GOLD.size) for _seed in range(seeds)]


def test_a_mean_over_seeds_and_its_deviation_by_hand() -> None:
    vectors = noisy(2.0, seeds=3)
    each = [spearmanr(vector, GOLD).statistic for vector in vectors]

    found = compare({"plain": vectors}, GOLD, reference="plain", resamples=0, seed=1)["plain"]

    assert found.seeds == pytest.approx(each)
    assert found.mean.value == pytest.approx(np.mean(each))
    assert found.sd == pytest.approx(np.std(each, ddof=1))
    assert (found.mean.low, found.difference) == (None, None)


def test_the_interval_of_one_seed_is_the_bootstrap_s() -> None:
    (vector,) = noisy(2.0)

    found = compare({"plain": [vector]}, GOLD, reference="plain", resamples=300, seed=4)["plain"]

    interval = bootstrap_interval(vector, GOLD, resamples=300, seed=4)
    assert (found.mean.low, found.mean.high) == pytest.approx((interval.low, interval.high))
    assert found.sd is None


def test_the_interval_of_a_difference_is_that_of_resampling_both_together() -> None:
    plain, other = noisy(2.5)[0], noisy(1.0)[0]

    found = compare({"plain": [plain], "other": [other]}, GOLD, reference="plain", resamples=400, seed=9)[
        "other"
    ]

    # Another bootstrap, written plainly: other resamples, so the ends agree to a few hundredths.
    rng = np.random.default_rng(77)
    drawn = [rng.integers(GOLD.size, size=GOLD.size) for _ in range(400)]
    apart = [
        spearmanr(other[rows], GOLD[rows]).statistic - spearmanr(plain[rows], GOLD[rows]).statistic
        for rows in drawn
    ]
    assert found.difference.value == pytest.approx(
        spearmanr(other, GOLD).statistic - spearmanr(plain, GOLD).statistic
    )
    assert (found.difference.low, found.difference.high) == pytest.approx(
        np.quantile(apart, [0.025, 0.975]), abs=0.03
    )


def test_an_encoder_that_differs_in_nothing_has_a_difference_of_exactly_nothing() -> None:
    vectors = noisy(1.0, seeds=2)

    found = compare({"plain": vectors, "same": vectors}, GOLD, reference="plain", resamples=100, seed=2)[
        "same"
    ]

    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)


def test_equal_cosines_are_undefined_and_said() -> None:
    vectors = {"plain": noisy(1.0, seeds=2), "flat": [np.full(GOLD.size, 0.3), noisy(1.0)[0]]}

    found = compare(vectors, GOLD, reference="plain", resamples=100, seed=2)

    assert found["flat"].mean.value is None
    assert found["flat"].sd is None
    assert (found["flat"].difference.value, found["flat"].difference.low) == (None, None)
    assert list(undefined(found)) == [
        "The encoder “flat” gives every test pair the same cosine, so it has no correlation."
    ]


def test_a_reference_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="There is no encoder “plain” to compare with; there are base"):
        compare({"base": noisy(1.0)}, GOLD, reference="plain", resamples=0, seed=1)
