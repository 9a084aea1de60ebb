"""How far a paraphrase lies from its tags, and which of several is nearest."""

import numpy as np
import pytest

from mlworkers.plans.fields import PlanError
from mlworkers.science.paraphrasing.measured import measure, miss, nearest_first, tags_named
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.writing_plan import PAPER_PAIRS, Decoding, WritingPlan

TAGS = tags_named(TagBounds())


@pytest.mark.parametrize(
    ("tag", "value", "widths"),
    [
        ("SIM95", 95.01, 0),
        ("SIM95", 100, 0),
        ("SIM95", 90, 1),
        ("SIM90", 97.5, 0.5),
        ("BLEU0_5", 0, 0),
        ("BLEU0_5", 20, 1),  # this bin has twice the width
        ("BLEU20", 35, 2),
    ],
)
def test_a_miss_is_counted_in_widths_of_the_bin(tag, value, widths) -> None:
    assert miss(TAGS[tag], value) == pytest.approx(widths, abs=1e-8)


def test_a_label_at_the_lower_edge_lies_outside() -> None:
    assert miss(TAGS["SIM95"], 95) > 0


def test_the_nearest_candidates_come_first_and_of_equal_ones_the_likeliest() -> None:
    candidates = [(97, 30), (96, 22), (99, 21), (np.nan, np.nan)]

    assert nearest_first(TAGS["SIM95"], TAGS["BLEU20"], candidates) == [1, 2, 0, 3]


def test_what_has_no_label_is_the_last_choice() -> None:
    assert nearest_first(TAGS["SIM95"], TAGS["BLEU20"], [(np.nan, np.nan), (0, 100)]) == [1, 0]


def test_labels_are_those_of_the_compared_texts() -> None:
    def half(first: list[str], second: list[str]) -> np.ndarray:
        return np.full(len(first), 0.5)

    measured = measure(["The dog's here!", "?!"], ["the dogs here", "a dog"], half)

    assert (measured.similarity[0], measured.bleu[0]) == (50, 100)
    assert np.isnan([measured.similarity[1], measured.bleu[1]]).all()


@pytest.mark.parametrize(("tokens", "bounds"), [(1, (1, 1)), (6, (4, 9)), (7, (5, 10)), (20, (15, 30))])
def test_length_bounds_are_rounded_down_and_never_0(tokens, bounds) -> None:
    assert Decoding().bounds(tokens) == bounds


def test_the_preset_has_the_papers_16_pairs_of_tags() -> None:
    plan = WritingPlan(dataset="news", model="run:1", labeller="run:2")

    assert plan.tag_pairs == PAPER_PAIRS
    assert len(set(PAPER_PAIRS)) == 16


@pytest.mark.parametrize("text", ["SIM95", "BLEU20 SIM95", "", "SIM95 BLEU20, SIM95 BLEU20"])
def test_tags_that_are_none_are_refused(text) -> None:
    with pytest.raises(PlanError):
        WritingPlan(dataset="news", model="run:1", labeller="run:2", tags=text)


@pytest.mark.parametrize("text", ["fast", "0", "-1", "nan", "1,2,x"])
def test_learning_rates_that_are_none_are_refused(text) -> None:
    with pytest.raises(PlanError):
        ParaphraserPlan(dataset="news", selection=1, learning_rates=text)


def test_without_rates_those_of_the_paper_are_tried_for_a_base_model() -> None:
    assert ParaphraserPlan(dataset="news", selection=1, model="run:1").rates == (5e-6, 1e-5, 2e-5)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"best": 6}, "“best” is 6, but “beams” is 5"),
        ({"best": 4, "rerank": True, "candidates": 3}, "“best” is 4, but “candidates” is 3"),
    ],
)
def test_more_of_a_sentence_than_are_found_are_refused(options, sentence) -> None:
    with pytest.raises(PlanError, match=sentence):
        WritingPlan(dataset="news", model="run:1", labeller="run:2", **options)
