"""Norming sessions: the same tuples judged alone by everybody, discussed, and judged again; none of it counts."""

import csv
import json

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from annotation.campaigns.norming import discussion_begin, norming_close, norming_start
from annotation.campaigns.services import campaign_close
from annotation.crowds.erasing import person_erase
from annotation.crowds.services import crowd_of
from annotation.judging.assignment import RefusedError
from annotation.judging.norming import (
    norming_comment,
    norming_names,
    norming_submit,
    norming_undo,
    order_shown,
    tuples_left,
)
from annotation.models import (
    CrowdConsent,
    CrowdPerson,
    Judgement,
    Lease,
    NormingComment,
    NormingJudgement,
    NormingSession,
    Participation,
)
from annotation.results.bundle import bundle_write
from annotation.results.norming import agreement_of, norming_rows
from curation.foundation.errors import UserError
from tests.factories import MembershipFactory, TupleFactory, client_of
from tests.integration.annotation.pages import address, answer_on, new_id, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture


@pytest.fixture
def session(campaign) -> NormingSession:
    return norming_start(campaign=campaign, people=2, drawn=2)


def judge(person, row, number=1, *, best=0, worst=1, at, client_id=None) -> NormingJudgement:
    """best, worst: slots of the design."""
    order = order_shown(person, row, number)
    places = (None if slot is None else order.index(slot) for slot in (best, worst))
    sent = dict(zip(("best", "worst"), places, strict=True))
    return norming_submit(
        person=person, row=row, number=number, client_id=client_id or new_id(), at=at, **sent
    )


def judge_all(session, people, number=1, *, best=0, worst=1, at) -> None:
    for person in people:
        for row in session.tuples.all():
            judge(person, row, number, best=best, worst=worst, at=at)
    session.refresh_from_db()


def place(name, session, *more) -> str:
    return address(name, session.campaign, session.number, *more)


def test_drawn_tuples_have_pairs_of_different_tuples_and_no_sentence_twice(campaign) -> None:
    TupleFactory.create_batch(5, campaign=campaign)

    session = norming_start(campaign=campaign, people=3, drawn=3)

    used = []
    for row in session.tuples.all():
        pairs = [item.pair for item in row.items.all()]
        origins = [pair.tuple_items.get().tuple_id for pair in pairs]
        assert len(pairs) == 4
        assert len(set(origins)) == 4
        used += pairs
    assert len(set(used)) == 12


def test_chosen_tuples_are_copies_in_the_order_given(campaign) -> None:
    session = norming_start(campaign=campaign, people=2, chosen=[3, 1, 3])

    numbers = [
        {item.pair.tuple_items.get().tuple.number for item in row.items.all()} for row in session.tuples.all()
    ]
    assert numbers == [{3}, {1}]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"people": 1}, "2 to 100 people"),
        ({"people": 2, "drawn": 21}, "1 to 20 tuples"),
        ({"people": 2, "drawn": 5}, "has pairs for 4 tuples"),
        ({"people": 2, "chosen": [1, 9]}, "no tuple 9"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(campaign, asked, sentence) -> None:
    TupleFactory(campaign=campaign)

    with pytest.raises(UserError, match=sentence):
        norming_start(campaign=campaign, **asked)


def test_one_session_at_a_time_and_none_where_nobody_judges(session, at) -> None:
    with pytest.raises(UserError, match="Close the calibration session"):
        norming_start(campaign=session.campaign, people=2, drawn=1)
    norming_close(session=session, at=at)
    assert norming_start(campaign=session.campaign, people=2, drawn=1).number == 2
    campaign_close(campaign=session.campaign)
    with pytest.raises(UserError, match="closed"):
        norming_start(campaign=session.campaign, people=2, drawn=1)


def test_the_database_knows_half_a_tie_and_a_third_round(session, anna, at) -> None:
    row = session.tuples.first()
    for wrong in ({"best_slot": 1, "round": 1}, {"best_slot": 0, "worst_slot": 1, "round": 3}):
        judgement = NormingJudgement(
            tuple=row, participation=anna, client_id=new_id(), submitted_at=at, **wrong
        )
        with pytest.raises(ValidationError, match="norming_"):
            judgement.validate_constraints()


def test_the_last_answer_of_the_last_person_begins_the_discussion(session, anna, ben, at) -> None:
    judge_all(session, [anna], at=at)
    before = session.state
    judge_all(session, [ben], best=2, at=at)

    assert (before, session.state, session.discussed_at) == ("judging", "discussing", at)
    assert session.campaign.dataset.audit_entries.filter(action="norming_moved", by=None).count() == 1


def test_nobody_judges_twice_and_what_is_sent_twice_is_kept_once(session, anna, at) -> None:
    row, client_id = session.tuples.first(), new_id()
    judge(anna, row, at=at, client_id=client_id)
    again = NormingJudgement.objects.get()
    assert (
        norming_submit(person=anna, row=row, number=1, best=2, worst=3, client_id=again.client_id, at=at)
        == again
    )
    with pytest.raises(RefusedError, match="already"):
        judge(anna, row, at=at)
    assert NormingJudgement.objects.count() == 1


def test_an_answer_that_comes_after_the_round_is_refused_and_not_taken_for_the_next(
    session, anna, ben, at
) -> None:
    one, two = session.tuples.all()
    judge(anna, one, at=at)
    discussion_begin(session=session, at=at)

    with pytest.raises(RefusedError, match="is over"):
        judge(anna, two, at=at)
    with pytest.raises(RefusedError, match="already"):  # what was not judged alone is not judged again
        judge(anna, two, 2, at=at)
    assert [row.pk for row in tuples_left(session, anna, 2)] == [one.pk]
    assert not tuples_left(session, ben, 2)


def test_an_undo_takes_back_the_last_answer_of_the_round(session, anna, at) -> None:
    one, two = session.tuples.all()
    judge(anna, one, at=at)
    judge(anna, two, at=at)

    assert norming_undo(session=session, person=anna).tuple == two
    discussion_begin(session=session, at=at)
    with pytest.raises(UserError, match="nothing to undo"):
        norming_undo(session=session, person=anna)
    assert NormingJudgement.objects.get().tuple == one


def test_a_tie_is_taken_where_the_campaign_offers_it(session, anna, at) -> None:
    row = session.tuples.first()
    with pytest.raises(RefusedError, match="too close to call"):
        judge(anna, row, best=None, worst=None, at=at)
    session.campaign.allows_ties = True
    session.campaign.save()

    assert judge(anna, row, best=None, worst=None, at=at).best_slot is None


def test_agreement_before_and_after_and_second_answers_are_hidden_until_the_end(
    session, anna, ben, at
) -> None:
    judge_all(session, [anna], best=0, worst=1, at=at)
    judge_all(session, [ben], best=2, worst=1, at=at)
    judge_all(session, [anna, ben], 2, best=0, worst=1, at=at)
    names = norming_names(session, me=anna.pk)

    during = norming_rows(session, names)[0].cards
    norming_close(session=session, at=at)
    session.refresh_from_db()
    after = norming_rows(session, names)[0].cards
    found = agreement_of(session)

    assert min(names.values()).startswith("Person 1")
    assert names[anna.pk].endswith("(you)")
    assert (during[0].best, during[2].best) == ([names[anna.pk]], [names[ben.pk]])
    assert during[0].best_after == []
    assert after[0].best_after == sorted([names[anna.pk], names[ben.pk]])
    assert (found.before.value, found.after.value, found.change.value) == (0.5, 1, 0.5)


def test_nothing_of_a_session_is_a_judgement_of_the_campaign(session, anna, ben, at) -> None:
    judge_all(session, [anna, ben], at=at)

    assert not Judgement.objects.exists()
    assert not Lease.objects.exists()
    assert not session.campaign.tuples.filter(collected__gt=0).exists()
    assert anna.gold_trials == 0


def test_annotators_find_the_session_judge_on_the_same_screen_and_read_how_all_judged(
    session, annotator, curator, at
) -> None:
    sites = [client_of(annotator), client_of(curator)]
    found = sites[0].get(reverse("annotation:mine")).content.decode()
    for number, site in enumerate(sites):
        for _screen in range(2):
            page = site.get(place("norming_judge", session))
            assert "skip-dialog" not in page.content.decode()
            site.post(f"{place('norming_answer', session)}?round=1", answer_on(page))
        if not number:
            waiting = text_of(site.get(place("norming_session", session)))
    shown = text_of(sites[0].get(place("norming_session", session)))

    assert place("norming_session", session) in found
    assert "1 of 2 people have finished. You have answered everything." in waiting
    assert "Person 1" not in waiting
    assert "(you)" in shown
    assert "Answer again" in shown
    assert "curator" not in shown


def test_the_script_of_the_screen_gets_what_follows_and_the_choice_that_was_taken_back(
    session, annotator
) -> None:
    site, json_please = client_of(annotator), {"headers": {"Accept": "application/json"}}
    page = site.get(place("norming_judge", session))
    sent = answer_on(page, best=2, worst=0)

    wrong = site.post(f"{place('norming_answer', session)}?round=1", sent | {"worst": 2}, **json_please)
    said = site.post(f"{place('norming_answer', session)}?round=1", sent, **json_please).json()
    late = site.post(
        f"{place('norming_answer', session)}?round=2", sent | {"client_id": new_id()}, **json_please
    )
    undone = site.post(place("norming_undo", session), **json_please).json()
    nothing = site.post(place("norming_undo", session), **json_please)

    assert (wrong.status_code, late.status_code, nothing.status_code) == (400, 400, 400)
    assert "is over" in late.json()["note"]
    assert (said["progress"], said["sitting"], len(said["ahead"])) == (
        "1 of 2 answered in this calibration session",
        1,
        0,
    )
    assert str(undone["tuple"]["lease"]) == sent["lease"]
    assert undone["tuple"]["html"].count("checked") == 2


def test_people_comment_under_a_pseudonym_while_it_is_discussed(session, annotator, anna, at) -> None:
    MembershipFactory(dataset=session.campaign.dataset, user=anna.user, role="annotator")
    row, site = session.tuples.first(), client_of(anna.user)
    with pytest.raises(UserError, match="while the session is discussed"):
        norming_comment(person=anna, row=row, text="Early.", at=at)
    judge(anna, row, at=at)
    discussion_begin(session=session, at=at)
    empty = site.post(place("norming_comment", session), {"tuple": row.pk, "text": " "})
    site.post(place("norming_comment", session), {"tuple": row.pk, "text": "<b>Cats</b> purr."})

    seen = client_of(annotator).get(place("norming_session", session)).content.decode()

    assert empty.status_code == 400
    assert "Write a comment." in text_of(empty)
    assert "&lt;b&gt;Cats" in seen
    assert "Person 1" in seen
    assert "anna" not in seen


def test_a_curator_starts_moves_and_closes_a_session_on_the_pages(campaign, curator) -> None:
    site = client_of(curator)
    refused = site.post(address("norming", campaign), {"people": 2, "chosen": "1, x"})
    started = site.post(address("norming", campaign), {"people": 2, "drawn": 2})
    session = campaign.norming.get()
    for move in ("discuss", "close", "close"):
        said = site.post(place("norming_move", session), {"move": move}, follow=True)
    listed = text_of(site.get(address("norming", campaign)))

    assert "“x” is not a number of a tuple." in text_of(refused)
    assert started.headers["Location"] == place("norming_session", session)
    assert "has moved on" in text_of(said)
    session.refresh_from_db()
    assert session.state == "closed"
    assert "2 tuples; 0 of 2 people have annotated all of them" in listed


def test_a_stopped_person_takes_no_part(session, anna) -> None:
    MembershipFactory(dataset=session.campaign.dataset, user=anna.user, role="annotator")
    Participation.objects.filter(pk=anna.pk).update(state="stopped")

    page = client_of(anna.user).get(place("norming_judge", session))

    assert page.status_code == 400
    assert "Your part in this campaign has ended" in text_of(page)


def test_people_of_a_crowd_take_no_part(session, anna, at) -> None:
    crowd = crowd_of(session.campaign)
    crowd.save()
    consent = CrowdConsent.objects.create(crowd=crowd, version=1, text="Yes.")
    CrowdPerson.objects.create(crowd=crowd, participation=anna, consent=consent, consented_at=at)

    assert client_of(anna.user).get(address("judge", session.campaign)).status_code == 200
    assert client_of(anna.user).get(place("norming_session", session)).status_code == 404


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404), ("staff", 403)])
def test_others_start_and_end_no_session(session, role, status, request) -> None:
    site = client_of(request.getfixturevalue(role))

    assert site.post(address("norming", session.campaign), {"people": 2}).status_code == status
    assert site.post(place("norming_move", session), {"move": "close"}).status_code == status


def test_comments_go_with_the_person_who_is_erased(session, anna, ben, at) -> None:
    discussion_begin(session=session, at=at)
    for person in (anna, ben):
        norming_comment(person=person, row=session.tuples.first(), text="I am from Ulm.", at=at)

    person_erase(user=anna.user, by=anna.user, at=at)

    assert NormingComment.objects.get().participation == ben


def test_the_bundle_and_the_api_have_it_and_no_score_changes(judged, program, tmp_path, at) -> None:
    bundle_write(campaign=judged, path=tmp_path / "before")
    session = norming_start(campaign=judged, people=2, chosen=[1, 2])
    people = list(judged.participations.order_by("pk")[:2])
    judge_all(session, people, at=at)
    judge_all(session, people, 2, best=3, at=at)
    norming_comment(person=people[0], row=session.tuples.first(), text="Ask ben, not me.", at=at)

    bundle_write(campaign=judged, path=tmp_path / "after")
    reader = MembershipFactory(dataset=judged.dataset, role="curator").user
    said = program(reader).get(f"/api/v1/campaigns/{judged.pk}/norming/").json()

    folder = tmp_path / "after"
    with (folder / "norming.csv").open() as file:
        rows = list(csv.DictReader(file))
    comments = (folder / "norming-comments.csv").read_text()
    assert [(row["round"], row["annotator"], row["tuple"]) for row in rows[:4]] == [
        ("1", "A001", "1"),
        ("1", "A002", "1"),
        ("1", "A001", "2"),
        ("1", "A002", "2"),
    ]
    assert rows[0]["best"] == rows[0]["item1"]
    assert rows[-1]["best"] == rows[-1]["item4"]
    assert "ben" not in comments
    assert json.loads((folder / "norming.json").read_text())["agreement"]["1"]["after"] == [1, 1, 1]
    assert said[0]["agreement"]["alone"] == {"value": 1, "low": 1, "high": 1}
    for name in ("judgements.csv", "reliability.json", "scores/counting.csv"):
        assert (folder / name).read_bytes() == (tmp_path / "before" / name).read_bytes()
