"""Items that a campaign has not told apart."""

from itertools import combinations, takewhile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm

from annotation.bws.scores.distinction import DifferenceErrors, Distinction, pair_tests, tie_groups


def told_apart(scores, errors, a: int, b: int) -> bool:
    return abs(scores[a] - scores[b]) > 1.959963984540054 * np.hypot(errors[a], errors[b])


def independent(errors: np.ndarray) -> DifferenceErrors:
    return lambda left, right: np.hypot(errors[left], errors[right])


def test_two_clusters_are_two_groups() -> None:
    scores = np.array([0.1, 0.9, 0.15, 0.88])

    groups = tie_groups(scores, np.full(4, 0.05))

    assert groups.order.tolist() == [1, 3, 2, 0]
    assert list(zip(groups.starts.tolist(), groups.ends.tolist(), strict=True)) == [(0, 1), (2, 3)]


def test_runs_overlap_where_neighbours_cannot_be_told_apart_but_ends_can() -> None:
    groups = tie_groups(np.array([0.9, 0.8, 0.7]), np.full(3, 0.05))

    assert list(zip(groups.starts.tolist(), groups.ends.tolist(), strict=True)) == [(0, 1), (1, 2)]


def test_items_without_score_or_error_are_left_out() -> None:
    groups = tie_groups(np.array([0.5, np.nan, 0.4]), np.array([0.1, 0.1, np.nan]))

    assert groups.order.tolist() == [0]
    assert (groups.starts.tolist(), groups.ends.tolist()) == ([0], [0])


def test_runs_do_not_depend_on_the_order_of_equal_scores() -> None:
    # Only the surer one of the two equal items is told apart from the third.
    scores, errors = np.array([0.5, 0.5, 0.1]), np.array([0.01, 0.4, 0.01])

    one = tie_groups(scores, errors)
    two = tie_groups(scores[[1, 0, 2]], errors[[1, 0, 2]])

    assert (one.order.tolist(), two.order.tolist()) == ([0, 1, 2], [1, 0, 2])
    assert (
        (one.starts.tolist(), one.ends.tolist())
        == (two.starts.tolist(), two.ends.tolist())
        == ([0, 1], [1, 2])
    )


def test_no_items_make_no_groups() -> None:
    groups = tie_groups(np.array([]), np.array([]))

    assert len(groups.order) == len(groups.starts) == 0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.3)), min_size=1, max_size=25))
def test_runs_are_what_comparing_all_pairs_gives(items) -> None:
    scores, errors = map(np.array, zip(*items, strict=True))

    groups = tie_groups(scores, errors)

    order = groups.order.tolist()
    runs = []
    for start in range(len(order)):
        ends = [
            end
            for end in range(start, len(order))
            if not any(told_apart(scores, errors, a, b) for a, b in combinations(order[start : end + 1], 2))
        ]
        if not runs or max(ends) > runs[-1][1]:
            runs.append((start, max(ends)))
    assert list(zip(groups.starts.tolist(), groups.ends.tolist(), strict=True)) == runs


def test_each_place_knows_the_runs_that_hold_it() -> None:
    groups = tie_groups(np.array([0.9, 0.8, 0.7, 0.1]), np.full(4, 0.05))

    first, last = groups.memberships

    assert (first.tolist(), last.tolist()) == ([0, 0, 1, 2], [0, 1, 1, 2])


def test_a_single_item_has_no_pair_to_be_told_apart() -> None:
    found = pair_tests(np.array([0.5]), independent(np.array([0.1])))

    assert found == Distinction(None, None, None, None, 0, 0)


def test_the_shares_of_pairs_are_what_comparing_each_two_gives() -> None:
    rng = np.random.default_rng(4)
    scores, errors = rng.normal(0, 0.3, 40).round(1), rng.uniform(0.05, 0.2, 40)

    found = pair_tests(scores, independent(errors))

    pairs = list(combinations(range(40), 2))
    p = np.array([2 * norm.sf(abs(scores[a] - scores[b]) / np.hypot(errors[a], errors[b])) for a, b in pairs])
    assert found.distinguishable == pytest.approx(
        np.mean([told_apart(scores, errors, a, b) for a, b in pairs])
    )
    steps = list(takewhile(lambda step: step[1] <= 0.05 / (780 - step[0]), enumerate(sorted(p))))
    assert found.distinguishable_holm == pytest.approx(len(steps) / 780)
    assert found.distinguishable_fdr == pytest.approx((false_discovery_control(p) <= 0.05).mean())
    assert found.tied == pytest.approx(np.mean([scores[a] == scores[b] for a, b in pairs]))
    assert (str(found.pairs), found.pairs_tested) == ("780", 780)  # a whole number also as it is printed


def test_holm_and_benjamini_hochberg_by_hand() -> None:
    # Four items, six pairs with p = .001, .008, .012, .02, .04, .5. Holm: .001 <= .05/6, .008 <= .05/5, .012 <= .05/4,
    # .02 > .05/3: three. Benjamini-Hochberg: .04 <= .05 5/6: five.
    p = np.array([0.5, 0.02, 0.001, 0.04, 0.008, 0.012])
    scores = np.arange(4.0)
    left, right = np.triu_indices(4, 1)
    errors = dict(zip(zip(left, right, strict=True), (right - left) / norm.isf(p / 2), strict=True))

    found = pair_tests(scores, lambda a, b: np.array([errors[pair] for pair in zip(a, b, strict=True)]))

    assert found.distinguishable == pytest.approx(5 / 6)
    assert (found.distinguishable_holm, found.distinguishable_fdr) == pytest.approx((3 / 6, 5 / 6))


def test_a_sample_of_pairs_gives_nearly_the_shares_of_all(monkeypatch) -> None:
    rng = np.random.default_rng(5)
    scores, errors = rng.normal(0, 0.4, 400), rng.uniform(0.02, 0.1, 400)

    every = pair_tests(scores, independent(errors))
    monkeypatch.setattr("annotation.bws.scores.distinction.MOST_ITEMS_PAIRED", 100)
    sample = pair_tests(scores, independent(errors))

    assert (sample.pairs, sample.pairs_tested) == (every.pairs, 1_000_000)
    for name in ("distinguishable", "distinguishable_holm", "distinguishable_fdr"):
        assert getattr(sample, name) == pytest.approx(getattr(every, name), abs=0.005)


def test_without_errors_only_equal_scores_are_counted() -> None:
    found = pair_tests(np.array([0.5, 0.5, 0.2]), None)

    assert (found.distinguishable, found.tied, found.pairs_tested) == (None, pytest.approx(1 / 3), 0)


def test_a_hundred_thousand_items_take_seconds_and_not_hours() -> None:
    rng = np.random.default_rng(3)
    scores, errors = rng.normal(0, 0.4, 100_000), rng.uniform(0.1, 0.2, 100_000)

    groups = tie_groups(scores, errors)

    # The best run, by comparing all pairs of its members, and the item after it.
    end = int(groups.ends[0])
    best = groups.order[: end + 2]
    gaps = scores[best][:, None] - scores[best][None]
    apart = gaps > 1.959963984540054 * np.hypot(errors[best][:, None], errors[best][None])
    assert not apart[:-1, :-1].any()
    assert apart[:, -1].any()


def test_more_confidence_tells_fewer_apart() -> None:
    scores, errors = np.linspace(0, 1, 30), np.full(30, 0.05)

    strict, lenient = (tie_groups(scores, errors, confidence=c) for c in (0.999, 0.8))

    assert (strict.ends - strict.starts).max() > (lenient.ends - lenient.starts).max()


def test_equal_scores_are_one_group() -> None:
    groups = tie_groups(np.full(5, 0.5), np.full(5, 0.01))

    assert (groups.starts.tolist(), groups.ends.tolist()) == ([0], [4])
    assert groups.order.tolist() == pytest.approx(range(5))
