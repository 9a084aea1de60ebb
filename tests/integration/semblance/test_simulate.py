"""Simulated annotators who answer the rest of a campaign, for somebody who tries it alone."""

import json
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from annotation.judging.assignment import judgement_submit, participation_join, tuple_claim
from annotation.models import Campaign, Judgement
from annotation.results.publishing import scores_publish
from curation.foundation.heartbeats import database_now
from curation.models import Membership, PairScore
from semblance.demo.crowd import Crowd, crowd_answer
from tests.factories import (
    CampaignFactory,
    DatasetFactory,
    PairFactory,
    ScoreSetFactory,
    TupleFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    """Eight pairs with reference scores 0 to 7 in six tuples, three judgements each."""
    dataset = DatasetFactory()
    pairs = [PairFactory(dataset=dataset) for _ in range(8)]
    gold = ScoreSetFactory(dataset=dataset, name="reference", low=0, high=7)
    for value, pair in enumerate(pairs):
        PairScore.objects.create(score_set=gold, pair=pair, value=value)
    campaign = CampaignFactory(dataset=dataset, state="open", judgements_per_tuple=3)
    for start in range(6):
        TupleFactory(
            campaign=campaign, required=3, pairs=[pairs[(start + step) % 8] for step in (0, 1, 3, 6)]
        )
    return campaign


def test_they_answer_all_that_is_left_by_the_reference_scores_and_are_marked(campaign) -> None:
    assert crowd_answer(campaign, Crowd(noise=0), at=database_now()) == 18

    judgements = Judgement.objects.filter(participation__campaign=campaign)
    assert judgements.count() == 18
    assert all(one.participation.user.simulated for one in judgements.select_related("participation__user"))
    assert not any(
        member.user.has_usable_password() for member in Membership.objects.filter(dataset=campaign.dataset)
    )
    for one in judgements:
        values = [PairScore.objects.get(pair=item.pair).value for item in one.tuple.items.order_by("slot")]
        assert (values[one.best_slot], values[one.worst_slot]) == (max(values), min(values))
    scores = scores_publish(campaign=campaign, by=None)
    assert scores.judged_by == "simulated annotators"


def test_where_people_have_answered_it_must_be_allowed(campaign, capsys) -> None:
    person = participation_join(campaign=campaign, user=UserFactory())
    now = database_now()
    lease = tuple_claim(participation=person, at=now)
    judgement_submit(
        participation=person, tuple_id=lease.tuple_id, best_slot=0, worst_slot=1, client_id=uuid4(), at=now
    )

    with pytest.raises(CommandError, match=r"1 people have answered questions .* Add --beside-people"):
        call_command("simulate", str(campaign.pk))
    assert Judgement.objects.filter(participation__campaign=campaign).count() == 1

    call_command("simulate", str(campaign.pk), "--beside-people", "--json")
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said == {"campaign": campaign.pk, "judgements": 17, "annotators": 4, "held": 0}
    assert Judgement.objects.filter(participation__campaign=campaign).count() == 18


def test_without_reference_scores_they_agree_on_a_random_order(campaign) -> None:
    PairScore.objects.all().delete()

    crowd_answer(campaign, Crowd(noise=0), at=database_now())

    by_tuple = {}
    for one in Judgement.objects.filter(participation__campaign=campaign):
        by_tuple.setdefault(one.tuple_id, set()).add((one.best_slot, one.worst_slot))
    assert len(by_tuple) == 6
    assert all(len(choices) == 1 for choices in by_tuple.values())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["999999"], "There is no campaign 999999"),
        (["--annotators", "0"], "--annotators is 0; give 1 to 100"),
    ],
)
def test_what_cannot_be_simulated_is_one_sentence(campaign, arguments, sentence) -> None:
    number = [] if arguments[0].isdigit() else [str(campaign.pk)]

    with pytest.raises(CommandError, match=sentence):
        call_command("simulate", *number, *arguments)
    assert not Judgement.objects.exists()


def test_a_draft_is_not_answered(campaign) -> None:
    campaign.state = "draft"
    campaign.save()

    with pytest.raises(
        CommandError, match=f"Campaign {campaign.pk} is draft; simulated annotators answer an open one"
    ):
        call_command("simulate", str(campaign.pk))


def test_a_question_on_somebody_s_screen_stays_theirs_and_it_says_so(campaign, capsys) -> None:
    person = participation_join(campaign=campaign, user=UserFactory())
    tuple_claim(participation=person, at=database_now())

    call_command("simulate", str(campaign.pk))

    assert Judgement.objects.filter(participation__campaign=campaign).count() == 17
    assert "Questions reserved for people who are annotating now: 1." in capsys.readouterr().out
