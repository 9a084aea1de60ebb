"""Samples from texts and settings: what is left out, that each strategy is asked rightly, and refusals."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from curation.pairs.overlap import dice
from curation.pairs.sampling.drawing import (
    Drawn,
    SamplingError,
    Settings,
    Strategy,
    drawn_from_pairs,
    drawn_from_sentences,
)
from curation.pairs.sampling.searching import Denominator, Window
from curation.pairs.text import words

WORDS = [
    "a",
    "dog",
    "cat",
    "ran",
    "sat",
    "by",
    "the",
    "old",
    "red",
    "house",
    "near",
    "river",
    "under",
    "tree",
    "while",
]


def sentences_made(number: int, seed: int = 3) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, size=int(rng.integers(5, 12)))) + "." for _ in range(number)]


def pairs_of(texts, drawn: Drawn) -> list[tuple[str, str]]:
    return [(texts[a], texts[b]) for a, b in drawn.sample.pairs.tolist()]


def test_short_long_and_copied_sentences_are_left_out_and_counted() -> None:
    texts = [
        *sentences_made(40),
        "Too short.",
        "word " * 26,
        "A dog, a cat: AND the bird!",
        "a dog a cat and the bird",
    ]

    drawn = drawn_from_sentences(texts, Settings(Strategy.PERCENTILES, 10, buckets=2))

    copies = 40 - len({" ".join(words(text)) for text in texts[:40]})
    assert (drawn.short, drawn.long, drawn.copies) == (1, 1, 1 + copies)
    assert drawn.usable == len(texts) - 3 - copies
    assert not {40, 41, 43} & set(drawn.sample.pairs.ravel().tolist())


@pytest.mark.parametrize("share_of", list(Denominator))
def test_overlapping_pairs_are_within_the_window(share_of: Denominator) -> None:
    texts = sentences_made(300)
    settings = Settings(Strategy.OVERLAP, 60, window=Window(0.3, 0.6, 0.2, share_of))

    drawn = drawn_from_sentences(texts, settings)

    assert len(drawn.sample.pairs) == 60
    for (first, second), of_words in zip(pairs_of(texts, drawn), drawn.dice, strict=True):
        a, b = words(first), words(second)
        whole = {
            "first": len({*a}),
            "shorter": min(len({*a}), len({*b})),
            "longer": max(len({*a}), len({*b})),
        }
        assert 0.3 <= len({*a} & {*b}) / whole[share_of] < 0.6
        assert abs(len(a) - len(b)) <= 0.2 * max(len(a), len(b)) + 1e-9
        assert of_words == pytest.approx(dice(first, second))
    uses = Counter(drawn.sample.pairs.ravel().tolist())
    assert max(uses.values()) == 1


def test_pairs_that_exist_are_not_drawn_again() -> None:
    texts = sentences_made(6)
    settings = Settings(Strategy.PERCENTILES, 15, cap=5, buckets=1)
    every = {tuple(sorted(pair)) for pair in drawn_from_sentences(texts, settings).sample.pairs.tolist()}

    rest = drawn_from_sentences(texts, settings, taken=[(1, 0), (4, 5)])

    assert every == {(a, b) for a in range(6) for b in range(a + 1, 6)}
    assert {tuple(sorted(pair)) for pair in rest.sample.pairs.tolist()} == every - {(0, 1), (4, 5)}
    assert rest.sample.missing == 2


def test_growth_gives_high_overlaps_more_pairs() -> None:
    texts = sentences_made(600)
    even = drawn_from_sentences(texts, Settings(Strategy.PERCENTILES, 100, buckets=5))
    steep = drawn_from_sentences(texts, Settings(Strategy.PERCENTILES, 100, buckets=5, growth=2.0))

    asked = [stratum.asked for stratum in steep.sample.strata]

    assert len({stratum.asked for stratum in even.sample.strata}) == 1
    assert all(2 * low == pytest.approx(high, abs=2) for low, high in pairwise(asked))
    assert steep.dice.mean() > even.dice.mean() > 0
    assert even.candidates.mean() == pytest.approx(even.dice.mean(), abs=0.1)


def test_synonyms_count_as_shared_and_are_not_in_the_dice_that_is_shown() -> None:
    texts = ["big dogs bark at night", "large hounds howl in darkness"]
    settings = Settings(Strategy.OVERLAP, 1, window=Window(0.5, 0.9))
    synonyms = {"large": "big", "hounds": "dogs", "howl": "bark"}

    drawn = drawn_from_sentences(texts, settings, synonyms=synonyms)

    assert sorted(drawn.sample.pairs[0].tolist()) == [0, 1]
    assert drawn.dice.tolist() == [0.0]
    assert len(drawn_from_sentences(texts, settings).sample.pairs) == 0


def test_labels_are_shared_and_combined_with_equal_quotas() -> None:
    texts = [f"{number} is what this sentence is about" for number in range(60)]
    labels = [(("x", "y")[number % 2], ("for", "against", "")[number % 3]) for number in range(60)]
    combinations = [("for", "for"), ("for", "against")]

    drawn = drawn_from_sentences(
        texts, Settings(Strategy.LABELS, 9, combinations=combinations), labels=labels
    )

    assert [stratum.asked for stratum in drawn.sample.strata] == [5, 4]
    found = Counter()
    for a, b in drawn.sample.pairs.tolist():
        assert labels[a][0] == labels[b][0]
        found[labels[a][1], labels[b][1]] += 1
    assert found == {("for", "for"): 5, ("for", "against"): 4}
    with pytest.raises(SamplingError, match=r"has the label “pro”; there are “against”, “for”"):
        drawn_from_sentences(
            texts, Settings(Strategy.LABELS, 9, combinations=[("pro", "for")]), labels=labels
        )


def test_bins_of_a_score_choose_among_pairs() -> None:
    first, second = sentences_made(200, seed=5), sentences_made(200, seed=6)
    scores = np.arange(200) / 40.0
    scores[7] = np.nan
    settings = Settings(Strategy.SCORE, 22, edges=[0, 1, 2, 3, 4, 5])

    drawn = drawn_from_pairs(first, second, settings, scores=scores)

    bins = Counter(np.floor(scores[drawn.places]).astype(int).tolist())
    assert sorted(bins.values()) == [4, 4, 4, 5, 5]
    assert 7 not in drawn.places
    assert (drawn.sample.pairs[:, 1] == drawn.places + 200).all()
    with pytest.raises(SamplingError, match="No pair has a score"):
        drawn_from_pairs(first, second, settings)


def test_a_sentence_of_existing_pairs_is_capped_wherever_it_stands() -> None:
    others = sentences_made(20)
    first = ["The same old dog sat here.", *others[:9], *others[10:19]]
    second = [*others[:1], *["the SAME old dog, sat here!"] * 9, *["Another red house near it."] * 9]

    drawn = drawn_from_pairs(first, second, Settings(Strategy.PERCENTILES, 19, buckets=1))

    assert len(drawn.sample.pairs) == 2
    assert drawn.sample.missing == 17


def test_existing_pairs_within_the_window_are_all_that_are_drawn() -> None:
    first, second = sentences_made(300, seed=8), sentences_made(300, seed=9)
    fitting = {
        place
        for place in range(300)
        if 0.25 <= len({*words(first[place])} & {*words(second[place])}) / len({*words(first[place])}) < 0.75
        and " ".join(words(first[place])) != " ".join(words(second[place]))
    }
    settings = Settings(Strategy.OVERLAP, 300, cap=300, window=Window(length_difference=1.0))

    drawn = drawn_from_pairs(first, second, settings)

    assert set(drawn.places.tolist()) == fitting
    assert 0 < len(fitting) < 300


def test_the_same_seed_draws_the_same_pairs() -> None:
    texts = sentences_made(200)
    one, again, other = (
        drawn_from_sentences(texts, Settings(Strategy.OVERLAP, 20, seed=seed)).sample.pairs.tolist()
        for seed in (1, 1, 2)
    )
    assert one == again != other


def test_nothing_to_draw_from_gives_an_empty_sample_that_says_what_is_missing() -> None:
    for strategy in (Strategy.OVERLAP, Strategy.PERCENTILES):
        drawn = drawn_from_sentences([], Settings(strategy, 3, buckets=1))
        assert len(drawn.sample.pairs) == 0
        assert drawn.sample.missing == 3
        of_pairs = drawn_from_pairs([], [], Settings(strategy, 3, buckets=1))
        assert of_pairs.sample.missing == 3


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"count": 0}, "Ask for 1 to 1,000,000 pairs, not 0."),
        ({"cap": 0}, "at least 1 pair"),
        ({"shortest": 9, "longest": 8}, "Sentences of 9 to 8 words: there are none."),
        (
            {"strategy": Strategy.PERCENTILES, "buckets": 11},
            "10 pairs cannot come from 11 buckets; use 1 to 10 buckets.",
        ),
        ({"growth": 0.0}, "The growth must be above 0"),
        ({"strategy": Strategy.LABELS}, "Say which combinations"),
        ({"strategy": Strategy.SCORE}, "Say where the bins"),
        ({"strategy": Strategy.SCORE, "edges": [2, 1]}, "The edges of bins must rise: 2, 1."),
    ],
)
def test_settings_that_do_not_hold_together_are_refused(asked, sentence: str) -> None:
    with pytest.raises(SamplingError, match=sentence):
        Settings(**({"strategy": Strategy.OVERLAP, "count": 10, "buckets": 1} | asked))
