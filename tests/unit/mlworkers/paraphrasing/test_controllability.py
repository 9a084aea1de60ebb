"""Figures of how well paraphrases meet their tags."""

import numpy as np
import pytest
from scipy.stats import binomtest

from curation.pairs.holding_out import HeldOut
from mlworkers.science.paraphrasing.controllability import controllability
from mlworkers.science.paraphrasing.estimates import share_of_groups, wilson
from mlworkers.science.paraphrasing.measured import Measured, tags_named
from mlworkers.science.paraphrasing.outcomes import ParaphraseRow, rows_judged
from mlworkers.science.paraphrasing.paraphraser import Target
from mlworkers.science.paraphrasing.tags import TagBounds

BOUNDS = TagBounds()
NEAR, FAR = Target("SIM95", "BLEU40"), Target("SIM95", "BLEU0_5")


def measured(*labels: tuple[float, float]) -> Measured:
    return Measured(*np.array(labels, dtype=float).T)


def test_hits_and_near_misses_of_a_hand_worked_case() -> None:
    # A hit, one bin beside, two bins beside, without a label.
    labels = measured((97, 42), (97, 38), (97, 33), (np.nan, np.nan))

    found = controllability([NEAR] * 4, [1, 2, 3, 4], labels, BOUNDS)

    whole = found.whole
    assert (whole.hits.value, whole.near.value, found.chance) == (1 / 4, 2 / 4, 1 / 48)
    assert whole.similarity_error.value == pytest.approx(0.5)
    assert whole.bleu_error.value == pytest.approx((0.5 + 4.5 + 9.5) / 3)
    assert whole.mean_bleu.value == pytest.approx((42 + 38 + 33) / 3)
    assert whole.spearman_similarity.value is whole.spearman_bleu.value is None  # one value was asked for
    assert whole.gain.value is whole.times.value is None  # nothing else was written


def test_the_order_of_what_was_asked_for_is_correlated_with_what_was_measured() -> None:
    targets = [NEAR, FAR] * 4
    labels = measured(*((97.0, bleu) for bleu in (41, 3, 44, 8, 39, 1, 10, 30)))

    found = controllability(targets, list(range(8)), labels, BOUNDS).whole.spearman_bleu

    assert found.value == pytest.approx(0.7637626158)  # scipy.stats.spearmanr
    assert found.low < found.value <= found.high


def test_every_tag_has_figures_of_its_own_paraphrases() -> None:
    targets = [Target(sim, lexical) for sim in ("SIM95", "SIM70") for lexical in ("BLEU40", "BLEU0_5")]
    labels = measured((97, 42), (97, 12), (99, 44), (72, 3))

    rows = controllability(targets, [1, 1, 1, 1], labels, BOUNDS).rows

    hits = {tuple(row.aim): row.hits.value for row in rows}
    assert hits == {
        ("SIM95", ""): 1 / 2, ("SIM70", ""): 1 / 2, ("", "BLEU40"): 1 / 2, ("", "BLEU0_5"): 1 / 2,
        ("SIM95", "BLEU40"): 1, ("SIM95", "BLEU0_5"): 0, ("SIM70", "BLEU40"): 0, ("SIM70", "BLEU0_5"): 1,
    }  # fmt: skip
    errors = {tuple(row.aim): row.similarity_error.value for row in rows if not row.aim.lexical}
    assert errors == {("SIM95", ""): 0.5, ("SIM70", ""): pytest.approx((26.5 + 0.5) / 2)}


def test_a_tag_that_was_asked_for_with_one_other_is_not_listed_twice() -> None:
    rows = controllability([NEAR, FAR], [1, 1], measured((97, 42), (97, 2)), BOUNDS).rows

    assert [tuple(row.aim) for row in rows] == [tuple(NEAR), tuple(FAR)]


def test_the_gain_of_reranking_is_the_difference_within_sources() -> None:
    inside, outside = (97.0, 42.0), (97.0, 10.0)
    chosen = measured(*[inside] * 30, *[outside] * 10)
    likeliest = measured(*[inside] * 10, *[outside] * 30)

    found = controllability([NEAR] * 40, list(range(40)), chosen, BOUNDS, likeliest=likeliest).whole

    assert (found.gain.value, found.times.value) == (pytest.approx(20 / 40), pytest.approx(3))
    # Of 40 sources 20 gain one: the standard error of a share of a half is .079.
    assert (found.gain.low, found.gain.high) == pytest.approx((0.5 - 0.155, 0.5 + 0.155), abs=0.03)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (3, 10), (10, 10), (17, 200)])
def test_the_interval_of_a_share_is_scipys(successes, n) -> None:
    share = wilson(successes / n, n)

    expected = binomtest(successes, n).proportion_ci(method="wilson")
    assert (share.low, share.high) == pytest.approx((expected.low, expected.high))


def test_the_interval_of_a_hit_rate_is_about_that_of_independent_sources() -> None:
    labels = measured(*[(97, 42)] * 60, *[(97, 10)] * 140)

    found = controllability([NEAR] * 200, list(range(200)), labels, BOUNDS).whole.hits

    expected = binomtest(60, 200).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.01)


def test_rows_of_one_source_give_a_wider_interval_than_independent_ones() -> None:
    labels = measured(*[(97.0, 42.0)] * 20, *[(97.0, 10.0)] * 20)
    apart = controllability([NEAR] * 40, list(range(40)), labels, BOUNDS).whole.hits
    together = controllability([NEAR] * 40, [n // 10 for n in range(40)], labels, BOUNDS).whole.hits

    assert together.high - together.low > 1.5 * (apart.high - apart.low)
    marks, groups = np.array([True] * 20 + [False] * 20), np.arange(40)
    apart, together = (share_of_groups(marks, each) for each in (groups, groups // 10))
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_a_rate_of_0_is_not_certain() -> None:
    found = controllability([FAR] * 20, list(range(20)), measured(*[(97, 42)] * 20), BOUNDS).whole.hits

    assert (found.value, found.low) == (0, 0)
    assert found.high == pytest.approx(binomtest(0, 20).proportion_ci(method="wilson").high)


def test_without_resamples_there_are_no_intervals() -> None:
    found = controllability([NEAR] * 2, [1, 2], measured((97, 42), (97, 3)), BOUNDS, resamples=0).whole

    assert tuple(found.hits) == (1 / 2, None, None)
    assert tuple(found.bleu_error) == (pytest.approx(20), None, None)


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
        "outside the cell that was asked for", "", "already written for the source",
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
