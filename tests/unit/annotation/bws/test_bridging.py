"""New items among those that are scored already."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.bws.designs.bridging import bridge_anchors, bridge_design
from annotation.bws.designs.design import DesignError, design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from curation.foundation.errors import error_on_page


def test_anchors_are_spread_evenly_over_the_ranks() -> None:
    scores = np.random.default_rng(1).uniform(size=100)

    anchors = bridge_anchors(scores, 10, seed=2)

    ranks = np.argsort(np.argsort(scores))[anchors]
    assert sorted(rank // 10 for rank in ranks) == list(range(10))


def test_an_item_without_a_score_is_no_anchor() -> None:
    assert bridge_anchors(np.array([np.nan, 0.2, np.nan, 0.1]), 5, seed=1).tolist() == [1, 3]


def test_every_new_item_meets_anchors_and_appears_as_often_as_asked() -> None:
    items, design = bridge_design(np.linspace(0, 1, 60), 30, seed=3)

    tuples = items[design.tuples]
    new = tuples >= 60
    assert (new.sum(axis=1) == 2).all()
    assert np.bincount(tuples[new], minlength=90)[60:].tolist() == [8] * 30


def test_pairs_that_share_a_sentence_stand_apart_across_old_and_new() -> None:
    sentences = np.column_stack([np.arange(90) % 45, 100 + np.arange(90)])

    items, design = bridge_design(np.linspace(0, 1, 60), 30, seed=3, sentences=sentences)

    for row in items[design.tuples]:
        assert len(np.unique(sentences[row])) == 8


@pytest.mark.parametrize(
    ("scores", "new", "sentence"),
    [([np.nan, np.nan], 3, "collect judgements first"), ([0.1, 0.2], 0, "add pairs first")],
)
def test_what_cannot_be_joined_is_said(scores, new, sentence) -> None:
    with pytest.raises(DesignError, match=sentence):
        bridge_design(np.array(scores), new, seed=1)


def test_a_page_calls_items_pairs_where_no_round_can_be_designed() -> None:
    with pytest.raises(DesignError) as refused:
        bridge_design(np.array([np.nan]), 3, seed=1)

    shown = error_on_page(refused.value)
    assert str(shown).startswith("No pair has a score yet, so new pairs cannot be joined to them")
    assert shown.for_command.startswith("No item has a score yet, so new items")


def test_newcomers_are_scored_on_the_scale_of_those_already_there() -> None:
    """New items that are all above average: judged among themselves alone, counting would put their mean at .5."""
    rng = np.random.default_rng(7)
    latent = np.concatenate([rng.standard_normal(120), 1.5 + 0.5 * rng.standard_normal(40)])
    launch = np.repeat(design_tuples(120, seed=7).tuples, 3, axis=0)
    before = counting_scores(answered(launch, latent, rng)).values[:120]

    items, design = bridge_design(before, 40, seed=7)
    bridges = np.repeat(items[design.tuples], 3, axis=0)
    together = answered(np.concatenate([launch, bridges]), latent, rng)

    scores = maxdiff_scores(together, with_errors=False).values
    assert spearmanr(scores, latent).statistic > 0.95
    assert scores[120:].mean() > scores[:120].mean() + 0.2


def answered(tuples, latent, rng) -> Judgements:
    best, worst = simulated_choices(latent[tuples], SimulatedAnnotator(noise=0.4), rng)
    return Judgements.from_slots(tuples, best, worst, item_count=len(latent))
