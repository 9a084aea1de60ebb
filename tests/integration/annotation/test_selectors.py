"""Rows for pages: whose they are, in which order, and at what price."""

import csv
from datetime import timedelta

import pytest

from annotation.bws.files.judgement_files import judgement_lines
from annotation.campaigns.selectors import campaigns_in, campaigns_of, flags_of, pairs_fitting, pairs_of
from annotation.cards import cards_by_tuple, cards_of
from annotation.judging.assignment import judgement_undo, participation_join, tuple_claim, tuple_flag
from annotation.judging.screen import answer_undone, last_judgement, sitting_judged
from annotation.judging.settling import participation_stop
from annotation.models import Campaign
from annotation.results.record import campaign_judgements, judgement_table
from annotation.results.selectors import golds_of, judgements_in, judgements_of
from curation.models import Dataset
from tests.factories import CampaignFactory, FlagFactory, MembershipFactory, PairFactory, UserFactory


@pytest.fixture
def person(campaign, annotator):
    return participation_join(campaign=campaign, user=annotator)


def test_cards_stand_in_the_order_of_the_screen(person, at) -> None:
    lease = tuple_claim(participation=person, at=at)

    cards = cards_of([lease])[lease.pk]

    pairs = {item.slot: item.pair for item in lease.tuple.items.all()}
    assert [card.slot for card in cards] == lease.order_shown
    assert [card.position for card in cards] == [0, 1, 2, 3]
    assert all(card.pair == pairs[card.slot] for card in cards)


def test_cards_take_one_query_however_many_there_are(campaign, django_assert_num_queries) -> None:
    ids = list(campaign.tuples.values_list("pk", flat=True))

    with django_assert_num_queries(1):
        texts = [card.a.text + card.b.text for cards in cards_by_tuple(ids).values() for card in cards]

    assert len(texts) == 12


def test_an_annotator_sees_the_open_and_paused_campaigns_of_their_datasets(annotator, dataset) -> None:
    names = {
        state: CampaignFactory(dataset=dataset, state=state, name=state).name for state in Campaign.State
    }
    CampaignFactory(state="open", name="elsewhere")

    seen = {row.name for row in campaigns_of(annotator)}

    assert seen == {names["open"], names["paused"]}


def test_an_annotators_campaigns_say_how_much_they_did(campaign, person, annotator, at, answer) -> None:
    answer(person)
    answer(person, when=at + timedelta(minutes=1))
    participation_stop(participation=person, reason="Thank you.")

    row = campaigns_of(annotator)[0]

    assert (row.judged, row.last_at, row.stopped) == (2, at + timedelta(minutes=1), True)


def test_a_campaign_in_which_nothing_is_left_for_the_person_says_so(
    campaign, person, annotator, answer
) -> None:
    before = campaigns_of(annotator)[0].left
    for _ in range(3):
        answer(person)

    assert (before, campaigns_of(annotator)[0].left) == (True, False)


def test_a_campaigns_row_counts_judgements_and_those_who_judged(campaign, person, ben, cleo, answer) -> None:
    answer(person)
    answer(ben)

    row = campaigns_in(Dataset.objects.all())[0]

    assert (row.collected, row.required, row.annotators) == (2, 6, 2)


def test_lists_of_campaigns_take_one_query(annotator, dataset, django_assert_num_queries) -> None:
    CampaignFactory.create_batch(5, dataset=dataset)

    with django_assert_num_queries(1):
        list(campaigns_of(annotator))
    with django_assert_num_queries(1):
        [row.dataset.name for row in campaigns_in(Dataset.objects.all())]


def test_a_persons_history_is_theirs_alone_and_newest_first(person, ben, annotator, answer) -> None:
    mine = [answer(person).judgement for _ in range(2)]
    answer(ben)

    history = judgements_of(annotator)

    assert list(history) == mine[::-1]
    assert [card.slot for card in history[0].cards] == mine[1].order_shown


def test_an_owner_reads_one_persons_judgements_or_all(campaign, person, ben, answer) -> None:
    answer(person)
    answer(ben)

    assert judgements_in(campaign).paginator.count == 2
    assert [row.participation for row in judgements_in(campaign, participation=ben)] == [ben]


def test_progress_is_that_of_the_last_sitting(person, at, answer) -> None:
    answer(person)
    later = at + timedelta(hours=3)
    for seconds in (10, 20):
        lease = tuple_claim(participation=person, at=later)
        answer.submit(person, lease.tuple_id, when=later, active_ms=seconds * 1000)

    assert sitting_judged(person) == 2


def test_whoever_has_not_begun_has_no_progress(person) -> None:
    assert sitting_judged(person) == 0


def test_the_last_judgement_is_found_and_found_by_its_client_id(person, answer) -> None:
    answer(person)
    last = answer(person).judgement

    assert last_judgement(person) == last


def test_after_an_undo_the_page_can_show_what_was_chosen(person, at, answer) -> None:
    undone = answer(person, best=3, worst=0).judgement
    judgement_undo(participation=person, at=at)

    assert answer_undone(person, undone.tuple_id) == (3, 0)


def test_the_inbox_holds_what_nobody_looked_at(campaign, person, at) -> None:
    lease = tuple_claim(participation=person, at=at)
    flag = tuple_flag(participation=person, tuple_id=lease.tuple_id, reason="broken", at=at)
    FlagFactory(tuple=lease.tuple, resolved_at=at)

    open_, resolved = flags_of(campaign), flags_of(campaign, resolved=True)

    assert list(open_) == [flag]
    assert len(open_[0].cards) == 4
    assert len(resolved) == 1


def test_gold_rows_say_how_often_people_were_right(dataset, at, answer) -> None:
    campaign = CampaignFactory(dataset=dataset, gold_every=2, judgements_per_tuple=9, tuples=2, gold=1)
    for worst in (1, 2):
        person = participation_join(campaign=campaign, user=UserFactory())
        for _ in range(2):
            answer(person, best=0, worst=worst)

    row = golds_of(campaign)[0]

    assert (row.shown, row.asked, row.best_right, row.worst_right) == (2, 2, 2, 1)
    assert [card.slot for card in row.cards] == [0, 1, 2, 3]


def test_only_active_pairs_fit(dataset) -> None:
    PairFactory(dataset=dataset, source="news", split="train")
    PairFactory(dataset=dataset, source="news", split="test")
    PairFactory(dataset=dataset, source="news", split="train", status="rejected")

    assert pairs_fitting(dataset, {"source": "news", "split": "train"}).count() == 1


def test_pairs_for_gold_are_found_by_a_word_of_either_sentence(campaign) -> None:
    pair = campaign.dataset.pairs.first()

    found = pairs_of(campaign, search=pair.b.text.upper())

    assert list(found) == [pair]


def file_rows(campaign, method="counting") -> list[dict[str, str]]:
    judged = campaign_judgements(campaign)
    lines = judgement_lines(*judgement_table(campaign, judged.as_filed(judged.feeding(method))))
    return list(csv.DictReader(lines))


def test_rows_of_the_judgements_file_name_pairs_in_the_order_shown(campaign, person, answer) -> None:
    judgement = answer(person, best=2, worst=0).judgement

    (row,) = file_rows(campaign)

    names = {item.slot: item.pair.external_id for item in judgement.tuple.items.all()}
    assert [row[f"Item{place}"] for place in (1, 2, 3, 4)] == [names[slot] for slot in judgement.order_shown]
    assert (row["BestItem"], row["WorstItem"]) == (names[2], names[0])


def test_only_what_counts_is_in_the_judgements_file(campaign, person, ben, answer) -> None:
    answer(person)
    answer(ben)
    participation_stop(participation=ben, reason="Answers at random.", exclude=True)

    assert len(file_rows(campaign)) == 1


def test_a_member_of_two_datasets_sees_the_campaigns_of_both(annotator, dataset) -> None:
    other = MembershipFactory(user=annotator).dataset
    CampaignFactory(dataset=dataset)
    CampaignFactory(dataset=other)

    assert len(campaigns_of(annotator)) == 2
