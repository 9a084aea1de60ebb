"""A gold tuple that good annotators miss is proposed for removal, with what that changes, and can be put back."""

import pytest

from annotation.judging.assignment import participation_join
from annotation.judging.gold import gold_choose, gold_feedback
from annotation.judging.gold_removal import gold_restore, gold_withdraw
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import GoldAnswer, Judgement, Lease, Participation, Tuple
from annotation.results.gold_doubts import golds_to_remove
from curation.models import AuditEntry
from tests.factories import CampaignFactory, GoldFactory, TupleFactory, UserFactory, client_of
from tests.integration.annotation.pages import address, text_of


@pytest.fixture
def campaign(db, dataset):
    """Six gold tuples, of which the third has a wrong expected answer; the gate may act after three."""
    campaign = CampaignFactory(
        dataset=dataset, judgements_per_tuple=4, gold_every=2, gold_minimum=6, gold_threshold=0.7
    )
    TupleFactory.create_batch(4, campaign=campaign)
    GoldFactory.create_batch(6, campaign=campaign)
    GoldAnswer.objects.filter(tuple__campaign=campaign, tuple__number=wrong_number(campaign)).update(
        best_slot=2, worst_slot=3
    )
    return campaign


def wrong_number(campaign) -> int:
    return campaign.tuples.filter(is_gold=True).order_by("number")[2].number


@pytest.fixture
def wrong(campaign) -> Tuple:
    return campaign.tuples.get(is_gold=True, number=wrong_number(campaign))


@pytest.fixture
def joined(campaign, at, answer):
    """Somebody who judged an ordinary tuple and all gold tuples: best is slot 0, but in the `missed` it is slot 1."""

    def joined(name: str, *, missed: int = 0) -> Participation:
        person = participation_join(campaign=campaign, user=UserFactory(username=name))
        ordinary = campaign.tuples.for_scores().order_by("number")[:1]
        for number, each in enumerate([*ordinary, *campaign.tuples.filter(is_gold=True).order_by("number")]):
            Lease.objects.create(
                tuple=each,
                participation=person,
                turn=number,
                order_shown=[0, 1, 2, 3],
                claimed_at=at,
                expires_at=at,
            )
            campaign.tuples.for_scores().filter(pk=each.pk).update(leased=1)
            wrongly = each.is_gold and number > 6 - missed
            answer.submit(person, each.pk, best=int(wrongly), worst=int(not wrongly))
        return Participation.objects.get(pk=person.pk)

    return joined


@pytest.fixture
def good(joined) -> list[Participation]:
    return [joined(name) for name in ("anna", "ben", "cleo")]


def test_the_wrong_gold_tuple_is_proposed_with_its_effect(campaign, wrong, good) -> None:
    (removal,) = golds_to_remove(campaign)

    assert removal.gold == wrong.pk
    assert (removal.doubt.good, removal.doubt.right) == (3, 0)
    assert removal.share_before == pytest.approx(10 / 12)
    assert removal.share_after == 1.0
    assert removal.reinstated == removal.stopped == []


def test_whom_the_wrong_gold_tuple_stopped_is_let_in_again_and_an_undo_stops_them_again(
    campaign, wrong, good, joined
) -> None:
    # Dora misses the last three of six: with the wrong one 4 of 12 trials are right, without it 4 of 10.
    dora = joined("dora", missed=3)
    assert (dora.state, dora.gold_trials, dora.gold_right) == ("stopped", 12, 4)
    ordinary = dora.judgements.get(tuple__is_gold=False)
    assert ordinary.status == Judgement.Status.EXCLUDED
    assert golds_to_remove(campaign)[0].reinstated == ["dora"]

    again = gold_withdraw(gold=wrong)

    dora.refresh_from_db()
    ordinary.refresh_from_db()
    assert [person.user.username for person in again.reinstated] == ["dora"]
    assert (dora.state, dora.excluded, dora.gold_trials, dora.gold_right) == ("active", False, 10, 4)
    assert ordinary.status == Judgement.Status.COLLECTED

    gold_restore(gold=wrong)

    dora.refresh_from_db()
    ordinary.refresh_from_db()
    assert (dora.state, dora.excluded, dora.gold_trials, dora.gold_right) == ("stopped", True, 12, 4)
    assert ordinary.status == Judgement.Status.EXCLUDED


def test_whom_an_owner_stopped_stays_stopped(campaign, wrong, good) -> None:
    participation_stop(participation=good[0], reason="Asked to leave.", exclude=True)

    gold_withdraw(gold=wrong)

    good[0].refresh_from_db()
    assert (good[0].state, good[0].reason) == ("stopped", "Asked to leave.")


def test_answers_before_a_reinstatement_stay_forgiven(campaign, wrong, good, joined) -> None:
    dora = participation_reinstate(participation=joined("dora", missed=3))

    gold_withdraw(gold=wrong)

    dora.refresh_from_db()
    assert (dora.gold_trials, dora.forgiven_trials, dora.gold_right, dora.forgiven_right) == (10, 10, 4, 4)


def test_a_removed_gold_tuple_is_asked_of_nobody_and_has_no_feedback(campaign, wrong, good) -> None:
    gold_withdraw(gold=wrong)
    person = participation_join(campaign=campaign, user=UserFactory(username="eve"))

    chosen = {gold_choose(person).pk for person.handed in range(60)}

    assert chosen == set(campaign.tuples.gold_in_use().values_list("pk", flat=True))
    assert wrong.pk not in chosen
    assert gold_feedback(wrong.judgements.first()) is None


def test_removing_twice_changes_and_logs_nothing_more(campaign, wrong, good) -> None:
    gold_withdraw(gold=wrong)
    gold_withdraw(gold=wrong)

    assert AuditEntry.objects.filter(action="gold_removed").count() == 1


def test_the_page_proposes_removes_and_puts_back(curator, campaign, wrong, good, joined) -> None:
    joined("dora", missed=3)
    site = client_of(curator)

    page = text_of(site.get(address("gold", campaign)))
    assert "3 such people answered it, and 0 of their 6 choices (best and worst) are right." in page
    assert "and their judgements would count again: dora." in page

    removed = text_of(site.post(address("gold_remove", campaign, wrong.pk), follow=True))
    assert f"Attention check {wrong.number} is removed." in removed
    assert "their judgements count again: dora." in removed
    assert "Restore it" in removed
    assert "miss these" not in removed
    assert (
        address("gold_restore", campaign, wrong.pk)
        in site.get(address("gold", campaign), {"show": "removed"}).content.decode()
    )

    back = text_of(site.post(address("gold_restore", campaign, wrong.pk), follow=True))
    assert f"Attention check {wrong.number} is back in use. The exclusion rule stops these people" in back


def test_the_dashboard_leads_to_it_first(curator, campaign, wrong, good) -> None:
    page = client_of(curator).get(address("campaign", campaign))

    assert "Good annotators miss 1 attention check; it may stop the wrong people." in text_of(page)
    assert f'class="button primary" href="{address("gold", campaign)}"' in page.content.decode()


@pytest.mark.parametrize("what", ["gold_remove", "gold_restore"])
def test_annotators_and_strangers_cannot(what, annotator, stranger, campaign, wrong) -> None:
    where = address(what, campaign, wrong.pk)

    assert client_of(annotator).post(where).status_code == 403
    assert client_of(stranger).post(where).status_code == 404
    assert not GoldAnswer.objects.filter(withdrawn=True).exists()
