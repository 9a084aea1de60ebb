"""Tuples that are chosen by what the judgements so far leave in doubt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from annotation.bws.designs.adaptive import adaptive_block, items_within_error
from annotation.bws.designs.design import DesignError, design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import fit_utilities, posterior_errors
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices


def test_doubt_counts_the_items_within_an_error() -> None:
    utilities = np.array([0.0, 0.1, 0.2, 5.0])

    # 0 reaches .1; .1 reaches 0 and .2; .2 reaches .1; 5 reaches nobody but itself.
    assert items_within_error(utilities, np.full(4, 0.15)).tolist() == [2, 3, 2, 1]


@given(
    count=st.integers(16, 60),
    size=st.integers(2, 4),
    share=st.floats(0.3, 1.0),
    shared=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_no_item_is_asked_about_twice_and_none_beside_one_of_its_sentences(
    count, size, share, shared, seed
) -> None:
    rng = np.random.default_rng(seed)
    # Every third item shares a sentence with the next.
    sentences = np.column_stack([np.arange(count) // (2 if shared else 1), count + np.arange(count)])

    tuples = adaptive_block(
        rng.standard_normal(count),
        rng.uniform(0, 1, count),
        size=size,
        share=share,
        seed=seed,
        sentences=sentences,
    )

    assert tuples.shape[0] > 0
    assert tuples.shape[1] == size
    assert len(np.unique(tuples)) == tuples.size
    for row in tuples:
        assert len(np.unique(sentences[row])) == 2 * size


def test_the_same_seed_asks_the_same_and_another_something_else() -> None:
    utilities, errors = np.linspace(-2, 2, 40), np.full(40, 0.5)

    decks = [adaptive_block(utilities, errors, seed=seed).tolist() for seed in (3, 3, 4)]

    assert decks[0] == decks[1] != decks[2]


def test_items_that_nobody_doubts_are_asked_about_less() -> None:
    utilities = np.concatenate([np.linspace(0, 1, 20), 10 * np.arange(1, 21)])
    asked = np.concatenate(
        [adaptive_block(utilities, np.full(40, 0.5), seed=seed).ravel() for seed in range(50)]
    )

    assert (asked < 20).mean() > 0.8


def test_what_is_certain_is_asked_in_its_order() -> None:
    tuples = adaptive_block(np.arange(12.0), np.zeros(12), share=1.0, seed=1)

    assert sorted(sorted(row) for row in tuples.tolist()) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


def test_an_item_that_has_to_wait_twice_is_still_asked_about() -> None:
    # Items 1, 2 and 3 share a sentence with item 0 and wait; 1 and 2 make a tuple, and 3 goes on waiting.
    sentences = np.array([[0, 1], [0, 2], [1, 3], [0, 4], [5, 6], [7, 8]])

    tuples = adaptive_block(np.arange(6.0), np.zeros(6), size=2, share=1.0, seed=1, sentences=sentences)

    assert sorted(sorted(row) for row in tuples.tolist()) == [[0, 4], [1, 2], [3, 5]]


@pytest.mark.parametrize(
    ("utilities", "errors", "changes", "sentence"),
    [
        ([0.0, 1.0], [1.0, 1.0], {}, "there are 2"),
        ([0.0] * 8, [1.0] * 8, {"share": 0.0}, "not 0"),
        ([0.0] * 7 + [np.nan], [1.0] * 8, {}, "that are numbers"),
        ([0.0] * 8, [1.0] * 7 + [-1.0], {}, "not below 0"),
        ([0.0] * 8, [1.0] * 8, {"sentences": np.zeros((8, 2), dtype=int)}, "share sentences"),
    ],
)
def test_what_cannot_be_asked_is_said(utilities, errors, changes, sentence) -> None:
    with pytest.raises(DesignError, match=sentence):
        adaptive_block(np.array(utilities), np.array(errors), seed=1, **changes)


def test_it_reaches_the_accuracy_of_counting_with_less_than_half_of_the_judgements() -> None:
    """200 items, noise .5: counting with 8 judgements an item on a fixed design, against 3.5 of an adaptive phase."""
    rng = np.random.default_rng(5)
    latent = rng.standard_normal(200)
    fixed = np.repeat(design_tuples(200, factor=2, seed=5).tuples, 4, axis=0)
    by_counting = counting_scores(answered(fixed, latent, rng)).values

    tuples = [rng.permutation(200).reshape(-1, 4) for _ in range(2)]
    judged = answered(np.concatenate(tuples), latent, rng)
    while len(judged) < 3.5 * 200:
        fit = fit_utilities(MaxDiffLikelihood(judged), prior_precision=0.3)
        deck = adaptive_block(fit.utilities, posterior_errors(fit.precision)[0], seed=len(judged))
        judged = together(judged, answered(deck, latent, rng))
    utilities = fit_utilities(MaxDiffLikelihood(judged), prior_precision=0.3).utilities

    assert spearmanr(utilities, latent).statistic > spearmanr(by_counting, latent).statistic


def answered(tuples, latent, rng) -> Judgements:
    best, worst = simulated_choices(latent[tuples], SimulatedAnnotator(noise=0.5), rng)
    return Judgements.from_slots(tuples, best, worst, item_count=len(latent))


def together(*parts: Judgements) -> Judgements:
    joined = [np.concatenate([getattr(part, name) for part in parts]) for name in ("items", "best", "worst")]
    return Judgements(*joined, item_count=parts[0].item_count)
