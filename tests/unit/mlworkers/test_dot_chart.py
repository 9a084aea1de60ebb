"""Dots with intervals in rows, as the charts of several results have them."""

from collections.abc import Iterator
from typing import Any

import altair as alt

from mlworkers.kinds.dot_chart import Dot, dots_in_rows, labels_axis


def layers(*dots: Dot, **more: Any) -> Iterator[list[dict[str, Any]]]:
    described = dots_in_rows(dots, title="Spearman", **more).to_dict()
    for layer in described["layer"]:
        yield described["datasets"][layer["data"]["name"]]


def test_a_dot_has_an_interval_and_seeds_where_it_has_them() -> None:
    rules, seeds, figures = layers(
        Dot("plain", 0.7, 0.6, 0.8, [0.65, 0.75]), Dot("short", 0.5), Dot("none", None)
    )

    assert rules == [{"label": "plain", "low": 0.6, "high": 0.8}]
    assert seeds == [{"label": "plain", "value": 0.65}, {"label": "plain", "value": 0.75}]
    assert figures == [{"label": "plain", "value": 0.7}, {"label": "short", "value": 0.5}]


def test_without_seeds_there_is_no_layer_of_them() -> None:
    assert len(list(layers(Dot("plain", 0.7, 0.6, 0.8)))) == 2


def test_rows_come_in_the_order_of_the_dots_also_one_without_a_figure() -> None:
    described = dots_in_rows([Dot("b", 0.1), Dot("a", None), Dot("c", 0.2)], title="x", row=40).to_dict()

    of_rows = described["layer"][-1]["encoding"]["y"]
    assert of_rows["scale"]["domain"] == ["b", "a", "c"]
    assert described["height"] == 120


def test_the_longest_name_has_room_unless_another_is_given() -> None:
    assert labels_axis(["short", "a name of twenty-two."]).to_dict()["minExtent"] == 21 * 7
    assert labels_axis(["a name of twenty-two."], room=0, shown=False).to_dict()["minExtent"] == 0
    assert isinstance(dots_in_rows([Dot("a", 1.0)], title="x"), alt.LayerChart)
