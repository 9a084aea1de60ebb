"""Groups and folds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.realism.dataset import assign_folds, group_sentences

KEYS = st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=40)


@st.composite
def linked(draw):
    keys = draw(KEYS)
    place = st.integers(0, len(keys) - 1)
    return keys, draw(st.lists(st.tuples(place, place), max_size=40)), draw(st.integers(1, 40))


@given(linked())
def test_doubles_share_a_group_whatever_their_number(given_) -> None:
    keys, links, largest = given_

    groups = group_sentences(keys, links, largest=largest).groups

    by_key = {key: {int(groups[place]) for place, other in enumerate(keys) if other == key} for key in keys}
    assert all(len(found) == 1 for found in by_key.values())


@given(linked())
def test_a_link_holds_or_is_counted_as_cut(given_) -> None:
    keys, links, largest = given_

    found = group_sentences(keys, links, largest=largest)

    apart = sum(found.groups[left] != found.groups[right] for left, right in links)
    assert apart <= found.cut
    assert (found.cut == 0) == (apart == 0) or apart == 0  # two that were cut may meet through others later
    assert largest < len(keys) or found.cut == 0


@given(linked())
def test_links_alone_make_no_group_larger_than_allowed(given_) -> None:
    keys, links, largest = given_

    groups = group_sentences(keys, links, largest=largest).groups

    of_doubles = max(keys.count(key) for key in keys)
    assert np.bincount(groups).max() <= max(largest, of_doubles)


def test_the_most_important_links_hold_first() -> None:
    found = group_sentences(["a", "b", "c", "d"], [(0, 1), (1, 2), (2, 3)], largest=2)

    assert found.groups.tolist() == [0, 0, 1, 1]
    assert found.cut == 1


def test_folds_keep_groups_whole_and_share_both_classes_alike() -> None:
    rng = np.random.default_rng(3)
    groups = np.unique(rng.integers(300, size=1000), return_inverse=True)[1]
    human = rng.random(1000) < 0.8

    folds = assign_folds(groups, human, folds=5, seed=1)

    assert all(np.unique(folds[groups == group]).size == 1 for group in range(groups.max() + 1))
    for kind in (True, False):
        sizes = np.bincount(folds[human == kind], minlength=5)
        assert sizes.max() - sizes.min() <= 0.1 * sizes.mean()


def test_the_largest_group_gets_its_fold_first() -> None:
    groups = np.array([0] * 6 + [1, 2, 3, 4, 5, 6])

    folds = assign_folds(groups, np.zeros(12, dtype=bool), folds=2, seed=1)

    assert np.bincount(folds).tolist() == [6, 6]


def test_the_same_seed_cuts_the_same_folds_and_another_one_others() -> None:
    groups, human = np.arange(200), np.arange(200) % 2 == 0

    first, again, other = (assign_folds(groups, human, folds=4, seed=seed) for seed in (1, 1, 2))

    assert (first == again).all()
    assert (first != other).any()
