"""An estimate as it is stored and read."""

from dataclasses import dataclass

import pytest

from curation.results.estimates import Estimate, as_stored, estimate_stored


@dataclass(frozen=True)
class Measured:
    name: str
    by_fold: dict[str, Estimate]


def test_an_estimate_is_stored_with_its_interval_and_with_what_is_asked_for() -> None:
    measured = Measured("Dice", {"1": Estimate(0.5, n=7), "2": Estimate(0.5, 0.25, 0.75, sd=0.125)})

    assert as_stored(measured)["by_fold"]["2"] == {"value": 0.5, "low": 0.25, "high": 0.75}
    assert as_stored(measured, n="pairs") == {
        "name": "Dice",
        "by_fold": {
            "1": {"value": 0.5, "low": None, "high": None, "pairs": 7},
            "2": {"value": 0.5, "low": 0.25, "high": 0.75, "pairs": None},
        },
    }


@pytest.mark.parametrize(
    ("stored", "estimate"),
    [
        ([0.5, 0.25, 0.75], Estimate(0.5, 0.25, 0.75)),
        ({"pairs": 7, "value": None, "low": None, "high": None, "sd": None}, Estimate(n=7)),
        ({"value": 0.5, "low": 0.25, "high": 0.75}, Estimate(0.5, 0.25, 0.75)),
        (None, Estimate()),
    ],
)
def test_estimates_of_earlier_versions_are_read(stored, estimate) -> None:
    assert estimate_stored(stored) == estimate


@pytest.mark.parametrize(
    ("low", "high", "differs"),
    [(0.1, 0.2, True), (-0.2, -0.1, True), (-0.1, 0.2, False), (None, None, False)],
)
def test_an_estimate_differs_from_0_where_its_interval_excludes_it(low, high, differs) -> None:
    assert Estimate(0.1, low, high).differs is differs
