"""People who come by a crowd's link: entering, the three ends, pay, and what becomes of their data."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns.quiz import Options, question_add
from annotation.crowds.entering import Arrival, EntryRefusedError, about_save, crowd_enter
from annotation.crowds.erasing import person_erase
from annotation.crowds.leaving import completion_address, submission_end, submissions_end_overdue
from annotation.crowds.selectors import about_counts, hours_of
from annotation.crowds.services import crowd_change, crowd_link_renew
from annotation.judging.assignment import judgement_submit, tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import CrowdAnswers, CrowdPerson, Judgement, Lease, Participation, Tuple
from curation.foundation.errors import UserError
from curation.models import AuditEntry, User
from curation.people.accounts.guessing import ARRIVALS_FROM_ONE_ADDRESS, ARRIVALS_OF_ONE_ID, TooManyTriesError
from tests.conftest import member
from tests.factories import CampaignFactory, FlagFactory, TupleFactory, client_of
from tests.integration.annotation.pages import address, text_of

PROLIFIC = {
    "external_id_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID",
    "submission_parameter": "SESSION_ID",
    "completion_address": "https://app.prolific.com/submissions/complete?cc={code}",
    "code_completed": "DONE",
    "code_stopped": "STOP",
    "code_left": "LEFT",
}


@pytest.fixture
def crowd(campaign, owner):
    return crowd_change(
        campaign=campaign, by=owner, consent="You may stop at any time.", is_open=True, screens=2, **PROLIFIC
    )


@pytest.fixture
def enter(crowd, at):
    def enter(external_id="pia", submission="s1", user=None, when=at, agreed=1, **more):
        arrival = Arrival(external_id, "study", submission)
        return crowd_enter(crowd=crowd, arrival=arrival, agreed=agreed, at=when, user=user, **more)

    return enter


@pytest.fixture
def pia(enter):
    return enter().participation


def link(crowd, **query) -> str:
    about = {"PROLIFIC_PID": "pia", "STUDY_ID": "study", "SESSION_ID": "s1"} | query
    return (
        reverse("annotation:crowd_entry", args=[crowd.token])
        + "?"
        + "&".join(f"{k}={v}" for k, v in about.items())
    )


def agree(client: Client, crowd, version: int = 1, **about):
    return client.post(
        reverse("annotation:crowd_consent", args=[crowd.token]), {"version": version, "agree": "on", **about}
    )


# Entering


def test_a_person_enters_by_the_link_and_judges_without_a_password(crowd) -> None:
    client = Client()

    consent = client.get(link(crowd), follow=True)
    assert "You may stop at any time." in text_of(consent)
    assert "pia" not in consent.request["PATH_INFO"] + consent.request["QUERY_STRING"]
    assert not User.objects.filter(username__startswith="crowd-").exists()
    page = agree(client, crowd)

    assert page["Location"] == address("judge", crowd.campaign)
    assert client.get(page["Location"]).status_code == 200
    person = CrowdPerson.objects.get()
    assert (person.external_id, person.consent.version) == ("pia", 1)
    assert not person.participation.user.has_usable_password()


def test_nobody_enters_without_agreeing(crowd) -> None:
    client = Client()
    client.get(link(crowd))

    answer = client.post(reverse("annotation:crowd_consent", args=[crowd.token]), {"version": 1})

    assert "You can take part only if you agree." in text_of(answer)
    assert not CrowdPerson.objects.exists()


def test_a_link_without_an_id_says_which_parameter_is_missing(crowd) -> None:
    answer = Client().get(reverse("annotation:crowd_entry", args=[crowd.token]))

    assert answer.status_code == 400
    assert "PROLIFIC_PID" in text_of(answer)


def test_a_link_whose_placeholders_the_platform_did_not_fill_in_admits_nobody(crowd) -> None:
    answer = Client().get(link(crowd, PROLIFIC_PID="{{%25PROLIFIC_PID%25}}"))

    assert answer.status_code == 400


def test_one_id_has_one_account_in_a_campaign(enter) -> None:
    first = enter()
    again = enter(user=first.participation.user)

    assert again == first
    assert first.submissions.count() == 1


def test_who_knows_somebody_elses_id_does_not_get_their_account(enter) -> None:
    enter(submission="s1")

    with pytest.raises(EntryRefusedError, match="use the browser in which you began"):
        enter(submission="guessed")
    with pytest.raises(EntryRefusedError):
        enter(submission="")


def test_another_browser_goes_on_with_the_id_of_a_submission(enter) -> None:
    first = enter(submission="s1")

    assert enter(submission="s1") == first


def test_nobodys_own_account_becomes_a_crowds(crowd, owner) -> None:
    client = client_of(owner)
    client.get(link(crowd))

    answer = agree(client, crowd)

    assert answer.status_code == 403
    assert "You are logged in as owner" in text_of(answer)
    assert not CrowdPerson.objects.exists()


def test_the_number_of_accounts_is_bounded(crowd, campaign, enter) -> None:
    crowd_change(campaign=campaign, consent="You may stop at any time.", places=1)
    enter("pia")

    with pytest.raises(EntryRefusedError, match="All places of this study are taken"):
        enter("quin", "s2")
    assert User.objects.filter(username__startswith="crowd-").count() == 1


def test_guessing_submissions_of_one_id_is_slow(enter) -> None:
    enter()
    for number in range(ARRIVALS_OF_ONE_ID - 1):
        with pytest.raises(EntryRefusedError):
            enter(submission=f"guess{number}")

    with pytest.raises(TooManyTriesError, match="Somebody tried to enter with this id too often"):
        enter(submission="s1")


@pytest.mark.exhaustive
def test_one_address_makes_only_so_many_accounts_in_a_quarter_of_an_hour(crowd, campaign, enter, at) -> None:
    crowd_change(campaign=campaign, consent="You may stop at any time.", places=1000)
    for number in range(ARRIVALS_FROM_ONE_ADDRESS):
        enter(f"p{number}", f"s{number}", address="192.0.2.1")

    with pytest.raises(TooManyTriesError, match="Too many people entered from your network"):
        enter("one more", "x", address="192.0.2.1")
    assert enter("elsewhere", "y", address="192.0.2.2")
    assert enter("later", "z", address="192.0.2.1", when=at + timedelta(minutes=16))


def test_a_closed_link_admits_nobody_new_and_lets_people_go_on(crowd, campaign, enter, pia) -> None:
    crowd_change(campaign=campaign, consent="You may stop at any time.", is_open=False)

    with pytest.raises(EntryRefusedError):
        enter("quin", "s2")
    assert enter(user=pia.user).participation == pia


def test_a_new_link_makes_the_old_one_useless(crowd, campaign) -> None:
    old = link(crowd)

    crowd_link_renew(campaign=campaign)

    assert Client().get(old).status_code == 404


def test_who_agreed_to_an_older_consent_reads_the_new_one(crowd, campaign, enter, pia) -> None:
    crowd_change(campaign=campaign, consent="We keep your answers for ten years.")

    with pytest.raises(UserError, match="The consent has changed"):
        enter(user=pia.user, agreed=1)
    assert enter(user=pia.user, agreed=2).consent.version == 2
    assert [consent.version for consent in crowd.consents.all()] == [2, 1]


def test_an_account_of_a_crowd_judges_in_its_campaign_and_sees_nothing_else(dataset, campaign, pia) -> None:
    other = CampaignFactory(dataset=dataset, tuples=1)
    client = client_of(pia.user)

    assert client.get(address("judge", campaign)).status_code == 200
    assert client.get(address("judge", other)).status_code == 404
    assert client.get(address("campaign", campaign)).status_code == 404
    assert client.get(reverse("curation:dataset", args=[dataset.slug])).status_code == 404
    assert campaign.name in text_of(client.get(reverse("annotation:mine")))


# Leaving


def judge_all(person: Participation, at) -> int:
    """Judge what is handed out; how many tuples that were."""
    number = 0
    while isinstance(lease := tuple_claim(participation=person, at=at), Lease):
        judgement_submit(
            participation=person,
            tuple_id=lease.tuple_id,
            best_slot=0,
            worst_slot=1,
            client_id=f"00000000-0000-0000-0000-{person.pk:06d}{number:06d}",
            at=at,
        )
        number += 1
    return number


def test_a_person_judges_as_many_tuples_as_they_were_asked_for(pia, at) -> None:
    assert judge_all(pia, at) == 2
    assert tuple_claim(participation=pia, at=at) is NoTupleReason.QUOTA


def test_who_judged_all_completes_and_goes_back_with_that_code(pia, at) -> None:
    judge_all(pia, at)

    ended = submission_end(participation=pia, at=at)

    assert (ended.outcome, ended.code) == ("completed", "DONE")
    assert completion_address(ended) == "https://app.prolific.com/submissions/complete?cc=DONE"
    assert Participation.objects.get(pk=pia.pk).state == "active"


def test_who_was_stopped_gets_the_code_for_that(pia, at) -> None:
    participation_stop(participation=pia, reason="Wrong answers to attention checks", exclude=True, rule=True)

    assert submission_end(participation=pia, at=at).code == "STOP"


def test_work_of_who_leaves_early_is_required_again(pia, answer, at) -> None:
    answer(pia)
    tuple_claim(participation=pia, at=at)

    ended = submission_end(participation=pia, at=at)

    assert ended.code == "LEFT"
    assert Judgement.objects.get().status == "excluded"
    assert set(Tuple.objects.values_list("collected", "leased")) == {(0, 0)}
    assert isinstance(tuple_claim(participation=pia, at=at), NoTupleReason)


def test_work_of_who_leaves_early_counts_where_the_owner_says_so(campaign, pia, answer, at) -> None:
    crowd_change(campaign=campaign, consent="You may stop at any time.", leavers_judged_again=False)
    answer(pia)

    submission_end(participation=pia, at=at)

    assert Judgement.objects.get().status == "collected"


def test_who_had_nothing_left_keeps_what_they_judged(campaign, pia, answer, ben, cleo, at) -> None:
    answer(pia)
    judge_all(ben, at)
    judge_all(cleo, at)

    ended = submission_end(participation=pia, at=at)

    assert ended.code == "LEFT"
    assert pia.judgements.get().status == "collected"


def test_ending_twice_answers_the_same(pia, at) -> None:
    first = submission_end(participation=pia, at=at)

    assert submission_end(participation=pia, at=at + timedelta(hours=1)).ended_at == first.ended_at


def test_the_code_is_shown_after_the_answers_are_stored(crowd, pia, answer) -> None:
    client = client_of(pia.user)
    answer(pia)
    before = text_of(client.get(address("crowd_finish", crowd.campaign)))

    after = client.post(address("crowd_finish", crowd.campaign), follow=True)

    assert "You answered 1 of 2 questions" in before
    assert "LEFT" not in before
    assert 'value="LEFT"' in after.content.decode()
    assert "It decides nothing about your pay." in text_of(after)
    assert "cc=LEFT" in client.get(address("judge", crowd.campaign), follow=True).content.decode()


def test_a_person_of_a_crowd_finishes_from_the_screen_and_from_the_quiz(campaign, pia, annotator) -> None:
    place = address("crowd_finish", campaign)
    person = client_of(pia.user)

    screen = person.get(address("judge", campaign)).content.decode()
    members = client_of(annotator).get(address("judge", campaign)).content.decode()
    Participation.objects.filter(pk=pia.pk).update(handed=0)
    question_add(campaign=campaign, text="Ready?", options=Options(("yes", "no"), 0))
    quiz = person.get(address("quiz", campaign)).content.decode()

    assert (place in screen, place in members, place in quiz) == (True, False, True)


def test_members_have_no_code_to_get(campaign, annotator) -> None:
    answer = client_of(annotator).get(address("crowd_finish", campaign))

    assert answer["Location"] == address("judge", campaign)


def test_who_answers_no_more_has_left_after_the_hours_of_the_crowd(crowd, pia, answer, enter, at) -> None:
    answer(pia)
    late = at + timedelta(hours=20)
    enter("quin", "s2", when=late)

    assert submissions_end_overdue(at=at + timedelta(hours=23)) == 0
    assert submissions_end_overdue(at=at + timedelta(hours=25)) == 1

    assert CrowdPerson.objects.get(external_id="pia").submissions.get().outcome == "left"
    assert CrowdPerson.objects.get(external_id="quin").submissions.get().outcome == ""


def test_who_left_and_is_sent_again_goes_on_and_their_work_counts_again(enter, pia, answer, at) -> None:
    answer(pia)
    submission_end(participation=pia, at=at)

    person = enter(submission="s2", user=pia.user)

    assert person.submissions.count() == 2
    assert pia.judgements.get().status == "collected"
    assert judge_all(pia, at) == 1


def test_who_was_stopped_and_is_sent_again_stays_stopped(enter, pia, at) -> None:
    participation_stop(participation=pia, reason="Wrong answers to attention checks", exclude=True, rule=True)
    submission_end(participation=pia, at=at)

    enter(submission="s2", user=pia.user)

    assert tuple_claim(participation=pia, at=at) is NoTupleReason.STOPPED


def test_coming_back_forgives_no_gold_trials_and_a_curators_reinstatement_does(pia) -> None:
    Participation.objects.filter(pk=pia.pk).update(gold_trials=4, gold_right=1, state="stopped")

    assert participation_reinstate(participation=pia, rule=True).forgiven_trials == 0
    assert participation_reinstate(participation=pia).forgiven_trials == 4


# Pay


def test_excluding_somebody_changes_nothing_about_their_hours(campaign, pia, answer, at) -> None:
    answer(pia)
    answer(pia, when=at + timedelta(minutes=6))
    before = [each.as_row() for each in hours_of(campaign.participations.all())]

    participation_stop(participation=pia, reason="Careless", exclude=True)

    assert [each.as_row() for each in hours_of(campaign.participations.all())] == before
    assert before[0][-2:] == [2, "0.100"]


def test_hours_leave_pauses_out(campaign, pia, answer, at) -> None:
    answer(pia)
    answer(pia, when=at + timedelta(minutes=12))
    TupleFactory(campaign=campaign)
    Participation.objects.update(quota=3)
    answer(pia, when=at + timedelta(hours=5))

    worked = next(iter(hours_of(campaign.participations.all())))

    # The second sitting began when its tuple was handed out, half an hour before its answer at most.
    assert (worked.sittings, worked.judgements) == (2, 3)
    assert worked.hours == pytest.approx(0.2)


def test_the_file_of_hours_is_safe_for_a_spreadsheet_if_asked(crowd, enter, owner, at) -> None:
    enter("=1+1", "s9")
    client = client_of(owner)

    plain = b"".join(client.get(address("crowd_hours", crowd.campaign))).decode()
    safe = b"".join(client.get(address("crowd_hours", crowd.campaign) + "?spreadsheet=1")).decode()

    assert ",=1+1," in plain
    assert ",'=1+1," in safe
    assert "exclu" not in plain


# What is stored


def test_what_people_say_of_themselves_is_shown_in_groups_of_five_or_more(crowd, campaign, enter) -> None:
    crowd_change(campaign=campaign, consent="You may stop at any time.", asks_about_person=True)
    for number in range(6):
        about = {"age": "25-34" if number < 5 else "65+", "country": "Chile"}
        enter(f"p{number}", f"s{number}", about=about)

    counts = {label: (shown, others) for label, shown, others in about_counts(crowd)}

    assert counts["Age"] == ([("25 to 34", 5)], 1)
    assert counts["Country where you live"] == ([("chile", 6)], 0)
    assert counts["Gender"] == ([], 6)


def test_nothing_is_kept_where_the_campaign_does_not_ask(enter) -> None:
    enter(about={"age": "25-34"})

    assert not CrowdAnswers.objects.exists()


def test_people_see_and_delete_what_they_said(crowd, pia) -> None:
    person = CrowdPerson.objects.get()
    about_save(person=person, about={"age": "25-34"})
    client = client_of(pia.user)
    assert "25 to 34" in text_of(client.get(reverse("annotation:own_data")))

    client.post(reverse("annotation:own_answers_delete", args=[person.pk]))

    assert not CrowdAnswers.objects.exists()


def test_nobody_deletes_what_others_said(pia, annotator) -> None:
    person = CrowdPerson.objects.get()
    about_save(person=person, about={"age": "25-34"})

    answer = client_of(annotator).post(reverse("annotation:own_answers_delete", args=[person.pk]))

    assert answer.status_code == 404
    assert CrowdAnswers.objects.exists()


def test_erasing_leaves_judgements_under_a_name_that_says_nothing(campaign, pia, answer, at) -> None:
    answer(pia)
    FlagFactory(participation=pia, tuple=campaign.tuples.first(), note="I am Pia, write to me")
    about_save(person=CrowdPerson.objects.get(), about={"age": "25-34"})
    participation_stop(participation=pia, reason="Asked to")
    before = pia.user.username

    name = person_erase(user=pia.user, by=pia.user, at=at)

    user = User.objects.get(pk=pia.user_id)
    assert (user.username, user.is_active, user.has_usable_password()) == (name, False, False)
    person = CrowdPerson.objects.get()
    assert (person.external_id, person.submissions.get().submission) == ("", "")
    assert not CrowdAnswers.objects.exists()
    assert pia.flags.get().note == ""
    assert pia.judgements.count() == 1
    log = [(entry.subject, entry.details) for entry in AuditEntry.objects.all()]
    assert before not in str(log)
    assert AuditEntry.objects.first().action == "person_erased"


def test_an_annotator_has_their_data_erased_by_a_button_and_is_logged_out(pia) -> None:
    client = client_of(pia.user)
    assert client.post(reverse("annotation:own_data_erase"), follow=True).status_code == 200
    assert User.objects.get(pk=pia.user_id).is_active

    answer = client.post(reverse("annotation:own_data_erase"), {"sure": "on"})

    assert "Your data is erased" in text_of(answer)
    assert not User.objects.get(pk=pia.user_id).is_active
    assert client.get(reverse("annotation:own_data")).status_code == 302


def test_an_owner_erases_who_belongs_to_their_datasets_alone(
    campaign, dataset, owner, curator, pia, at
) -> None:
    elsewhere = member(CampaignFactory().dataset, "annotator")
    there = Participation.objects.create(campaign=campaign, user=elsewhere)

    assert client_of(curator).get(address("annotator_erase", campaign, pia.pk)).status_code == 403
    refused = client_of(owner).post(address("annotator_erase", campaign, there.pk), {"sure": "on"})
    done = client_of(owner).post(address("annotator_erase", campaign, pia.pk), {"sure": "on"})

    assert "belongs to datasets that you do not own" in text_of(refused)
    assert done.status_code == 302
    assert not User.objects.get(pk=pia.user_id).is_active
    assert User.objects.get(pk=elsewhere.pk).is_active


def test_the_only_owner_is_not_erased(owner, at) -> None:
    with pytest.raises(UserError, match="the only owner"):
        person_erase(user=owner, by=owner, at=at)


# The curator's page


def test_a_curator_sets_up_a_crowd_and_gets_its_link(campaign, curator) -> None:
    client = client_of(curator)
    page = client.get(address("crowd", campaign))
    assert "PROLIFIC_PID" in page.content.decode()

    data = PROLIFIC | {"consent": "We are the lab.", "is_open": "on", "screens": 10, "places": 5, "hours": 24}
    saved = client.post(address("crowd", campaign), data, follow=True)

    assert "SESSION_ID={{%SESSION_ID%}}" in saved.content.decode()
    assert AuditEntry.objects.first().action == "crowd_changed"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"completion_address": "https://example.org/done"}, "Write {code} in the completion address"),
        ({"completion_address": "javascript:alert({code})"}, "must begin with https://"),
        ({"code_stopped": "DONE"}, "The three codes must differ"),
        ({"study_parameter": "PROLIFIC_PID"}, "must differ from each other"),
        ({"external_id_parameter": "a&b"}, "consist of letters"),
        ({"consent": " ", "is_open": True}, "nobody is admitted without a consent"),
        ({"screens": 0}, "give at least 1"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_a_sentence(campaign, wrong, sentence) -> None:
    with pytest.raises(UserError, match=sentence.replace("{", r"\{").replace("}", r"\}")):
        crowd_change(campaign=campaign, **({"consent": "We are the lab."} | PROLIFIC | wrong))


def test_annotators_and_strangers_see_no_crowd(campaign, annotator, crowd, pia) -> None:
    assert client_of(annotator).get(address("crowd", campaign)).status_code == 403
    assert client_of(pia.user).get(address("crowd", campaign)).status_code == 404
    assert client_of(annotator).get(address("crowd_hours", campaign)).status_code == 403


def test_a_curator_marks_who_returned_their_submission_as_left(crowd, curator, pia) -> None:
    person = CrowdPerson.objects.get()

    client_of(curator).post(address("crowd_person_end", crowd.campaign, person.pk))

    assert person.submissions.get().outcome == "left"


def test_the_page_of_a_crowd_has_a_constant_number_of_queries(
    crowd, owner, enter, django_assert_max_num_queries
) -> None:
    for number in range(12):
        enter(f"p{number}", f"s{number}")
    client = client_of(owner)

    with django_assert_max_num_queries(32):
        page = client.get(address("crowd", crowd.campaign))

    assert "p11" in text_of(page)
