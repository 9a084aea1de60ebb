"""Gold tuples from scores that are there already."""

import pytest

from annotation.bws.annotators.gold_choice import BY_SCORES
from annotation.campaigns.gold import gold_suggest
from curation.foundation.errors import UserError
from curation.models import PairScore
from tests.factories import CampaignFactory, PairFactory, ScoreSetFactory, SentenceFactory


@pytest.fixture
def campaign(dataset):
    return CampaignFactory(dataset=dataset)


def scored(dataset, values, **pair_fields):
    score_set = ScoreSetFactory(dataset=dataset, low=0, high=5)
    for value in values:
        PairScore.objects.create(
            score_set=score_set, pair=PairFactory(dataset=dataset, **pair_fields), value=value
        )
    return score_set


EVENLY = [number * 5 / 60 for number in range(61)]


def test_best_and_worst_stand_clear_of_the_others(campaign, dataset) -> None:
    score_set = scored(dataset, EVENLY)

    found = gold_suggest(campaign=campaign, score_set=score_set, number=4)

    values = dict(PairScore.objects.values_list("pair", "value"))
    assert found
    for suggestion in found:
        best, worst = values[suggestion.best.pk], values[suggestion.worst.pk]
        others = [
            values[pair.pk] for pair in suggestion.pairs if pair not in (suggestion.best, suggestion.worst)
        ]
        assert len(others) == 2
        assert best - max(others) >= 5 * BY_SCORES.margin
        assert min(others) - worst >= 5 * BY_SCORES.margin


def test_no_pair_is_in_two_suggestions(campaign, dataset) -> None:
    found = gold_suggest(campaign=campaign, score_set=scored(dataset, EVENLY), number=4)

    pairs = [pair.pk for suggestion in found for pair in suggestion.pairs]
    assert len(found) > 1
    assert len(set(pairs)) == len(pairs)


def test_the_same_seed_suggests_the_same_and_another_seed_something_else(campaign, dataset) -> None:
    score_set = scored(dataset, EVENLY)

    one, same, other = (gold_suggest(campaign=campaign, score_set=score_set, seed=seed) for seed in (0, 0, 1))

    assert one == same != other


def test_scores_too_close_together_make_no_gold(campaign, dataset) -> None:
    score_set = scored(dataset, [2.4, 2.5, 2.5, 2.5, 2.5, 2.6])

    with pytest.raises(UserError, match="no 4 pairs of which one is clearly above"):
        gold_suggest(campaign=campaign, score_set=score_set)


def test_pairs_that_share_a_sentence_are_not_suggested_together(campaign, dataset) -> None:
    shared = SentenceFactory(dataset=dataset)
    score_set = scored(dataset, [0.0, 2.4, 2.5, 2.6, 5.0], a=shared)

    with pytest.raises(UserError, match="is clearly above"):
        gold_suggest(campaign=campaign, score_set=score_set)


def test_an_empty_score_set_suggests_nothing(campaign, dataset) -> None:
    with pytest.raises(UserError, match="is clearly above"):
        gold_suggest(campaign=campaign, score_set=ScoreSetFactory(dataset=dataset))


def test_gold_comes_from_the_source_and_split_that_the_campaign_is_about(dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, pair_filter={"source": "captions", "split": "train"})
    ours = scored(dataset, EVENLY, source="captions", split="train")
    for place, pair in enumerate(
        PairFactory.create_batch(30, dataset=dataset, source="captions", split="test")
    ):
        PairScore.objects.create(score_set=ours, pair=pair, value=5 * (place % 2))

    found = gold_suggest(campaign=campaign, score_set=ours, number=20)

    assert {pair.split for suggestion in found for pair in suggestion.pairs} == {"train"}
