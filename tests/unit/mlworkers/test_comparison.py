"""What the table of a comparison holds, and what the sentences above it may say."""

import pytest

from mlworkers.kinds.comparisons.comparison import CSV_COLUMNS, Cell, Comparison, comparison_of, csv_rows
from mlworkers.kinds.comparisons.comparison_words import what_it_shows
from mlworkers.models import Evaluation

Difference = tuple[float, float, float, float]  # a difference, its interval and its adjusted p


def figure(label: str, value: float | None, *, suite: str = "scenes", metric: str = "spearman") -> Evaluation:
    return Evaluation(label=label, value=value, suite=suite, metric=metric, n=420)


def difference(found: Difference) -> dict[str, float]:
    names = ("difference", "difference_low", "difference_high", "p_holm")
    return {**dict(zip(names, found, strict=True)), "p": found[3] / 2, "difference_sd": 0.004}


def told(spearman: float, found: Difference | None = None) -> dict[str, float | None]:
    """What a result says of an encoder, with its difference from plain."""
    known = {"spearman": spearman, "low": spearman - 0.02, "high": spearman + 0.02}
    return known | (difference(found) if found else {})


def stored(encoders: dict[str, dict], over_shuffle: Difference | None = None) -> dict[str, dict]:
    return {
        "encoders": {
            label: {name: row[name] for name in ("spearman", "low", "high")}
            for label, row in encoders.items()
        },
        "from_plain": {
            label: {name: value for name, value in row.items() if name not in ("spearman", "low", "high")}
            for label, row in encoders.items()
            if "difference" in row
        },
        "from_shuffle": {"realism": difference(over_shuffle)} if over_shuffle else {},
    }


def compared(*, seeds: int = 5, over_shuffle: Difference | None = None, **encoders: dict) -> Comparison:
    result = {**stored(encoders, over_shuffle), "pairs": 420, "seeds": list(range(seeds))}
    return comparison_of(result, [])


CONTROLS = {"shuffle": told(0.83), "constant": told(0.83)}


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


def test_a_weighting_that_differs_is_named_with_its_figures() -> None:
    comparison = compared(plain=told(0.833), realism=told(0.845, (0.012, 0.003, 0.021, 0.02)))

    assert what_it_shows(comparison).startswith("Realism is 0.012 (0.003 to 0.021) above plain. ")


def test_one_that_lies_below_is_said_to_lie_below_with_its_interval_from_small_to_large() -> None:
    comparison = compared(plain=told(0.833), random=told(0.812, (-0.021, -0.034, -0.009, 0.01)))

    assert what_it_shows(comparison).startswith("Random is 0.021 (0.009 to 0.034) below plain. ")


def test_weightings_that_do_not_differ_are_named_together() -> None:
    comparison = compared(
        plain=told(0.833),
        filter=told(0.836, (0.003, -0.004, 0.009, 0.6)),
        random=told(0.829, (-0.004, -0.011, 0.004, 0.6)),
    )

    assert what_it_shows(comparison).startswith("Filter and random are not distinguishable from plain. ")


def test_the_untrained_base_is_called_by_what_it_is() -> None:
    comparison = compared(base=told(0.81, (-0.02, -0.03, -0.01, 0.001)), plain=told(0.83))

    assert what_it_shows(comparison).startswith("The baseline model is 0.020 (0.010 to 0.030) below plain.")


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        (
            (0.01, 0.004, 0.016, 0.01),
            "Realism is 0.010 (0.004 to 0.016) above shuffle, which gives the same weights to other pairs, so p_D says",
        ),
        (
            (0.001, -0.004, 0.006, 0.9),
            "Realism is not distinguishable from shuffle, which gives the same weights",
        ),
        ((-0.01, -0.016, -0.004, 0.01), "Realism is 0.010 (0.004 to 0.016) below shuffle"),
    ],
)
def test_what_is_said_of_p_d_comes_from_the_difference_from_shuffle(over: Difference, sentence: str) -> None:
    comparison = compared(
        plain=told(0.83), realism=told(0.84, (0.01, 0.004, 0.016, 0.01)), over_shuffle=over, **CONTROLS
    )

    shows = what_it_shows(comparison)

    assert shows.startswith(sentence)
    assert "Realism is 0.010 (0.004 to 0.016) above plain" in shows
    assert "Without the control" not in shows


def test_a_comparison_without_controls_says_what_it_cannot_show() -> None:
    shows = what_it_shows(compared(plain=told(0.83), realism=told(0.84, (0.01, 0.004, 0.016, 0.01))))

    assert "Without the control shuffle, this comparison cannot show whether p_D says anything" in shows
    assert "Without the control constant, it cannot show whether a smaller loss alone" in shows


def test_plain_training_alone_needs_no_control() -> None:
    assert "control" not in what_it_shows(compared(plain=told(0.83)))


def test_only_an_adjusted_p_below_a_twentieth_and_enough_seeds_make_a_difference_real() -> None:
    measured = {"difference": 0.01, "difference_low": 0.001, "difference_high": 0.02}

    assert Cell(**measured, p=0.01, p_holm=0.04, judged=True).differs
    assert not Cell(**measured, p=0.01, p_holm=0.06, judged=True).differs
    assert not Cell(**measured, p=0.01, p_holm=0.04, judged=False).differs
    assert not Cell(**measured, judged=True).differs


def test_without_a_measured_difference_the_sentence_ranks_nothing() -> None:
    comparison = compared(base=told(0.81), plain=told(0.83), realism=told(0.9))

    assert what_it_shows(comparison).startswith("There is no interval for a difference from plain training")


@pytest.mark.parametrize(
    ("seeds", "judged", "sentence"),
    [
        (
            1,
            False,
            (
                "One seed cannot show how much another seed would change the figures, so no difference is "
                "tested."
            ),
        ),
        (
            4,
            False,
            "4 seeds cannot show well enough how much another seed would change the figures, so no difference",
        ),
        (5, True, "Realism is 0.010 (0.001 to 0.020) above plain."),
    ],
)
def test_with_fewer_than_five_seeds_nothing_is_judged(seeds: int, judged: bool, sentence: str) -> None:
    comparison = compared(seeds=seeds, plain=told(0.83), realism=told(0.84, (0.01, 0.001, 0.02, 0.01)))

    shows = what_it_shows(comparison)

    assert shows.startswith(sentence)
    assert comparison.cell("realism").differs == judged
    assert ("As measured, realism is +0.010 from plain." in shows) != judged


def test_a_result_of_an_earlier_version_is_shown_and_not_judged() -> None:
    old = {"spearman": 0.84, "low": 0.82, "high": 0.86, "sd": 0.004}
    apart = {"difference": 0.012, "difference_low": 0.003, "difference_high": 0.021}
    result = {"encoders": {"plain": old, "realism": old | apart}, "pairs": 420, "seeds": [1, 2, 3, 4, 5]}

    comparison = comparison_of(result, [])

    assert comparison.cell("realism").has_difference
    assert not comparison.cell("realism").differs
    assert what_it_shows(comparison).startswith(
        "The intervals of this comparison cover other test pairs and not another training, so no difference "
        "is tested."
    )


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


def test_the_file_holds_a_row_for_each_encoder_and_test_with_both_differences() -> None:
    measured = [figure("plain", 0.83), figure("realism", 0.84), figure("realism", 0.7, suite="other")]
    encoders = {"plain": told(0.83), "realism": told(0.84, (0.01, 0.001, 0.02, 0.04))}
    result = stored(encoders, (0.005, -0.001, 0.011, 0.2))

    rows = [dict(zip(CSV_COLUMNS, row, strict=True)) for row in csv_rows(comparison_of(result, measured))]

    assert [(row["encoder"], row["test"], row["seeds"]) for row in rows] == [
        ("plain", "scenes", 1), ("plain", "other", 0), ("realism", "scenes", 1), ("realism", "other", 1)
    ]  # fmt: skip
    realism = rows[2]
    assert (realism["difference_from_plain"], realism["difference_sd"], realism["p"], realism["p_holm"]) == (
        0.01, 0.004, 0.02, 0.04
    )  # fmt: skip
    assert (realism["difference_from_shuffle"], realism["shuffle_low"], realism["shuffle_p_holm"]) == (
        0.005, -0.001, 0.2
    )  # fmt: skip
    assert (rows[0]["difference_from_shuffle"], rows[3]["difference_from_shuffle"]) == (None, None)
