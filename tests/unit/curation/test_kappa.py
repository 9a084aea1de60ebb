"""Cohen's kappa and its interval."""

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from curation.statistics.kappa import cohen_kappa, kappa_of_table


def test_kappa_and_its_standard_error_are_those_of_the_published_case() -> None:
    # Fleiss, Levin and Paik (2003), table 18.1 and section 18.1: 100 subjects, kappa .68, standard error .087.
    value, error = kappa_of_table(np.array([[75.0, 1, 4], [5, 4, 1], [0, 0, 10]]))

    assert value == pytest.approx(0.68, abs=0.005)
    assert error == pytest.approx(0.087, abs=0.001)


def test_kappa_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    first = rng.choice(["keep", "reject", "edit"], 80).tolist()
    second = [one if rng.random() < 0.6 else "keep" for one in first]

    found = cohen_kappa(first, second)

    assert found.value == pytest.approx(cohen_kappa_score(first, second))
    assert found.low < found.value < found.high
    assert found.agreed == sum(one == other for one, other in zip(first, second, strict=True))


def test_two_who_always_agree_have_kappa_1_and_an_interval_below() -> None:
    found = cohen_kappa(["keep"] * 8 + ["reject"] * 4, ["keep"] * 8 + ["reject"] * 4)

    assert found.value == pytest.approx(1.0)
    assert 0.3 < found.low < 0.9
    assert found.high == pytest.approx(1.0)


@pytest.mark.parametrize("verdicts", [[], ["keep"] * 5])
def test_without_two_kinds_of_verdict_kappa_is_undefined(verdicts) -> None:
    found = cohen_kappa(verdicts, verdicts)

    assert (found.value, found.agreed) == (None, len(verdicts))


def test_unequal_numbers_of_verdicts_are_refused() -> None:
    with pytest.raises(ValueError, match="2 first and 1 second decisions"):
        cohen_kappa(["keep", "keep"], ["keep"])
