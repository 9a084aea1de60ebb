"""Figures of how well paraphrases meet their tags."""

import numpy as np
import pytest
from scipy.stats import binomtest

from curation.pairs.holding_out import HeldOut
from mlworkers.paraphrasing.controllability import controllability, wilson
from mlworkers.paraphrasing.measured import tags_named
from mlworkers.paraphrasing.outcomes import ParaphraseRow, rows_judged
from mlworkers.paraphrasing.paraphraser import Target
from mlworkers.paraphrasing.tags import TagBounds

BOUNDS = TagBounds()
NEAR, FAR = Target("SIM95", "BLEU40"), Target("SIM95", "BLEU0_5")


def test_hits_and_near_misses_of_a_hand_worked_case() -> None:
    # A hit, one bin beside, two bins beside, without a label.
    labels = np.array([(97, 42), (97, 38), (97, 33), (np.nan, np.nan)])

    found = controllability([NEAR] * 4, [1, 2, 3, 4], labels[:, 0], labels[:, 1], BOUNDS)

    [tag] = found.tags
    assert (found.hits.value, found.near.value, found.chance) == (1 / 4, 2 / 4, 1 / 48)
    assert tag.similarity_error == pytest.approx(0.5)
    assert tag.bleu_error == pytest.approx((0.5 + 4.5 + 9.5) / 3)
    assert found.similarity is found.bleu is None  # one value was asked for


def test_the_order_of_what_was_asked_for_is_correlated_with_what_was_measured() -> None:
    targets = [NEAR, FAR] * 4
    bleu = np.array([41, 3, 44, 8, 39, 1, 10, 30], dtype=float)

    found = controllability(targets, list(range(8)), np.full(8, 97.0), bleu, BOUNDS)

    assert found.bleu is not None
    assert found.bleu.value == pytest.approx(0.7637626158)  # scipy.stats.spearmanr
    assert found.bleu.low < found.bleu.value < found.bleu.high


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (17, 200)])
def test_the_interval_of_a_share_is_scipys(successes, n) -> None:
    share = wilson(successes / n, n)

    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


def test_rows_of_one_source_give_a_wider_interval_than_independent_ones() -> None:
    labels = np.array([(97.0, 42.0)] * 20 + [(97.0, 10.0)] * 20)
    apart = controllability([NEAR] * 40, list(range(40)), labels[:, 0], labels[:, 1], BOUNDS)
    together = controllability([NEAR] * 40, [n // 10 for n in range(40)], labels[:, 0], labels[:, 1], BOUNDS)

    assert together.hits.high - together.hits.low > apart.hits.high - apart.hits.low


def row(text: str, source: str = "The dog of Anna has 3 balls.", **labels: float) -> ParaphraseRow:
    return ParaphraseRow(1, source, NEAR, text, labels.get("similarity", 97), labels.get("bleu", 42))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("?!", "empty"),
        ("the DOG of Anna has 3 balls!", "copy of the source"),
        ("3 balls has Anna, the dog of.", "near copy of the source"),
        ("A cat sleeps.", "stands in held-out pairs"),
        ("Anna's dog owns 3 balls.", ""),
    ],
)
def test_a_row_has_the_first_reason_that_applies(text, reason) -> None:
    judged = row(text)

    rows_judged(
        [judged], tags_named(BOUNDS), near_copy=1.0, keep_misses=True, held_out=HeldOut.of(["a cat sleeps"])
    )

    assert judged.dropped == reason


def test_misses_can_be_dropped_and_repeats_are() -> None:
    rows = [row("Anna's dog owns 3 balls.", bleu=10), row("A dog owns 3 balls."), row("a dog owns 3 balls")]

    rows_judged(rows, tags_named(BOUNDS), near_copy=1.0, keep_misses=False, held_out=HeldOut())

    assert [each.dropped for each in rows] == [
        "outside the cell that was asked for", "", "written for another tag of the source",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "numbers", "names"),
    [
        ("Anna's dog owns 3 balls.", False, False),
        ("Anna's dog owns 4 balls.", True, False),
        ("The dog of Peter owns 3 balls.", False, True),
        ("A dog owns three balls.", True, True),
    ],
)
def test_changed_numbers_and_names_are_noticed(text, numbers, names) -> None:
    judged = row(text)

    rows_judged([judged], tags_named(BOUNDS), near_copy=1.0, keep_misses=True, held_out=HeldOut())

    assert (judged.numbers_changed, judged.names_changed) == (numbers, names)
