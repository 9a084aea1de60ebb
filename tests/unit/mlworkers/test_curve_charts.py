"""The curves that a run noted along its way."""

from mlworkers.runs.curves import MOST_STEPS, curve_charts


def test_each_figure_has_a_chart_of_its_own_that_says_its_course() -> None:
    points = [{"step": 0, "loss": 0.5, "dev": 0.7}, {"step": 10, "loss": 0.25, "dev": 0.8}]

    charts = curve_charts(points)

    assert [(chart.name, chart.finding) for chart in charts] == [
        ("curve-loss", "Loss fell from 0.5 to 0.25."),
        ("curve-dev", "Dev rose from 0.7 to 0.8."),
    ]


def test_of_a_step_that_was_written_twice_the_last_line_holds() -> None:
    points = [{"step": 0, "loss": 0.5}, {"step": 1, "loss": 9.0}, {"step": 1, "loss": 0.25}]

    (chart,) = curve_charts(points)

    assert chart.rows == [["", 0, 0.5], ["", 1, 0.25]]


def test_encoders_that_are_trained_in_one_run_have_a_line_each() -> None:
    points = [
        {"step": step, "loss": 1 / (step + 1), "label": label, "seed": 13}
        for label in ("plain", "realism")
        for step in range(3)
    ]

    (chart,) = curve_charts(points)

    assert {row[0] for row in chart.rows} == {"plain, seed 13", "realism, seed 13"}
    assert chart.finding == "Loss of 2 trainings, at the end 0.3333 to 0.3333."


def test_a_long_curve_is_drawn_with_few_points_and_ends_where_it_ends() -> None:
    points = [{"step": step, "loss": 1.0 - step / 10_000} for step in range(9_999)]

    (chart,) = curve_charts(points)

    assert len(chart.rows) <= MOST_STEPS + 1
    assert chart.rows[-1][1] == 9_998


def test_a_single_point_is_no_curve() -> None:
    assert curve_charts([{"step": 0, "loss": 0.5}]) == []
    assert curve_charts([]) == []
