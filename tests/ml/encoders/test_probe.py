"""The probe on frozen vectors: what it is trained on, and that no test pair shapes it."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from mlworkers.science.encoders.encoding import SentenceVectors
from mlworkers.science.encoders.measuring import Metric
from mlworkers.science.encoders.scored_pairs import JudgedPairs
from mlworkers.science.encoders.suites.catalogue import SUITES, Read
from mlworkers.science.encoders.suites.probe import pair_features, probed

GENERATOR = np.random.default_rng(9)


def part(name: str, pairs: int) -> JudgedPairs:
    """Pairs whose label is whether the first numbers of both vectors have the same sign."""
    first, second = ([f"{name} {side} {n}" for n in range(pairs)] for side in ("a", "b"))
    return JudgedPairs(name, tuple(first), tuple(second), (0.0,) * pairs)


def labelled(pairs: JudgedPairs, vectors: SentenceVectors) -> JudgedPairs:
    left, right = vectors.sides(pairs.first, pairs.second)
    return replace(pairs, values=tuple((left[:, 0] * right[:, 0] > 0).astype(float).tolist()))


PARTS = [part("train", 300), part("dev", 60), part("test", 120)]
TEXTS = [text for each in PARTS for text in (*each.first, *each.second)]
VECTORS = SentenceVectors(
    GENERATOR.normal(size=(len(TEXTS), 4)).astype(np.float32), {text: n for n, text in enumerate(TEXTS)}
)
TRAIN, DEV, TEST = (labelled(each, VECTORS) for each in PARTS)


def test_the_features_are_the_distance_and_the_product_of_unit_vectors_by_hand() -> None:
    vectors = SentenceVectors(np.array([[3, 4], [0, 2]], dtype=np.float32), {"a": 0, "b": 1})

    found = pair_features(vectors, JudgedPairs("x", ("a",), ("b",), (1.0,)))

    assert found.tolist() == [pytest.approx([0.6, 0.2, 0.0, 0.8])]


def test_a_probe_finds_what_one_cosine_cannot() -> None:
    found = probed(SUITES["mrpc"], Read(TEST, DEV, TRAIN), VECTORS, resamples=200, seed=1)

    accuracy, f1 = found.figures
    assert (accuracy.metric, f1.metric) == (Metric.ACCURACY, Metric.F1)
    assert accuracy.value > 0.85
    assert accuracy.interval.low < accuracy.value < accuracy.interval.high
    assert "60 dev pairs" in found.chosen_on
    taken = VECTORS.cosines(TEST.first, TEST.second) > 0
    assert accuracy_score(TEST.values, taken) < accuracy.value
    assert f1_score(TEST.values, taken) < f1.value


def test_unseen_pairs_have_a_figure_of_their_own() -> None:
    unseen = np.arange(len(TEST.values)) % 3 > 0

    found = probed(SUITES["mrpc"], Read(TEST, DEV, TRAIN), VECTORS, resamples=0, seed=1, unseen=unseen)
    alone = probed(
        SUITES["mrpc"], Read(TEST.taken(np.flatnonzero(unseen)), DEV, TRAIN), VECTORS, resamples=0, seed=1
    )

    assert [one.pairs for one in found.figures] == [120, 120]
    assert [one.value for one in found.unseen] == [one.value for one in alone.figures]
    assert [one.pairs for one in found.unseen] == [80, 80]
    assert alone.unseen == ()


def test_without_dev_pairs_the_regularisation_comes_from_folds_of_the_train_pairs() -> None:
    found = probed(SUITES["mrpc"], Read(TEST, TRAIN, TRAIN), VECTORS, resamples=0, seed=1)

    assert "5-fold cross-validation" in found.chosen_on
    assert found.trained_on == 300


def test_the_labels_of_test_pairs_change_nothing_that_the_probe_learns() -> None:
    flipped = replace(TEST, values=tuple(1 - value for value in TEST.values))

    ours = probed(SUITES["mrpc"], Read(TEST, DEV, TRAIN), VECTORS, resamples=0, seed=1)
    theirs = probed(SUITES["mrpc"], Read(flipped, DEV, TRAIN), VECTORS, resamples=0, seed=1)

    assert ours.chosen == theirs.chosen
    assert theirs.figures[0].value == pytest.approx(1 - ours.figures[0].value)


def test_train_pairs_that_are_tested_or_tuned_on_are_not_trained_on() -> None:
    columns = ((*TRAIN.first, TEST.second[0]), (*TRAIN.second, TEST.first[0]), (*TRAIN.values, 1.0))
    with_a_test_pair = JudgedPairs("train", *columns)

    found = probed(SUITES["mrpc"], Read(TEST, DEV, with_a_test_pair), VECTORS, resamples=0, seed=1)

    assert (found.trained_on, found.left_out) == (300, 1)


def test_classes_have_accuracy_and_no_f1() -> None:
    classes = [
        replace(each, values=tuple(float(n % 3) for n in range(len(each)))) for each in (TRAIN, DEV, TEST)
    ]

    found = probed(SUITES["sick-e"], Read(classes[2], classes[1], classes[0]), VECTORS, resamples=0, seed=1)

    assert [figure.metric for figure in found.figures] == [Metric.ACCURACY]
