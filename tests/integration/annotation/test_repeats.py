"""Hidden repeats: when they come, what comes again, that they count for nothing, and what they tell of people."""

import csv
import json
from uuid import uuid4

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from annotation.bws.annotators.gold_gate import share_bounds
from annotation.campaigns.services import campaign_close, repeats_change
from annotation.judging import repeats as repeating
from annotation.judging.assignment import (
    LEASE_TIME,
    RefusedError,
    judgement_submit,
    judgement_undo,
    participation_join,
    tuple_claim,
    tuple_flag,
    tuple_skip,
)
from annotation.judging.choosing import NoTupleReason
from annotation.judging.gold import gold_stands_at
from annotation.judging.repeats import repeat_choose, repeat_is_due
from annotation.judging.settling import leases_expire, participation_reinstate, participation_stop
from annotation.models import Campaign, Judgement, Lease, Tuple
from annotation.results.annotators import RepeatAgreement, repeat_agreement_by_person
from annotation.results.bundle import bundle_write
from annotation.results.dashboard import campaign_dashboard
from annotation.results.publishing import scores_publish
from annotation.results.study import study_make
from curation.foundation.errors import UserError
from tests.factories import CampaignFactory, GoldFactory, UserFactory, client_of, token_of
from tests.integration.annotation.conftest import AT
from tests.integration.annotation.pages import address, text_of

EVERY, BETWEEN, TUPLES = 5, 3, 16


@pytest.fixture(autouse=True)
def soon(monkeypatch) -> None:
    """Repeats may come after fewer judgements than on a real screen, so that tests need fewer."""
    monkeypatch.setattr(repeating, "JUDGED_BETWEEN", BETWEEN)


@pytest.fixture
def campaign(db, dataset):
    """Two judgements required of each tuple, one tuple in five a repeat."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=2, repeat_every=EVERY, tuples=TUPLES)


def judge(person, *, best=0, worst=1, when=AT) -> Judgement | NoTupleReason:
    lease = tuple_claim(participation=person, at=when)
    return send(person, lease, best=best, worst=worst) if isinstance(lease, Lease) else lease


def send(person, lease, *, best=0, worst=1) -> Judgement:
    return judgement_submit(
        participation=person,
        tuple_id=lease.tuple_id,
        best_slot=best,
        worst_slot=worst,
        client_id=uuid4(),
        at=AT,
    ).judgement


def next_repeat(person) -> Lease:
    """Judge until a repeat is on the person's screen."""
    while True:
        lease = tuple_claim(participation=person, at=AT)
        assert isinstance(lease, Lease), lease
        if lease.tuple.repeats_id is not None:
            return lease
        send(person, lease)


def judge_all(person) -> list[Judgement]:
    judged = []
    while isinstance(judgement := judge(person), Judgement):
        judged.append(judgement)
    return judged


# When they come


def test_one_tuple_in_every_so_many_is_a_repeat_once_enough_is_judged(campaign, anna, monkeypatch) -> None:
    # Where gold stands is drawn, and can push a repeat into the next block.
    monkeypatch.setattr(repeating, "gold_stands_at", lambda _person, _turn: False)

    judged = judge_all(anna)

    repeats = [judgement.tuple.repeats_id is not None for judgement in judged]
    blocks = [sum(repeats[start : start + EVERY]) for start in range(0, len(repeats) - EVERY + 1, EVERY)]
    assert set(blocks[1:]) == {1}
    assert len(judged) - sum(repeats) == TUPLES


def test_ten_judgements_lie_between_at_least(campaign, anna, monkeypatch) -> None:
    monkeypatch.undo()
    chosen = []
    for _ in range(12):
        chosen.append(repeat_choose(anna))
        judge(anna)

    assert chosen[:11] == [None] * 11
    assert chosen[11].repeats_id == anna.judgements.first().tuple_id


def test_a_campaign_without_repeats_shows_nothing_twice(campaign, anna) -> None:
    Campaign.objects.update(repeat_every=0)

    judged = judge_all(anna)

    assert len(judged) == Tuple.objects.count() == TUPLES


def test_gold_goes_first_and_the_repeat_comes_after_it(campaign, anna) -> None:
    anna.campaign.gold_every = 3_000
    drawn = [turn for turn in range(200) if due_at(anna, turn)]
    anna.campaign.gold_every = 2

    golds = {turn for turn in range(203) if gold_stands_at(anna, turn)}
    due = {turn for turn in range(203) if due_at(anna, turn)}

    assert golds & set(drawn)
    assert golds & due == set()
    # Of two turns one is gold, so that two at most follow each other.
    assert {next(turn for turn in (draw, draw + 1, draw + 2) if turn not in golds) for draw in drawn} <= due
    assert len(due) <= len(drawn) + 1


def test_gold_and_repeats_together_leave_every_tuple_its_judgement(campaign, anna) -> None:
    Campaign.objects.update(gold_every=3)
    GoldFactory.create_batch(5, campaign=campaign)

    judged = judge_all(anna)

    numbers = [judgement.status for judgement in judged]
    assert numbers.count("collected") == TUPLES
    assert numbers.count("gold") == 5
    assert numbers.count("repeat") >= 3


def test_whoever_has_nothing_else_left_gets_no_repeat(campaign, anna) -> None:
    judged = judge_all(anna)

    assert judged[-1].tuple.is_for_scores
    anna.refresh_from_db()
    for handed in range(100, 105):
        anna.handed = handed
        anna.save()
        assert tuple_claim(participation=anna, at=AT) is NoTupleReason.YOURS


def test_claims_cost_no_query_more_where_no_repeat_is_due(
    campaign, anna, no_gold_due, django_assert_num_queries
) -> None:
    for _ in range(6):
        judge(anna)
    anna.refresh_from_db()
    anna.handed = next(turn for turn in range(20, 30) if not due_at(anna, turn))
    anna.cursor = 0
    anna.save()

    with django_assert_num_queries(8):  # as `test_claiming` counts without repeats
        tuple_claim(participation=anna, at=AT)


def due_at(person, turn: int) -> bool:
    person.handed = turn
    return repeat_is_due(person)


# What comes


def test_what_comes_again_was_judged_a_while_ago_and_stands_in_another_order(campaign, anna) -> None:
    judged = judge_all(anna)

    repeats = [(place, row) for place, row in enumerate(judged) if row.tuple.repeats_id is not None]
    assert len({row.tuple_id for _place, row in repeats}) == len(repeats) >= 2
    for place, repeat in repeats:
        earlier = next(at for at, row in enumerate(judged) if row.tuple_id == repeat.tuple.repeats_id)
        assert place - earlier > BETWEEN
        assert repeat.order_shown != judged[earlier].order_shown
        assert sorted(repeat.order_shown) == [0, 1, 2, 3]
        pairs = [
            list(row.tuple.items.order_by("slot").values_list("pair", flat=True))
            for row in (repeat, judged[earlier])
        ]
        assert pairs[0] == pairs[1]


def test_two_pairs_on_a_screen_change_sides(db, dataset) -> None:
    campaign = CampaignFactory(
        dataset=dataset, tuple_size=2, repeat_every=EVERY, judgements_per_tuple=1, tuples=12
    )
    anna = participation_join(campaign=campaign, user=UserFactory())

    repeat = next_repeat(anna)

    first = anna.leases.get(tuple=repeat.tuple.repeats_id)
    assert repeat.order_shown == first.order_shown[::-1]


def test_the_same_campaign_repeats_the_same(campaign, anna) -> None:
    for _ in range(6):
        judge(anna)
    anna.refresh_from_db()

    assert len({repeat_choose(anna) for _ in range(3)}) == 1


def test_what_was_undone_flagged_or_skipped_is_not_repeated(campaign, anna) -> None:
    undone = judge(anna).tuple_id
    judgement_undo(participation=anna, at=AT)
    judge(anna)
    skipped = tuple_claim(participation=anna, at=AT).tuple_id
    tuple_skip(participation=anna, tuple_id=skipped, reason="language", at=AT)
    flagged = tuple_claim(participation=anna, at=AT).tuple_id
    tuple_flag(participation=anna, tuple_id=flagged, reason="broken", at=AT)

    judged = judge_all(anna)

    repeated = {row.tuple.repeats_id for row in judged} - {None}
    assert repeated
    assert not repeated & {undone, skipped, flagged}


def test_people_meet_one_row_again_in_orders_of_their_own(dataset) -> None:
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=8, repeat_every=EVERY, tuples=TUPLES)
    people = [participation_join(campaign=campaign, user=UserFactory()) for _ in range(8)]

    repeats = [row for person in people for row in judge_all(person) if row.tuple.repeats_id is not None]

    rows = Tuple.objects.exclude(repeats=None)
    shared = [row for row in rows if row.judgements.count() > 1]
    assert len(repeats) > TUPLES  # more than there are tuples to repeat, so that some met the same
    assert shared
    assert any(len({tuple(found.order_shown) for found in row.judgements.all()}) > 1 for row in shared)


# What becomes of an answer


def test_the_answer_to_a_repeat_counts_for_nothing_and_the_first_stands(campaign, anna, at) -> None:
    judge_all(anna)

    first = Judgement.objects.filter(tuple__repeats=None)
    assert set(first.values_list("status", flat=True)) == {"collected"}
    assert set(Judgement.objects.exclude(tuple__repeats=None).values_list("status", flat=True)) == {"repeat"}
    assert not Tuple.objects.exclude(repeats=None).exclude(collected=0, leased=0, required=0).exists()
    assert campaign_dashboard(campaign, at=at).collected == TUPLES
    assert campaign_dashboard(campaign, at=at).required == 2 * TUPLES
    assert campaign_dashboard(campaign, at=at).pace == TUPLES


def test_it_is_kept_once_however_often_it_is_sent(campaign, anna) -> None:
    lease = next_repeat(anna)
    kept = send(anna, lease, best=2, worst=3)

    again = judgement_submit(
        participation=anna,
        tuple_id=lease.tuple_id,
        best_slot=0,
        worst_slot=1,
        client_id=kept.client_id,
        at=AT,
    )

    assert again.repeated
    assert (again.judgement.pk, again.judgement.best_slot) == (kept.pk, 2)


def test_it_is_undone_as_any_other(campaign, anna) -> None:
    lease = next_repeat(anna)
    send(anna, lease)

    back = judgement_undo(participation=anna, at=AT)

    assert (back.pk, back.order_shown) == (lease.pk, lease.order_shown)
    assert not Judgement.objects.filter(status="repeat").exists()
    assert send(anna, back, best=3, worst=2).status == "repeat"


def test_it_may_be_skipped_and_does_not_come_again(campaign, anna) -> None:
    lease = next_repeat(anna)

    tuple_skip(participation=anna, tuple_id=lease.tuple_id, reason="cannot_tell", at=AT)

    assert lease.tuple_id not in {row.tuple_id for row in judge_all(anna)}


def test_what_ran_out_is_taken_back_without_a_trace_and_may_be_answered_late(campaign, anna) -> None:
    lease = next_repeat(anna)

    assert leases_expire(at=AT + 2 * LEASE_TIME) == 1
    late = send(anna, lease)

    assert late.status == "repeat"
    assert Lease.objects.get(pk=lease.pk).state == Lease.State.ANSWERED


def test_exclusion_and_reinstatement_leave_repeats_as_they_are(campaign, anna) -> None:
    judge_all(anna)
    repeats = Judgement.objects.filter(status="repeat").count()

    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    assert Judgement.objects.filter(status="excluded").count() == TUPLES
    assert campaign_dashboard(campaign, at=AT).repeat_agreement is None
    participation_reinstate(participation=anna)
    assert Judgement.objects.filter(status="collected").count() == TUPLES
    assert Judgement.objects.filter(status="repeat").count() == repeats


def test_times_of_repeats_tell_nothing_of_the_hours_left(campaign, anna) -> None:
    judge_all(anna)
    Judgement.objects.update(active_ms=20_000)
    Judgement.objects.filter(status="repeat").update(active_ms=1_000_000)

    assert campaign_dashboard(campaign, at=AT).median_seconds == 20
    assert study_make(campaign=campaign, at=AT).figures["judgements"] == TUPLES


# What they tell


def test_self_consistency_is_the_share_of_choices_repeated(campaign, anna) -> None:
    lease = next_repeat(anna)
    send(anna, lease, best=0, worst=2)  # best as before, worst not
    send(anna, next_repeat(anna))  # both as before

    found = repeat_agreement_by_person(campaign)[anna.pk]

    assert (found.choices, found.same, found.share) == (4, 3, 0.75)
    assert (found.lower, found.upper) == share_bounds(3, 4, 0.95)


def test_an_answer_taken_back_since_leaves_nothing_to_compare(campaign, anna) -> None:
    lease = next_repeat(anna)
    send(anna, lease)

    Judgement.objects.filter(tuple=lease.tuple.repeats_id).delete()

    assert repeat_agreement_by_person(campaign) == {}


def test_all_together_are_those_who_count(campaign, anna, ben) -> None:
    send(anna, next_repeat(anna), best=2, worst=3)
    send(ben, next_repeat(ben))

    both = campaign_dashboard(campaign, at=AT).repeat_agreement
    participation_stop(participation=anna, reason="Answers at random.", exclude=True)

    assert both == RepeatAgreement(4, 2)
    assert campaign_dashboard(campaign, at=AT).repeat_agreement == RepeatAgreement(2, 2)


# Changing it


@pytest.mark.parametrize(("every", "sentence"), [(4, "every fifth"), (1, "every fifth")])
def test_repeats_are_off_or_seldom(campaign, every, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        repeats_change(campaign=campaign, every=every)


def test_a_closed_campaign_keeps_its_setting(campaign) -> None:
    campaign_close(campaign=campaign)

    with pytest.raises(UserError, match="is closed"):
        repeats_change(campaign=campaign, every=9)


def test_a_curator_changes_it_while_people_judge(campaign, curator) -> None:
    site = client_of(curator)

    page = site.post(address("campaign_repeats", campaign), {"repeat_every": 12}, follow=True)

    campaign.refresh_from_db()
    assert campaign.repeat_every == 12
    assert "tuples that people get from now on" in text_of(page)
    refused = site.post(address("campaign_repeats", campaign), {"repeat_every": 3}, follow=True)
    assert "every fifth question" in text_of(refused)


def test_who_only_judges_may_not_change_it(campaign, annotator, stranger) -> None:
    statuses = [
        client_of(user).post(address("campaign_repeats", campaign), {"repeat_every": 12}).status_code
        for user in (annotator, stranger)
    ]

    assert statuses == [403, 404]


# From the first judgement to the dashboard, and out in a bundle


def test_a_program_judges_and_the_dashboard_shows_how_consistent_it_was(campaign, annotator, curator) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(annotator)}")
    api = f"/api/v1/campaigns/{campaign.pk}/"
    site = client_of(curator)
    before = text_of(site.get(address("campaign", campaign)))
    claims = []
    claim = client.post(f"{api}claim/").json()
    while claim["lease"] is not None:
        claims.append(claim)
        # The first pair by its name is always the best, and the last the worst: as consistent as can be.
        names = [pair["a"] for pair in claim["pairs"]]
        sent = {"lease": claim["lease"], "best": names.index(min(names)), "worst": names.index(max(names))}
        answer = client.post(
            f"{api}judgements/", sent | {"client_id": str(uuid4()), "claim": True}, format="json"
        )
        claim = answer.json()["next"]

    leases = {row.pk: row for row in Lease.objects.select_related("tuple")}
    again = [claim for claim in claims if leases[claim["lease"]].tuple.repeats_id is not None]
    choices = 2 * len(again)
    lower = f"{share_bounds(choices, choices, 0.95)[0]:.2f}"
    assert again
    assert {frozenset(claim) for claim in claims} == {frozenset(claims[0])}
    page = text_of(site.get(address("campaign", campaign)))
    assert "Intra-annotator agreement" not in before
    assert f"{choices} of {choices} {lower}–1.00" in page
    page = text_of(site.get(address("analysis", campaign)))
    assert (
        f"Intra-annotator agreement of everybody who counts: 1.00 {lower}–1.00 , n = {choices} choices"
        in page
    )
    person = campaign.participations.get(user=annotator)
    own = text_of(site.get(address("annotator", campaign, person.pk)))
    assert f"Intra-annotator agreement 1.00 {lower}–1.00 {choices} of {choices} choices repeated" in own
    progress = client_of(curator).get(f"{api}progress/").json()
    assert (progress["collected"], progress["required"]) == (TUPLES, 2 * TUPLES)


def test_before_the_first_repeat_the_page_says_so(campaign, anna, curator) -> None:
    judge(anna)

    page = text_of(client_of(curator).get(address("analysis", campaign)))
    own = text_of(client_of(curator).get(address("annotator", campaign, anna.pk)))

    assert "No repeated questions yet." in page
    assert "Intra-annotator agreement no repeated questions yet" in own


def test_nothing_that_a_person_reads_tells_a_repeat(campaign, annotator) -> None:
    anna = participation_join(campaign=campaign, user=annotator)
    lease = next_repeat(anna)

    screen = client_of(annotator).get(address("judge", campaign))
    data = client_of(annotator).get(address("judge_screen", campaign)).content.decode()
    send(anna, lease)
    mine = client_of(annotator).get("/judge/")

    assert f'value="{lease.pk}"' in screen.content.decode()
    assert "repeat" not in text_of(screen).casefold()
    assert "repeat" not in data.casefold()
    assert "repeat" not in text_of(mine).casefold()


def test_a_bundle_keeps_repeats_apart_and_gives_the_same_scores(campaign, anna, ben, tmp_path) -> None:
    judge_all(anna)
    judge_all(ben)

    bundle = bundle_write(campaign=campaign, path=tmp_path / "bundle").path

    rows, people = (
        list(csv.DictReader((bundle / name).read_text(encoding="utf-8").splitlines()))
        for name in ("repeats.csv", "annotators.csv")
    )
    assert "repeats.csv" in json.loads((bundle / "manifest.json").read_text())["files"]
    assert len(rows) == Judgement.objects.filter(status="repeat").count() >= 4
    for person in people:
        own = [row for row in rows if row["annotator"] == person["annotator"]]
        same = sum((row["best"] == row["first_best"]) + (row["worst"] == row["first_worst"]) for row in own)
        assert (int(person["repeat_choices"]), int(person["repeat_same"])) == (2 * len(own), same)
        assert own
    assert len((bundle / "tuples.tsv").read_text().splitlines()) == TUPLES
    assert len((bundle / "judgements.csv").read_text().splitlines()) == 2 * TUPLES + 1
    for method in ("counting", "bradley-terry", "maxdiff"):
        again = tmp_path / f"{method}.csv"
        call_command("bws", "score", str(bundle / "judgements.csv"), "--method", method, "--out", str(again))
        assert again.read_bytes() == (bundle / "scores" / f"{method}.csv").read_bytes()


def test_what_is_published_is_the_same_with_and_without_repeats(campaign, anna, ben) -> None:
    judge_all(anna)
    judge_all(ben)
    with_repeats = scores_publish(campaign=campaign, name="With")

    Judgement.objects.filter(status="repeat").delete()
    without = scores_publish(campaign=campaign, name="Without")

    assert with_repeats.parameters == without.parameters
    assert [row.value for row in with_repeats.scores.order_by("pair")] == [
        row.value for row in without.scores.order_by("pair")
    ]


def test_undoing_past_a_repeat_goes_back_one_at_a_time(campaign, anna) -> None:
    lease = next_repeat(anna)
    send(anna, lease)
    judge(anna)
    ahead = tuple_claim(participation=anna, at=AT)

    judgement_undo(participation=anna, at=AT)
    back = judgement_undo(participation=anna, at=AT)

    assert back.tuple_id == lease.tuple_id
    ahead.refresh_from_db()
    assert ahead.state == Lease.State.RELEASED
    assert anna.leases.filter(state="live").count() == 2


def test_a_repeat_of_somebody_else_cannot_be_answered(campaign, anna, ben) -> None:
    lease = next_repeat(anna)

    with pytest.raises(RefusedError, match="not given to you"):
        send(ben, lease)
