"""What the table of a comparison holds, and what the sentence above it may say."""

import pytest

from mlworkers.models import Evaluation
from mlworkers.registry.comparison import Cell, Comparison, comparison_of, csv_rows, what_it_shows

Bounds = tuple[float, float, float]  # a difference from plain and its interval


def figure(label: str, value: float | None, *, suite: str = "scenes", metric: str = "spearman") -> Evaluation:
    return Evaluation(label=label, value=value, suite=suite, metric=metric, n=420)


def told(spearman: float, difference: Bounds | None = None) -> dict[str, float]:
    known = {"spearman": spearman, "low": spearman - 0.02, "high": spearman + 0.02}
    names = ("difference", "difference_low", "difference_high")
    return known | (dict(zip(names, difference, strict=True)) if difference else {})


def compared(*, seeds: int = 2, **encoders: dict[str, float]) -> Comparison:
    return comparison_of({"encoders": encoders, "pairs": 420, "seeds": list(range(seeds))}, [])


def test_rows_stand_in_the_order_of_the_paper_whatever_the_order_of_the_run() -> None:
    comparison = compared(
        constant=told(0.83),
        realism=told(0.84),
        mine=told(0.8),
        base=told(0.81),
        filter=told(0.83),
        plain=told(0.83),
    )

    labels = [row.label for row in comparison.rows]
    assert labels == ["base", "plain", "filter", "realism", "constant", "mine"]


def test_a_weighting_whose_interval_excludes_0_is_told_apart_with_its_figures() -> None:
    comparison = compared(plain=told(0.833), realism=told(0.845, (0.012, 0.003, 0.021)))

    assert what_it_shows(comparison).startswith("Realism is 0.012 (0.003 to 0.021) above plain. ")


def test_one_that_lies_below_is_said_to_lie_below_with_its_interval_from_small_to_large() -> None:
    comparison = compared(plain=told(0.833), random=told(0.812, (-0.021, -0.034, -0.009)))

    assert what_it_shows(comparison).startswith("Random is 0.021 (0.009 to 0.034) below plain. ")


def test_weightings_whose_intervals_include_0_are_named_together_as_not_told_apart() -> None:
    comparison = compared(
        plain=told(0.833),
        filter=told(0.836, (0.003, -0.004, 0.009)),
        random=told(0.829, (-0.004, -0.011, 0.004)),
    )

    assert what_it_shows(comparison).startswith(
        "Filter and random are not distinguishable from plain: the intervals of their differences include 0. "
    )


def test_the_untrained_base_is_called_by_what_it_is() -> None:
    comparison = compared(base=told(0.81, (-0.02, -0.03, -0.01)), plain=told(0.83))

    assert what_it_shows(comparison).startswith("The baseline model is 0.020 (0.010 to 0.030) below plain.")


def test_an_interval_that_touches_0_does_not_exclude_it() -> None:
    assert not Cell(difference=0.01, difference_low=0.0, difference_high=0.02).differs
    assert Cell(difference=0.01, difference_low=0.001, difference_high=0.02).differs
    assert not Cell(difference=0.01, difference_low=None, difference_high=0.02).differs


def test_without_a_measured_difference_the_sentence_ranks_nothing() -> None:
    comparison = compared(base=told(0.81), plain=told(0.83), realism=told(0.9))

    assert what_it_shows(comparison).startswith("There is no interval for a difference from plain training")


@pytest.mark.parametrize(
    ("seeds", "limit"),
    [
        (1, "One test of 420 pairs and one seed: they cannot show how much another seed would change this."),
        (
            2,
            "One test of 420 pairs and 2 seeds: intervals are over pairs, so few seeds show only roughly how",
        ),
        (5, "One test of 420 pairs and 5 seeds: other tests may give another order."),
    ],
)
def test_the_sentence_ends_with_what_so_many_seeds_cannot_show(seeds: int, limit: str) -> None:
    comparison = compared(seeds=seeds, plain=told(0.83), realism=told(0.84, (0.01, 0.001, 0.02)))

    assert limit in what_it_shows(comparison)


def test_a_second_test_shows_the_mean_and_spread_of_its_seeds_and_no_difference() -> None:
    measured = [
        figure("plain", 0.83),
        figure("plain", 0.84),
        figure("plain", 0.70, suite="other"),
        figure("plain", 0.74, suite="other"),
        figure("plain", 0.99, suite="other", metric="pearson"),
        figure("plain", None, suite="other"),
    ]

    comparison = comparison_of({"encoders": {"plain": told(0.835)}}, measured)

    first, second = comparison.rows[0].cells
    assert comparison.suites == ["scenes", "other"]
    assert (first.mean, first.by_seed) == (0.835, (0.83, 0.84))
    assert second.mean == pytest.approx(0.72)
    assert second.sd == pytest.approx(0.0282843, abs=1e-6)  # |0.70 - 0.74| / sqrt 2
    assert not second.has_difference


def test_the_file_holds_a_row_for_each_encoder_and_test() -> None:
    measured = [figure("plain", 0.83), figure("realism", 0.84)]
    result = {"encoders": {"plain": told(0.83), "realism": told(0.84, (0.01, 0.001, 0.02))}}

    rows = csv_rows(comparison_of(result, measured))

    assert rows == [
        ["plain", "scenes", 0.83, None, pytest.approx(0.81), pytest.approx(0.85), None, None, None, 1],
        ["realism", "scenes", 0.84, None, pytest.approx(0.82), pytest.approx(0.86), 0.01, 0.001, 0.02, 1],
    ]
