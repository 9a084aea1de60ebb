"""The AUC and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from mlworkers.science.realism.discrimination import auc, auc_interval, sampled_auc_interval

ROWS = st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=40)


@given(ROWS)
def test_the_auc_is_that_of_scikit_learn_ties_included(rows) -> None:
    scores, human = (np.array(column) for column in zip(*rows, strict=True))
    if human.all() or not human.any():
        return

    assert auc(scores, human) == pytest.approx(roc_auc_score(human, scores))


def test_the_interval_of_a_hand_worked_table() -> None:
    # Human 3, 5; machine 1, 2, 4. Above: 2/3, 1. Below (share of human above): 1, 1, 1/2. AUC 5/6.
    # DeLong: var(above)/2 + var(below)/3 = (1/18)/2 + (1/12)/3 = 1/36 + 1/36.
    scores, human = np.array([3, 5, 1, 2, 4]), np.array([True, True, False, False, False])

    found = auc_interval(scores, human)

    value, deviation = 5 / 6, np.sqrt(1 / 18)
    reach = norm.ppf(0.975) * deviation / (value * (1 - value))
    low = 1 / (1 + np.exp(-(np.log(value / (1 - value)) - reach)))
    assert found.value == pytest.approx(value)
    assert found.low == pytest.approx(low)
    assert low < value < found.high < 1


def samples(seed: int, people: int = 120, machines: int = 80):
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(1.0, 1, people), rng.normal(0, 1, machines)])
    return scores, np.arange(people + machines) < people


def test_the_interval_holds_the_true_auc_as_often_as_it_says() -> None:
    true = norm.cdf(1 / np.sqrt(2))

    found = [auc_interval(*samples(seed)) for seed in range(400)]

    held = np.mean([interval.low <= true <= interval.high for interval in found])
    assert 0.92 <= held <= 0.975


def test_groups_of_copies_count_as_their_first_sentences_alone() -> None:
    scores, human = samples(1)
    groups = np.arange(scores.size)

    alone = auc_interval(scores, human, groups)
    copied = auc_interval(np.repeat(scores, 4), np.repeat(human, 4), np.repeat(groups, 4))
    naive = auc_interval(np.repeat(scores, 4), np.repeat(human, 4))

    assert (copied.value, copied.low, copied.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert naive.high - naive.low == pytest.approx((alone.high - alone.low) / 2, rel=0.1)


def test_groups_that_hold_both_classes_are_held_against_a_bootstrap_of_groups() -> None:
    rng = np.random.default_rng(5)
    people, machines = 2, 3
    shared = rng.normal(0, 1.5, 150)  # moves all sentences of a group together
    groups = np.repeat(np.arange(150), people + machines)
    human = np.tile(np.arange(people + machines) < people, 150)
    scores = shared[groups] + rng.normal(human * 1.0, 1)

    found = auc_interval(scores, human, groups)

    by_group = scores.reshape(150, -1)
    draws = [by_group[rng.integers(150, size=150)].ravel() for _ in range(1000)]
    deviation = np.std([auc(drawn, human) for drawn in draws])
    own = (found.high - found.low) / (2 * 1.96)
    assert own == pytest.approx(deviation, rel=0.1)


def test_without_a_sentence_out_of_order_the_interval_still_has_a_width() -> None:
    # 20 of 20: Clopper and Pearson's lower bound is 0.025 ** (1/20).
    found = auc_interval(np.arange(50), np.arange(50) >= 30)

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.8316, abs=1e-4)


def test_with_every_sentence_out_of_order_the_interval_still_has_a_width() -> None:
    # 0 of 20: the upper bound is 1 - 0.025 ** (1/20).
    found = auc_interval(np.arange(50), np.arange(50) < 20)

    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.1684, abs=1e-4)


def test_in_strata_too_the_bound_without_a_sentence_out_of_order_is_that_of_the_smaller_class() -> None:
    # 4 of 4, of eight sentences.
    found = sampled_auc_interval(np.arange(8), np.arange(8) >= 4, np.ones(8), np.arange(8) % 2)

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 4))


def test_the_variance_within_strata_of_two_and_of_one_worked_by_hand() -> None:
    # Kept 3 and 1, rejected 2 and 0: AUC 3/4. Above: 1, 1/2; below: 1/2, 1. All four are 1/4 from the AUC, so that each
    # adds +a or -a, a = sqrt(2) / 2 / 4. 3 and 0 add +a, are one stratum and do not differ; 1 and 2 add -a, each alone
    # in its stratum, and count from 0: the variance is 2 a² = 1/16.
    scores, kept, strata = (
        np.array([3, 0, 1, 2]),
        np.array([True, False, True, False]),
        np.array([5, 5, 6, 7]),
    )

    found = sampled_auc_interval(scores, kept, np.ones(4), strata)

    reach = norm.ppf(0.975) * (1 / 4) / (3 / 16)
    assert found.value == 0.75
    assert (found.low, found.high) == pytest.approx((expit(np.log(3) - reach), expit(np.log(3) + reach)))


def test_the_variance_of_two_that_differ_in_a_stratum_worked_by_hand() -> None:
    # The same four: 3 and 1 add +a and -a, 0 and 2 too. Twice 2 / (2 - 1) · 2 a² = 8 a² = 1/4.
    scores, kept, strata = (
        np.array([3, 0, 1, 2]),
        np.array([True, False, True, False]),
        np.array([5, 6, 5, 6]),
    )

    found = sampled_auc_interval(scores, kept, np.ones(4), strata)

    reach = norm.ppf(0.975) * (1 / 2) / (3 / 16)
    assert (found.low, found.high) == pytest.approx((expit(np.log(3) - reach), expit(np.log(3) + reach)))


def test_scores_that_are_all_equal_say_little() -> None:
    # The largest variance of an AUC of .5 with 20 sentences of the smaller class: .25 / 20.
    found = auc_interval(np.zeros(50), np.arange(50) >= 30)

    reach = 1.959964 * np.sqrt(0.25 / 20) / 0.25
    assert found.value == 0.5
    assert (found.low, found.high) == pytest.approx((expit(-reach), expit(reach)), abs=1e-6)


def test_scores_upside_down_mirror_the_interval() -> None:
    scores, human = samples(2)

    there, back = auc_interval(scores, human), auc_interval(-scores, human)

    assert (back.value, back.low, back.high) == pytest.approx(
        (1 - there.value, 1 - there.high, 1 - there.low)
    )


@pytest.mark.parametrize(
    ("scores", "human", "message"),
    [
        ([1.0, 2.0], [True, True], "All sentences are of one class"),
        ([1.0, float("nan")], [True, False], "not a finite number"),
        ([1.0], [True, False], "1 predicted scores, 2 labels"),
    ],
)
def test_what_has_no_auc_is_one_sentence(scores, human, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        auc_interval(scores, human)


def test_scores_whose_variance_rounding_makes_negative_have_an_interval_of_numbers() -> None:
    # Each human sentence has a machine's twin of the same score: whatever groups are drawn, half of them are in order.
    scores, human = np.tile(np.arange(23), 2), np.arange(46) < 23

    found = auc_interval(scores, human, np.tile(np.arange(23), 2))

    assert found.value == pytest.approx(0.5)
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("count", [6, 7, 14, 26, 33, 47, 56])
def test_a_variance_that_is_rounding_alone_gives_no_narrow_interval(count: int) -> None:
    scores, human, groups = (
        np.tile(np.arange(count), 2),
        np.arange(2 * count) < count,
        np.tile(np.arange(count), 2),
    )

    found = auc_interval(scores, human, groups)

    # That of .5 with the largest variance, .25 / count, on the logit's scale.
    reach = 1.959964 * np.sqrt(0.25 / count) / 0.25
    assert (found.low, found.high) == pytest.approx((expit(-reach), expit(reach)), abs=1e-5)
