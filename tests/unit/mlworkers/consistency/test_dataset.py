"""Labels, folds that no sentence crosses, planted errors, and confident learning."""

import numpy as np
import pytest

from curation.pairs.text import near_copy_key
from mlworkers.science.consistency.dataset import (
    UNKNOWN,
    ConsistencyError,
    label_error_counts,
    labelled_pairs,
    labels_of,
    nearest_label,
    planted_labels,
)


def chained(number: int) -> tuple[list[str], list[str]]:
    """Pairs of which each shares its second sentence, in another dress, with the next."""
    first = [f"Sentence number {each}." for each in range(number)]
    second = [f"sentence NUMBER {(each + 1) % number}" for each in range(number)]
    return first, second


def pairs_of(first, second, label, **settings):
    return labelled_pairs(first, second, label, **{"labels": 2, "folds": 3, "seed": 1, **settings})


def test_no_classifier_sees_a_sentence_of_its_fold_or_a_near_copy_of_one() -> None:
    first, second = chained(90)

    pairs = pairs_of(first, second, np.arange(90) % 2)

    for fold in range(3):
        own, seen = pairs.fold == fold, pairs.seen_by(fold)
        assert own.any()
        keys = [
            {near_copy_key(text) for side in (first, second) for text in np.array(side)[marks]}
            for marks in (own, seen)
        ]
        assert keys[1]
        assert not keys[0] & keys[1]


def test_pairs_with_the_same_two_sentences_share_a_fold_in_either_order() -> None:
    first = [f"one {each}" for each in range(30)] + [f"Two {each}!" for each in range(30)]
    second = [f"two {each}" for each in range(30)] + [f"One {each}." for each in range(30)]

    pairs = pairs_of(first, second, np.arange(60) % 2)

    assert (pairs.fold[:30] == pairs.fold[30:]).all()


def test_a_link_that_is_cut_counts_once() -> None:
    # Three pairs of each source, connected by two links. Groups hold two pairs, so one link of each source is cut.
    first, second = [f"source {each // 3}" for each in range(60)], [f"two {each}" for each in range(60)]

    pairs = pairs_of(first, second, np.arange(60) % 2, folds=10)

    assert np.unique(pairs.group).size == 40
    assert pairs.links_cut == 20


def test_pairs_without_a_label_are_scored_and_never_learned_from() -> None:
    first, second = [f"one {each}" for each in range(60)], [f"two {each}" for each in range(60)]
    label = np.where(np.arange(60) < 20, UNKNOWN, np.arange(60) % 2)

    pairs = pairs_of(first, second, label)

    assert not any(pairs.seen_by(fold)[:20].any() for fold in range(3))
    assert set(pairs.fold[:20].tolist()) == {0, 1, 2}


def test_a_label_with_too_few_pairs_is_refused() -> None:
    first, second = [f"one {each}" for each in range(60)], [f"two {each}" for each in range(60)]

    with pytest.raises(ConsistencyError, match="Label 2 of 2 has 3 pairs"):
        pairs_of(first, second, [0] * 57 + [1] * 3)


@pytest.mark.parametrize("labels", [1, 21])
def test_too_few_or_too_many_labels_are_refused(labels: int) -> None:
    first, second = [f"one {each}" for each in range(60)], [f"two {each}" for each in range(60)]

    with pytest.raises(ConsistencyError, match="2 to 20"):
        pairs_of(first, second, np.arange(60) % labels, labels=labels)


def test_pairs_that_hang_together_in_one_knot_are_refused() -> None:
    second = [f"two {each}" for each in range(60)]

    with pytest.raises(ConsistencyError, match="would learn only 0 of 2 labels"):
        pairs_of(["the one source"] * 60, second, np.arange(60) % 2)


def test_the_nearest_label_is_that_of_the_closest_target() -> None:
    # 0.25 and 0.7 lie in the middle between two labels: the lower one.
    assert nearest_label([0.0, 0.25, 0.26, 0.7, 0.71, 1.0], [0.0, 0.5, 0.9]).tolist() == [0, 0, 1, 1, 2, 2]


def test_target_similarities_that_hardly_differ_are_one_label() -> None:
    assert labels_of([0.9, 0.0, 0.1, 0.5, 0.1], within=0.15) == pytest.approx([0.05, 0.5, 0.9])
    # A group does not grow beyond its width: .2 is more than .15 above 0.
    assert labels_of([0.0, 0.1, 0.2, 0.3], within=0.15) == pytest.approx([0.05, 0.25])
    assert labels_of([0.0, 0.1, 0.5], within=0.0) == pytest.approx([0.0, 0.1, 0.5])


def test_planted_labels_are_wrong_and_as_many_as_were_asked_for() -> None:
    label = np.array([0, 1, 2, UNKNOWN] * 25)

    planted, marks = planted_labels(label, labels=3, share=0.2, seed=4)

    assert marks.sum() == 15  # of 75 known ones
    assert ((planted != label) == marks).all()
    assert (planted[label == UNKNOWN] == UNKNOWN).all()
    assert set(planted[marks].tolist()) <= {0, 1, 2}


def test_confident_learning_counts_pairs_above_the_mean_chance_of_another_label() -> None:
    chances = np.array([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.1, 0.9], [0.3, 0.7], [0.8, 0.2]])
    label = np.array([0, 0, 0, 1, 1, 1])

    counts = label_error_counts(chances, label)

    # Thresholds by hand: (.9 + .7 + .2) / 3 = .6 for label 0, (.9 + .7 + .2) / 3 = .6 for label 1. The third pair is
    # confidently 1, the last confidently 0, each against its label; all others are confidently what they are called.
    assert counts.tolist() == [[2, 1], [1, 2]]


def test_a_pair_below_every_threshold_is_counted_nowhere() -> None:
    chances = np.array([[0.9, 0.1], [0.55, 0.45], [0.2, 0.8], [0.1, 0.9]])
    label = np.array([0, 0, 1, 1])

    # Thresholds: .725 and .85. The second and the third pair reach neither.
    assert label_error_counts(chances, label).tolist() == [[1, 0], [0, 1]]
