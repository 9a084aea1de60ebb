"""The judging screen as a plain form, and as the JSON that its script reads."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from annotation.campaigns.services import guideline_save
from annotation.judging.assignment import judgement_submit, tuple_claim
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, Flag, Judgement, Lease, Participation, TupleItem
from curation.models import Sentence
from tests.factories import CampaignFactory, TupleFactory, client_of
from tests.integration.annotation.pages import address, answer_on, hidden, new_id, text_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture
def site(annotator):
    return client_of(annotator)


@pytest.fixture
def judge(site, campaign):
    """Open the judging page and answer it; keyword arguments change what is sent."""

    def judge(*, headers=None, **changes):
        page = site.get(address("judge", campaign))
        return site.post(address("judgement_create", campaign), answer_on(page) | changes, headers=headers)

    return judge


@pytest.fixture
def gold_campaign(dataset):
    """A campaign in which every other tuple is gold: best is slot 0, worst is slot 1."""
    return CampaignFactory(dataset=dataset, judgements_per_tuple=2, gold_every=2, tuples=6, gold=6)


def go_to(campaign, annotator, *, gold: bool) -> Lease:
    """Judge as the annotator, at least once, until a tuple of that kind is on the screen."""
    participation = Participation.objects.get_or_create(campaign=campaign, user=annotator)[0]
    for _turn in range(20):
        lease = tuple_claim(participation=participation, at=now())
        if lease.tuple.is_gold == gold and participation.judgements.exists():
            return lease
        judgement_submit(
            participation=participation,
            tuple_id=lease.tuple_id,
            best_slot=0,
            worst_slot=1,
            client_id=new_id(),
            at=now(),
        )
    raise AssertionError("no such tuple came")


# The form


def test_a_judgement_made_without_javascript_is_kept(judge) -> None:
    answer = judge(best=2, worst=0)

    judgement = Judgement.objects.get()
    assert answer.status_code == 302
    assert judgement.best_slot == judgement.order_shown[2]
    assert judgement.worst_slot == judgement.order_shown[0]


def test_the_next_tuple_follows(judge, site, campaign) -> None:
    judge()

    page = site.get(address("judge", campaign))

    assert hidden(page, "lease") != str(Judgement.objects.get().tuple.leases.get().pk)
    assert "1 answered in this session" in text_of(page)


def test_a_form_sent_twice_is_kept_once(site, campaign) -> None:
    form = answer_on(site.get(address("judge", campaign)))

    answers = [site.post(address("judgement_create", campaign), form) for _time in range(2)]

    assert [answer.status_code for answer in answers] == [302, 302]
    assert Judgement.objects.count() == 1


def test_one_pair_as_both_is_refused_and_the_choice_stays(judge) -> None:
    answer = judge(best=3, worst=3)

    assert answer.status_code == 400
    assert "One pair cannot be both “Most related” and “Least related”" in text_of(answer)
    assert len(re.findall(r'value="3"[^>]* checked', answer.content.decode())) == 2


def test_an_answer_without_worst_says_what_is_missing(judge) -> None:
    answer = judge(worst="")

    assert "Choose a pair for “Least related”." in text_of(answer)
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("nonsense", ["4", "-1", "x", "9" * 30])
def test_a_place_that_is_not_on_the_screen_is_refused(judge, nonsense) -> None:
    answer = judge(best=nonsense)

    assert answer.status_code == 400
    assert not Judgement.objects.exists()


def test_anothers_lease_is_refused(judge, campaign, ben, at) -> None:
    lease = tuple_claim(participation=ben, at=at)

    answer = judge(lease=lease.pk)

    assert "These pairs were not given to you" in text_of(answer)
    assert not Judgement.objects.exists()


def test_times_travel_as_milliseconds_before_now(judge) -> None:
    judge(shown_ms="8000", touched_ms="3000", active_ms="6500")

    judgement = Judgement.objects.get()
    assert (judgement.submitted_at - judgement.shown_at).total_seconds() == 8
    assert (judgement.submitted_at - judgement.first_input_at).total_seconds() == 3
    assert judgement.active_ms == 6500


def test_nonsense_times_cost_no_judgement(judge) -> None:
    judge(shown_ms="soon", touched_ms="-5", active_ms="9" * 40)

    judgement = Judgement.objects.get()
    assert (judgement.shown_at, judgement.first_input_at, judgement.active_ms) == (None, None, None)


def test_users_text_stays_text(site, campaign) -> None:
    sentence = TupleItem.objects.first().pair.a
    Sentence.objects.filter(pk=sentence.pk).update(text="<script>alert(1)</script> & more")
    guideline_save(campaign=campaign, text="<b>Read</b>\n\nthis")

    pages = [site.get(address("judge", campaign)).content.decode()]
    pages += [site.get(address("judge_screen", campaign)).json()["tuple"]["html"]]

    assert not any("<script>alert" in page or "<b>Read" in page for page in pages)
    assert "&lt;b&gt;Read" in pages[0]


# Undo, skip, flag


def test_undo_brings_the_tuple_back_with_its_choice(judge, site, campaign) -> None:
    judge(best=2, worst=3)
    site.post(address("judgement_undo", campaign), {"client_id": str(Judgement.objects.get().client_id)})

    page = squeezed(site.get(address("judge", campaign)).content.decode())

    assert not Judgement.objects.exists()
    assert re.search(r'name="best" value="2"[^>]* checked', page)
    assert re.search(r'name="worst" value="3"[^>]* checked', page)


def test_an_undo_that_cannot_be_says_why(site, campaign) -> None:
    answer = site.post(address("judgement_undo", campaign), follow=True)

    assert "There is no judgement to undo yet." in text_of(answer)


def test_skipping_without_javascript_asks_for_the_reason_and_moves_on(site, campaign) -> None:
    lease = hidden(site.get(address("judge", campaign)), "lease")
    asked = site.get(address("tuple_skip", campaign), {"lease": lease})

    site.post(address("tuple_skip", campaign), {"lease": lease, "reason": "broken", "note": "cut off"})

    assert "They will not be shown to you again" in text_of(asked)
    assert f'name="lease" value="{lease}"' in asked.content.decode()
    assert hidden(site.get(address("judge", campaign)), "lease") != lease
    assert Flag.objects.get().note == "cut off"


def test_a_skip_needs_a_reason(site, campaign) -> None:
    lease = hidden(site.get(address("judge", campaign)), "lease")

    answer = site.post(address("tuple_skip", campaign), {"lease": lease})

    assert "Choose a reason." in text_of(answer)
    assert not Flag.objects.exists()


def test_a_flagged_tuple_stays_on_the_screen(site, campaign) -> None:
    lease = hidden(site.get(address("judge", campaign)), "lease")

    site.post(address("tuple_flag", campaign), {"lease": lease, "reason": "offensive"})

    assert hidden(site.get(address("judge", campaign)), "lease") == lease


def test_a_flag_can_name_a_pair_as_it_stood_on_the_screen(site, campaign, curator) -> None:
    page = site.get(address("judge", campaign))
    lease = Lease.objects.get(pk=hidden(page, "lease"))
    meant = TupleItem.objects.get(tuple=lease.tuple_id, slot=lease.order_shown[2]).pair

    site.post(address("tuple_flag", campaign), {"lease": lease.pk, "reason": "broken", "place": 2})

    assert Flag.objects.get().slot == lease.order_shown[2]
    inbox = client_of(curator).get(address("inbox", campaign)).content.decode()
    assert inbox.count("this pair") == 1
    assert inbox.index("this pair") < inbox.index(f"/pairs/{meant.pk}/")
    assert f"/pairs/{meant.pk}/" in inbox[inbox.index("this pair") :].partition("</li>")[0]


def test_a_flag_about_all_pairs_names_none(site, campaign, curator) -> None:
    lease = hidden(site.get(address("judge", campaign)), "lease")

    site.post(address("tuple_flag", campaign), {"lease": lease, "reason": "broken", "place": ""})

    assert Flag.objects.get().slot is None
    assert "this pair" not in client_of(curator).get(address("inbox", campaign)).content.decode()


@pytest.mark.parametrize("place", ["4", "-1", "first"])
def test_a_flag_names_only_a_pair_on_the_screen(site, campaign, place) -> None:
    lease = hidden(site.get(address("judge", campaign)), "lease")

    answer = site.post(address("tuple_flag", campaign), {"lease": lease, "reason": "broken", "place": place})

    assert "Choose one of the pairs of the question." in text_of(answer)
    assert not Flag.objects.exists()


# Gold


def masked(text: str) -> str:
    """A page or an answer to the script without what differs from any tuple to the next."""
    text = " ".join(text.split())
    text = re.sub(r"A dog runs past house number \d+\.", "a sentence", text)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[A-Za-z0-9]{64}\b", "an id", text)
    text = re.sub(r"""(name="lease" value="|lease=|'lease': )\d+""", "a lease", text)
    text = re.sub(r"""<progress id="sitting".*?</progress>|'sitting': \d+""", "how many were judged", text)
    return re.sub(r'\d+ answered|<span id="saved".*?</span>', "", text)


def test_a_gold_tuple_looks_like_any_other_before_it_is_answered(gold_campaign, annotator, site) -> None:
    go_to(gold_campaign, annotator, gold=True)
    page_of_gold = site.get(address("judge", gold_campaign))
    script_of_gold = site.get(address("judge_screen", gold_campaign))
    answer_gold(
        site, gold_campaign, Lease.objects.filter(state="live").order_by("turn")[0], best_slot=0, worst_slot=1
    )
    go_to(gold_campaign, annotator, gold=False)

    page = site.get(address("judge", gold_campaign))
    script = site.get(address("judge_screen", gold_campaign))

    said = re.compile(r'(?s)<div class="notice success".*?</div>')  # of the gold answer before this tuple
    assert masked(said.sub("", page.content.decode())) == masked(page_of_gold.content.decode())
    assert masked(str(script.json())) == masked(str(script_of_gold.json()))


def test_the_page_names_pairs_by_place_and_tuples_by_lease(gold_campaign, annotator) -> None:
    lease = go_to(gold_campaign, annotator, gold=True)

    page = client_of(annotator).get(address("judge", gold_campaign))

    values = re.findall(r'name="best" value="(\d+)"', squeezed(page.content.decode()))
    assert values == ["0", "1", "2", "3"]
    assert hidden(page, "lease") == str(lease.pk)


def answer_gold(site, campaign, lease, *, best_slot: int, worst_slot: int, headers=None):
    place = lease.order_shown.index
    sent = {"lease": lease.pk, "client_id": new_id(), "best": place(best_slot), "worst": place(worst_slot)}
    return site.post(address("judgement_create", campaign), sent, headers=headers)


def test_a_wrong_gold_answer_shows_the_expected_one_and_why(gold_campaign, annotator, site) -> None:
    lease = go_to(gold_campaign, annotator, gold=True)
    answer = answer_gold(site, gold_campaign, lease, best_slot=2, worst_slot=3)

    page = text_of(site.get(answer["Location"]))

    best, worst = lease.order_shown.index(0) + 1, lease.order_shown.index(1) + 1
    assert f"The expected answer was pair {best} most related, pair {worst} least related." in page
    assert "The first pair says the same twice." in page


def test_a_right_gold_answer_is_told_and_does_not_hold_anyone_up(gold_campaign, annotator, site) -> None:
    lease = go_to(gold_campaign, annotator, gold=True)

    answer = answer_gold(site, gold_campaign, lease, best_slot=0, worst_slot=1)

    assert answer["Location"] == address("judge", gold_campaign)
    assert "yours was the expected one" in text_of(site.get(answer["Location"]))


def test_feedback_is_for_ones_own_gold_answers_only(gold_campaign, annotator, site, curator) -> None:
    lease = go_to(gold_campaign, annotator, gold=True)
    answer = answer_gold(site, gold_campaign, lease, best_slot=2, worst_slot=3)

    looked = client_of(curator).get(answer["Location"])

    assert looked.status_code == 404


def test_the_script_gets_the_feedback_with_the_next_tuples(gold_campaign, annotator, site) -> None:
    lease = go_to(gold_campaign, annotator, gold=True)

    body = answer_gold(site, gold_campaign, lease, best_slot=2, worst_slot=3, headers=JSON).json()

    assert "The expected answer was" in body["answered"]
    assert body["tuple"]["lease"] not in {lease.pk, None}


# The script's protocol


def test_the_screen_holds_this_tuple_and_the_next(site, campaign) -> None:
    screen = site.get(address("judge_screen", campaign)).json()

    leases = set(Lease.objects.values_list("pk", flat=True))
    assert {screen["tuple"]["lease"], screen["ahead"][0]["lease"]} == leases
    assert not screen["over"]


def test_an_answer_by_script_gives_the_next_screen(judge) -> None:
    body = judge(headers=JSON).json()

    assert body["undo"] == str(Judgement.objects.get().client_id)
    assert body["progress"] == "1 answered in this session"
    assert body["tuple"]["lease"] != Judgement.objects.get().tuple.leases.get().pk


def test_an_answer_by_script_and_what_follows_are_one_transaction(site, campaign) -> None:
    """Each transaction ends by waiting for the disk."""
    TupleFactory.create_batch(5, campaign=campaign)
    answer = answer_on(site.get(address("judge", campaign)))

    with CaptureQueriesContext(connection) as asked:
        body = site.post(address("judgement_create", campaign), answer, headers=JSON).json()

    begun = [query["sql"] for query in asked if query["sql"].startswith("SAVEPOINT")]
    assert (len(begun), body["over"], len(body["ahead"])) == (1, False, 1)


def test_a_refused_answer_is_one_sentence_for_the_script(judge) -> None:
    judge()

    answer = judge(headers=JSON, lease=Lease.objects.get(state="answered").pk, client_id=new_id())

    assert answer.status_code == 400
    assert answer.json()["note"].startswith("You have answered this question already")


def test_the_screen_is_over_when_nothing_is_left(judge) -> None:
    bodies = [judge(headers=JSON).json() for _tuple in range(3)]

    assert [body["over"] for body in bodies] == [False, False, True]


def test_an_answer_without_a_token_is_refused(annotator, campaign) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(annotator)
    form = answer_on(strict.get(address("judge", campaign)))

    refused = strict.post(address("judgement_create", campaign), form)
    token = strict.get(address("judge_screen", campaign)).json()["token"]
    kept = strict.post(address("judgement_create", campaign), form, headers={"X-CSRFToken": token})

    assert (refused.status_code, kept.status_code) == (403, 302)


def test_a_screen_costs_the_same_queries_however_large_the_campaign(site, campaign) -> None:
    site.get(address("judge_screen", campaign))

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            site.get(address("judge_screen", campaign))
        return len(captured)

    small = queries()
    TupleFactory.create_batch(20, campaign=campaign)
    assert queries() == small


# Nothing to judge


@pytest.mark.parametrize(
    ("state", "title"), [("paused", "This campaign is paused"), ("closed", "This campaign is closed")]
)
def test_a_campaign_that_is_not_open_says_so(site, campaign, state, title) -> None:
    Campaign.objects.update(state=state)

    page = text_of(site.get(address("judge", campaign)))

    assert title in page
    assert "Your campaigns" in page


def test_a_stopped_person_reads_why_and_whom_to_ask(site, campaign, annotator, owner) -> None:
    person = Participation.objects.create(campaign=campaign, user=annotator)
    participation_stop(participation=person, reason="The same place was chosen every time.")

    page = text_of(site.get(address("judge", campaign)))

    assert "Your part in this campaign has ended" in page
    assert "The same place was chosen every time." in page
    assert "tell owner" in page
    assert "It decides nothing about pay." in page


def test_who_judged_everything_is_thanked_and_may_still_undo(judge, site, campaign) -> None:
    for _tuple in range(3):
        judge()

    page = text_of(site.get(address("judge", campaign)))

    assert "You have answered all questions that you can here" in page
    assert "Undo the last judgement" in page


# Guidelines


def test_guidelines_open_without_javascript(site, campaign) -> None:
    guideline_save(campaign=campaign, text="Meaning, not words.")

    closed = site.get(address("judge", campaign)).content.decode()
    opened = site.get(address("judge", campaign), {"guidelines": "open"}).content.decode()

    assert re.search(r'<dialog id="guidelines"(?![^>]* open)[^>]*>', closed)
    assert re.search(r'<dialog id="guidelines"[^>]* open>', opened)


# One's own page


def test_an_annotator_without_campaigns_is_told_how_they_come(stranger) -> None:
    page = client_of(stranger).get("/judge/")

    assert "No campaign is open for you now." in text_of(page)


def test_an_annotators_page_shows_campaigns_and_own_choices(judge, site, campaign) -> None:
    judge(best=1, worst=2)

    page = text_of(site.get("/judge/"))

    judgement = Judgement.objects.get()
    best = judgement.tuple.items.get(slot=judgement.best_slot).pair
    assert f"{campaign.name} Which of these" in page
    assert "1 answered by you" in page
    assert f"▲ Most related {best.a.text} {best.b.text}" in page


def test_anothers_judgements_are_not_on_ones_page(judge, campaign, curator) -> None:
    judge()

    page = text_of(client_of(curator).get("/judge/"))

    assert "Your judgements, newest" not in page
