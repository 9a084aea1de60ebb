"""A cross-validation as charts, from the result that its run stored."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from curation.results.estimates import Estimate
from mlworkers.kinds.encoders.cross_validation import (
    CrossValidation,
    cross_validation_stored,
    what_to_cite,
)
from mlworkers.kinds.encoders.cross_validation_chart import protocols_chart, sources_chart
from mlworkers.templatetags.runs import drawn

DEVIATIONS = {"headlines": 0.31, "images": 0.22, "forum": 0.27}


def estimate(value: float | None) -> dict[str, float | None]:
    return {
        "pairs": 100,
        "value": value,
        "low": None if value is None else value - 0.02,
        "high": None if value is None else value + 0.02,
    }


def method(name: str, mean: float | None, sources: list[str], unseen: float | None) -> dict[str, Any]:
    def figures(value: float | None) -> dict[str, Any]:
        one = estimate(value)
        folds, of_sources = {"1": one, "2": one}, dict.fromkeys(sources, one)
        return {"mean": one, "pooled": one, "by_fold": folds, "by_source": of_sources}

    return {"method": name, **figures(mean), "unseen": None if unseen is None else figures(unseen)}


def found(
    sources: list[str],
    *,
    ceiling: float | None = 0.875,
    dice: float | None = 0.5,
    unseen: float | None = None,
    seeds: int = 1,
) -> CrossValidation:
    """Dice, and a model that random folds flatter by a sixteenth."""
    protocols = [
        {
            "protocol": name,
            "folds": [{"fold": number, "pairs": 50, "leakage": leakage} for number in ("1", "2")],
            "leakage": leakage,
            "unseen_pairs": 100 if unseen is None else 60,
            "methods": [
                method("dice", dice, sources, unseen),
                method("fine-tuned", value, sources, unseen and unseen + 0.25),
            ],
        }
        for name, leakage, value in (("random", 0.25, 0.8125), ("components", 0.0, 0.75))
    ]
    stored = cross_validation_stored(
        {
            "pairs": 100,
            "protocols": protocols,
            "sources": [
                {"source": name, "pairs": 40 - number, "mean": 0.5, "deviation": DEVIATIONS.get(name, 0.3)}
                for number, name in enumerate(sources)
            ],
            "trainings": [{"protocol": "random", "fold": "1", "epochs": 2, "dev": [], "training_pairs": 50}],
            "seeds": list(range(seeds)),
            "ceiling": ceiling,
        }
    )
    assert stored is not None
    return stored


def drawn_words(chart: Any) -> str:
    return unquote(chart.svg_file)


def test_both_protocols_of_a_method_stand_beside_each_other_below_the_human_ceiling() -> None:
    chart = drawn(protocols_chart(found(["headlines"]), judges=""))

    assert chart is not None
    assert chart.rows == [
        ["Dice", "random folds", 0.5, 0.48, 0.52],
        ["Dice", "component folds", 0.5, 0.48, 0.52],
        ["model, fine-tuned", "random folds", 0.8125, 0.7925, 0.8325],
        ["model, fine-tuned", "component folds", 0.75, 0.73, 0.77],
        ["human ceiling", "", 0.875, None, None],
    ]
    assert all(
        word in drawn_words(chart)
        for word in ("random folds", "component folds", "human ceiling", "fine-tuned")
    )


def test_the_chart_says_that_its_intervals_leave_out_the_noise_of_training() -> None:
    chart = drawn(protocols_chart(found(["headlines"]), judges=""))

    assert chart is not None
    assert chart.unit == "pairs, 1 training; 95 % intervals over pairs, without the noise of training"


def test_with_several_seeds_the_chart_says_that_its_intervals_are_over_them_too() -> None:
    chart = drawn(protocols_chart(found(["headlines"], seeds=5), judges=""))

    assert chart is not None
    assert chart.unit.endswith("95 % intervals over pairs, and over seeds where something was trained")


def test_unseen_pairs_have_a_hollow_dot_below_that_of_all_pairs() -> None:
    chart = drawn(protocols_chart(found(["headlines"], unseen=0.375), judges=""))

    assert chart is not None
    assert chart.rows[4:8] == [
        ["model, fine-tuned", "random folds", 0.8125, 0.7925, 0.8325],
        ["model, fine-tuned", "random folds, unseen", 0.625, 0.605, 0.645],
        ["model, fine-tuned", "component folds", 0.75, 0.73, 0.77],
        ["model, fine-tuned", "component folds, unseen", 0.625, 0.605, 0.645],
    ]
    assert chart.finding.startswith(
        "Best on the unseen pairs of component folds: model, fine-tuned, with a mean Spearman of 0.625 (on all pairs "
        "0.750)."
    )
    dots = re.findall(r'<path aria-label="[^>]*aria-roledescription="point"[^>]*>', drawn_words(chart))
    assert len(dots) == 8
    assert all((" fill=" in dot) == ("unseen" not in dot) and 'stroke="#' in dot for dot in dots)


def test_the_words_say_which_means_to_cite() -> None:
    assert what_to_cite(found(["headlines"])) == "Cite the means on component folds."
    assert what_to_cite(found(["headlines"], unseen=0.375)).startswith(
        "Cite the means on component folds over the 60 unseen pairs"
    )


def test_a_result_of_an_earlier_version_has_its_figures() -> None:
    one = {"value": 0.5, "low": 0.4, "high": 0.6}
    figures = {"mean": one, "pooled": one, "by_fold": {"1": one}, "by_source": {}, "unseen": one}
    protocol = {"protocol": "random", "folds": [{"fold": "1", "pairs": 50, "leakage": 0.25}], "leakage": 0.25}
    result = {
        "pairs": 50, "protocols": [{**protocol, "methods": [{"method": "dice", **figures}]}], "sources": [],
        "trainings": [],
    }  # fmt: skip

    stored = cross_validation_stored(result)

    assert stored is not None
    assert stored.protocols[0].methods[0].unseen.pooled.value == 0.5


def test_without_a_ceiling_none_is_drawn_and_a_method_without_a_figure_has_no_dot() -> None:
    chart = drawn(protocols_chart(found(["headlines"], ceiling=None, dice=None), judges=""))

    assert chart is not None
    assert {row[0] for row in chart.rows} == {"model, fine-tuned"}
    assert "human ceiling" not in drawn_words(chart)


def test_each_source_is_drawn_with_its_pairs_and_the_spread_of_its_scores() -> None:
    chart = drawn(sources_chart(found(["headlines", "images", "forum"]), judges=""))

    assert chart is not None
    assert "39 pairs, sd 0.22" in drawn_words(chart)
    assert "least in images (sd 0.22) and most in headlines (0.31)" in chart.finding
    assert len(chart.rows) == 3 * 3  # Dice once, the trained model under each protocol


def test_of_many_sources_the_largest_are_drawn_and_the_finding_says_so() -> None:
    chart = drawn(sources_chart(found([f"source {number}" for number in range(8)]), judges=""))

    assert chart is not None
    assert chart.n == sum(range(35, 41))
    assert chart.finding.endswith("The 6 largest of 8 sources are drawn.")


def test_a_source_without_a_figure_is_neither_drawn_nor_called_narrow() -> None:
    of_three = found(["headlines", "images", "forum"])
    lonely = replace(
        of_three.sources[0], label="one pair", deviation=0.0, labelled=[("Dice", Estimate(None))]
    )

    chart = drawn(sources_chart(replace(of_three, sources=[lonely, *of_three.sources[1:]]), judges=""))

    assert chart is not None
    assert "least in images (sd 0.22) and most in forum (0.27)" in chart.finding
    assert "one pair" not in drawn_words(chart)


def test_one_source_alone_has_nothing_to_be_compared_with() -> None:
    assert sources_chart(found(["headlines"]), judges="") is None
