"""A campaign from draft to close, its guidelines and its gold tuples."""

import pytest

from annotation.bws.designs import swapping
from annotation.campaigns.designing import preview_tuples
from annotation.campaigns.gold import gold_add, gold_change, gold_remove
from annotation.campaigns.promises import promises
from annotation.campaigns.services import (
    campaign_change,
    campaign_close,
    campaign_create,
    campaign_open,
    campaign_pause,
    campaign_preview,
    campaign_resume,
    flag_resolve,
    guideline_save,
)
from annotation.judging.assignment import participation_join, tuple_claim
from annotation.judging.gold import gold_is_due
from annotation.models import Campaign, Lease, Tuple, TupleItem
from curation.foundation.errors import UserError
from tests.factories import CampaignFactory, FlagFactory, GoldFactory, PairFactory, SentenceFactory


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset, split="train")


@pytest.fixture
def draft(dataset, pairs):
    return campaign_create(dataset=dataset, name="Relatedness")


@pytest.fixture
def quad(pairs):
    return pairs[:4]


def test_a_campaign_begins_as_a_draft_with_its_first_guideline(dataset, pairs, owner) -> None:
    campaign = campaign_create(dataset=dataset, name="Relatedness", by=owner, guideline="Think of meaning.")

    assert (campaign.state, campaign.created_by) == ("draft", owner)
    assert campaign.guidelines.get().text == "Think of meaning."


def test_fewer_than_four_pairs_make_no_campaign(dataset) -> None:
    PairFactory.create_batch(3, dataset=dataset)

    with pytest.raises(UserError, match="at least 4 active pairs, and 3 would take part"):
        campaign_create(dataset=dataset, name="Too small")

    assert not Campaign.objects.exists()


def test_the_certificate_says_how_evenly_few_pairs_meet(draft, monkeypatch) -> None:
    monkeypatch.setattr(swapping, "LOOKS_WITHOUT_GAIN", 20)  # the whole search
    certificate = campaign_preview(campaign=draft)

    sentence = next(
        promise.sentence for promise in promises(certificate) if "compared again" in promise.sentence
    )

    # 12 pairs in 24 4-tuples: 144 comparisons of 66 couples.
    assert sentence.startswith("Pairs are compared again 78 times.")
    assert "at least 78 repetitions cannot be avoided" in sentence
    assert sentence.endswith("Any two pairs are compared 2 to 3 times.")


def test_an_even_mix_gives_every_tuple_its_share_of_generated_pairs(dataset, pairs, at) -> None:
    generated = {pair.pk for pair in PairFactory.create_batch(12, dataset=dataset, origin="generated")}
    campaign = campaign_create(dataset=dataset, name="Mixed", even_mix=True)

    campaign_open(campaign=campaign, at=at)

    rows = TupleItem.objects.filter(tuple__campaign=campaign).values_list("tuple", "pair")
    machine = [0] * 48
    numbers = {row: place for place, row in enumerate(sorted({row for row, _pair in rows}))}
    for row, pair in rows:
        machine[numbers[row]] += pair in generated
    assert machine == [2] * 48


def test_only_active_pairs_that_fit_the_filter_are_asked_about(dataset, pairs, at) -> None:
    PairFactory.create_batch(5, dataset=dataset, split="test")
    PairFactory(dataset=dataset, split="train", status="retired")

    campaign = campaign_open(campaign=campaign_create(dataset=dataset, name="Train", split="train"), at=at)

    asked = set(TupleItem.objects.filter(tuple__campaign=campaign).values_list("pair", flat=True))
    assert asked == {pair.pk for pair in pairs}


def test_a_number_of_pairs_is_drawn_by_the_seed(dataset, pairs) -> None:
    drafts = [
        campaign_create(dataset=dataset, name=f"Sample {seed}", number=6, seed=seed) for seed in (1, 1, 2)
    ]

    sampled = [{card.pair.pk for cards in preview_tuples(draft) for card in cards} for draft in drafts]

    assert len(sampled[0]) == 6
    assert sampled[0] == sampled[1] != sampled[2]


def test_more_pairs_than_there_are_cannot_be_drawn(dataset, pairs) -> None:
    with pytest.raises(UserError, match="13 pairs are asked for, but only 12 match the filter"):
        campaign_create(dataset=dataset, name="Greedy", number=13)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"tuple_size": 1}, "between 2 and 8"),
        ({"factor": 0.0}, "more than 0"),
        ({"judgements_per_tuple": 0}, "at least one judgement"),
        ({"gold_every": 1}, "every second"),
        ({"repeat_every": 4}, "every fifth"),
        ({"gold_threshold": 1.5}, "between 0 and 1"),
        ({"best_label": ""}, "Label for best"),
    ],
)
def test_settings_that_cannot_work_are_named_in_one_sentence(dataset, pairs, wrong, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        campaign_create(dataset=dataset, name="Wrong", **wrong)


def test_the_preview_is_the_certificate_of_the_design_that_opening_writes(draft, at) -> None:
    certificate = campaign_preview(campaign=draft)

    opened = campaign_open(campaign=draft, at=at)

    assert certificate["tuples"] == 24
    assert opened.certificate == certificate
    assert opened.tuples.count() == 24


def test_opening_writes_every_tuple_with_its_pairs_and_what_is_wanted(draft, pairs, at) -> None:
    campaign = campaign_open(campaign=campaign_change(campaign=draft, judgements_per_tuple=3), at=at)

    items = TupleItem.objects.filter(tuple__campaign=campaign)
    shown = [items.filter(pair=pair).count() for pair in pairs]
    assert shown == [8] * 12
    assert set(campaign.tuples.values_list("required", flat=True)) == {3}
    assert sorted(campaign.tuples.values_list("priority", flat=True)) == list(range(24))


def test_pairs_of_one_tuple_share_no_sentence(dataset, at) -> None:
    shared = SentenceFactory(dataset=dataset)
    mirrored = PairFactory(dataset=dataset, a=shared)
    PairFactory(dataset=dataset, a=mirrored.b, b=shared)
    PairFactory.create_batch(10, dataset=dataset)

    campaign = campaign_open(campaign=campaign_create(dataset=dataset, name="Mirrors"), at=at)

    for row in campaign.tuples.all():
        sentences = [text for item in row.items.all() for text in (item.pair.a_id, item.pair.b_id)]
        assert len(set(sentences)) == len(sentences)


def test_a_design_that_cannot_be_made_says_which_pairs_stand_in_its_way(dataset) -> None:
    shared = SentenceFactory(dataset=dataset)
    PairFactory.create_batch(6, dataset=dataset, a=shared)
    draft = campaign_create(dataset=dataset, name="One sentence")

    with pytest.raises(UserError, match=r"share one sentence.*pair-"):
        campaign_preview(campaign=draft)


def test_an_open_campaign_hands_out_tuples(draft, annotator, at) -> None:
    campaign = campaign_open(campaign=draft, at=at)

    claimed = tuple_claim(participation=participation_join(campaign=campaign, user=annotator), at=at)

    assert isinstance(claimed, Lease)


def test_a_campaign_is_opened_once(draft, at) -> None:
    campaign_open(campaign=draft, at=at)

    with pytest.raises(UserError, match="“Relatedness” is open"):
        campaign_open(campaign=draft, at=at)


def test_what_is_open_cannot_be_changed(draft, at) -> None:
    campaign_open(campaign=draft, at=at)

    with pytest.raises(UserError, match="is open"):
        campaign_change(campaign=draft, question="Another question?")


def test_a_campaign_goes_from_open_to_paused_to_open_to_closed_and_back(draft, at) -> None:
    campaign_open(campaign=draft, at=at)
    states = [
        move(campaign=draft).state
        for move in (campaign_pause, campaign_resume, campaign_close, campaign_resume)
    ]

    assert states == ["paused", "open", "closed", "open"]


def test_a_draft_can_be_neither_paused_nor_closed(draft) -> None:
    for move in (campaign_pause, campaign_close, campaign_resume):
        with pytest.raises(UserError, match="is draft"):
            move(campaign=draft)


def test_changed_guidelines_are_a_new_version_and_the_same_text_is_none(draft) -> None:
    for text in ("First.", "First.", "Second."):
        guideline_save(campaign=draft, text=text)

    versions = list(draft.guidelines.values_list("version", "text"))
    assert versions == [(2, "Second."), (1, "First.")]


def test_a_gold_tuple_keeps_its_answer_wherever_its_pairs_are_shuffled_to(draft, quad) -> None:
    golds = [gold_add(campaign=draft, pairs=quad, best=quad[0], worst=quad[3], why="So.") for _ in range(8)]

    for gold in golds:
        by_slot = {item.slot: item.pair for item in gold.items.all()}
        assert by_slot[gold.gold_answer.best_slot] == quad[0]
        assert by_slot[gold.gold_answer.worst_slot] == quad[3]
    assert len({gold.gold_answer.best_slot for gold in golds}) > 1


def test_a_gold_answer_whose_best_is_its_worst_is_refused(draft, quad) -> None:
    with pytest.raises(UserError, match="are the same pair"):
        gold_add(campaign=draft, pairs=quad, best=quad[0], worst=quad[0])


def test_a_gold_tuple_has_as_many_pairs_as_every_tuple(draft, quad) -> None:
    with pytest.raises(UserError, match="needs 4 different pairs; 3 are given"):
        gold_add(campaign=draft, pairs=quad[:3], best=quad[0], worst=quad[1])


def test_a_gold_answer_must_be_among_the_pairs(draft, pairs, quad) -> None:
    with pytest.raises(UserError, match="must be among the pairs"):
        gold_add(campaign=draft, pairs=quad, best=pairs[5], worst=quad[1])


def test_a_pair_of_another_dataset_cannot_be_gold(draft, quad) -> None:
    foreign = PairFactory()

    with pytest.raises(UserError, match=f"Pair {foreign.external_id} is not of this campaign"):
        gold_add(campaign=draft, pairs=[*quad[:3], foreign], best=quad[0], worst=foreign)


def test_gold_made_in_a_draft_is_there_when_it_opens(draft, quad, at) -> None:
    gold = gold_add(campaign=draft, pairs=quad, best=quad[0], worst=quad[3])

    campaign = campaign_open(campaign=draft, at=at)

    assert list(campaign.tuples.filter(is_gold=True)) == [gold]


def test_the_reason_of_a_gold_answer_can_be_put_better(draft, quad) -> None:
    gold = gold_add(campaign=draft, pairs=quad, best=quad[0], worst=quad[3], why="So.")

    gold_change(gold=gold, why=" Both speak of a dog. ")

    assert Tuple.objects.get(pk=gold.pk).gold_answer.why == "Both speak of a dog."


def test_gold_that_nobody_saw_can_be_removed(draft, quad) -> None:
    gold = gold_add(campaign=draft, pairs=quad, best=quad[0], worst=quad[3])

    gold_remove(gold=gold)

    assert not draft.tuples.exists()


def test_gold_that_was_shown_stays(dataset, annotator, at) -> None:
    campaign = CampaignFactory(dataset=dataset, gold_every=2)
    gold = GoldFactory(campaign=campaign)
    person = participation_join(campaign=campaign, user=annotator)
    while not gold_is_due(person):
        person.handed += 1
    person.save()
    assert tuple_claim(participation=person, at=at).tuple_id == gold.pk

    with pytest.raises(UserError, match="Attention check 1 has been shown"):
        gold_remove(gold=gold)


def test_a_flag_is_resolved_by_somebody_at_some_time(owner, at) -> None:
    flag = FlagFactory()

    flag_resolve(flag=flag, by=owner, at=at)

    flag.refresh_from_db()
    assert (flag.resolved_by, flag.resolved_at) == (owner, at)
