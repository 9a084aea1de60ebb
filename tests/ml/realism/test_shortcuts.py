"""What characters and words give away by themselves."""

import numpy as np
import pytest

from mlworkers.science.realism.dataset import sdi_data
from mlworkers.science.realism.shortcuts import shortcut_figures, shortcuts_near

HUMAN = np.arange(400) < 200
USABLE = np.ones(400, dtype=bool)


def test_characters_give_away_what_they_give_away() -> None:
    """A class that ends in “zz” is known by its characters; one that is dressed alike is not."""
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("abcdefgh "), 12)) for _ in range(400)]
    human, usable = np.arange(400) < 200, np.ones(400, dtype=bool)
    data = sdi_data(texts, human, usable, folds=5, seed=1)
    raw = [text if human else f"{text} zz" for text, human in zip(data.texts, data.human, strict=True)]

    found = shortcut_figures(raw, data)

    assert found["characters_auc_raw"] > 0.99
    assert found["characters_auc"] < 0.6


def test_words_give_away_what_their_characters_do_not() -> None:
    """Both classes have the same characters equally often: one says “tar” and “god”, the other “rat” and “dog”."""
    rng = np.random.default_rng(2)
    endings = [("tar", "god"), ("rat", "dog")]
    fillers = [" ".join(rng.choice(["sun", "sea", "sky", "hill", "lake", "wood"], 4)) for _ in range(400)]
    texts = [
        f"{filler} {number} {' '.join(endings[int(human)])}"
        for number, filler, human in zip(rng.permutation(400), fillers, HUMAN, strict=True)
    ]
    data = sdi_data(texts, HUMAN, USABLE, folds=5, seed=1)

    found = shortcut_figures(data.texts, data)

    assert found["words_auc"] > 0.99
    assert found["characters_auc"] < 0.65


def test_words_that_say_nothing_of_the_class_are_at_chance() -> None:
    rng = np.random.default_rng(3)
    vocabulary = [f"{first}{last}" for first in "abcdefgh" for last in "aeiou"]
    texts = [" ".join([*rng.choice(vocabulary, 6), str(number)]) for number in rng.permutation(400)]
    data = sdi_data(texts, HUMAN, USABLE, folds=5, seed=1)

    assert 0.4 < shortcut_figures(data.texts, data)["words_auc"] < 0.6


def test_without_a_word_that_occurs_often_enough_the_words_are_at_chance() -> None:
    data = sdi_data([f"a{number}b" for number in range(400)], HUMAN, USABLE, folds=5, seed=1)

    assert shortcut_figures(data.texts, data)["words_auc"] == 0.5


@pytest.mark.parametrize(
    ("characters", "words", "low", "near"),
    [
        (0.6, 0.69, 0.7, []),
        (0.6, 0.7, 0.7, ["words"]),
        (0.75, 0.9, 0.7, ["characters", "words"]),
        (0.6, 0.6, 0.49, []),  # p_D itself is not above chance
    ],
)
def test_the_alarm_goes_off_where_a_bag_reaches_the_interval_of_p_d(characters, words, low, near) -> None:
    assert shortcuts_near({"auc_low": low, "characters_auc": characters, "words_auc": words}) == near
