import pytest

from mlworkers.science.encoders.searching import Trial, best_of, grid_of, trials_drawn

GRID = grid_of([0.0, 0.5], [1e-5, 2e-5], [1, 3], [16])


def test_a_grid_has_every_combination_once_and_the_last_setting_changes_first() -> None:
    assert grid_of([0.0, 0.5], [1e-5], [1, 3], [16]) == [
        Trial(0.0, 1e-5, 1, 16),
        Trial(0.0, 1e-5, 3, 16),
        Trial(0.5, 1e-5, 1, 16),
        Trial(0.5, 1e-5, 3, 16),
    ]


@pytest.mark.parametrize("most", [0, 8, 9])
def test_without_a_smaller_number_the_whole_grid_is_tried(most: int) -> None:
    assert trials_drawn(GRID, most, seed=1) == GRID


def test_a_draw_takes_different_combinations_in_the_grid_s_order_and_the_same_ones_again() -> None:
    drawn = trials_drawn(GRID, 5, seed=1)

    assert drawn == [trial for trial in GRID if trial in drawn]
    assert len(set(drawn)) == 5
    assert drawn == trials_drawn(GRID, 5, seed=1)


def test_every_combination_is_drawn_about_equally_often() -> None:
    drawn = [trial for seed in range(800) for trial in trials_drawn(GRID, 2, seed=seed)]

    # 800 draws of 2 of 8: 200 each, sd √(800 · ¼ · ¾) = 12.2.
    assert all(abs(drawn.count(trial) - 200) < 5 * 12.2 for trial in GRID)


@pytest.mark.parametrize(
    ("figures", "place"),
    [([0.1, 0.3, 0.2], 1), ([None, -0.2, None], 1), ([0.3, 0.1, 0.3], 0), ([None, -0.5, -0.4], 2)],
)
def test_the_highest_figure_is_best_and_the_first_of_equal_ones(figures, place: int) -> None:
    assert best_of(figures) == place


def test_where_no_trial_has_a_figure_nothing_is_chosen() -> None:
    with pytest.raises(ValueError, match="No trial has a figure"):
        best_of([None, None])
