"""The ceiling of a correlation, by hand and in a simulation of classical test theory."""

from math import sqrt

import numpy as np
import pytest
from scipy.stats import pearsonr

from mlworkers.science.encoders.ceiling import Ceiling, ceiling_of

HALVES = {"spearman_mean": 0.84, "spearman_low": 0.8, "spearman_high": 0.88}


def test_split_half_reliability_is_stepped_up_by_hand() -> None:
    found = ceiling_of({"reliability": HALVES}, method="counting")

    assert found.reliability == pytest.approx(1.68 / 1.84)
    assert (found.value, found.low, found.high) == pytest.approx(
        (sqrt(1.68 / 1.84), sqrt(1.6 / 1.8), sqrt(1.76 / 1.88))
    )


def test_maxdiff_scores_take_their_marginal_reliability() -> None:
    ends = {"marginal_reliability_low": 0.64, "marginal_reliability_high": 0.9}
    parameters = {"reliability": HALVES, "marginal_reliability": 0.81, **ends}

    found = ceiling_of(parameters, method="maxdiff")
    assert (found.value, found.low, found.high) == pytest.approx((0.9, 0.8, sqrt(0.9)))
    assert ceiling_of(parameters, method="counting").reliability == pytest.approx(1.68 / 1.84)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"reliability": None, "marginal_reliability": None}, {"reliability": {"spearman_mean": -0.1}}],
)
def test_scores_without_a_known_reliability_have_no_ceiling(parameters) -> None:
    assert ceiling_of(parameters, method="maxdiff") is None


def test_the_ceiling_is_the_correlation_of_the_scores_with_error_free_ones() -> None:
    rng = np.random.default_rng(4)
    true = rng.normal(size=40_000)
    observed = true + 0.5 * rng.normal(size=true.size)  # reliability 1 / 1.25

    ceiling = Ceiling(1 / 1.25, "known")

    assert pearsonr(true, observed).statistic == pytest.approx(ceiling.value, abs=0.01)
