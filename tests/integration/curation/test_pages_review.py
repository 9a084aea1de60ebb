"""The pages and the API of the review: who gets them, what they show, and what they cost."""

import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from curation.models import Pair, ReviewDecision, Sentence
from curation.review.verdicts import review_decide
from tests.factories import (
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    SentenceFactory,
    run_score_set,
)
from tests.integration.semblance.hostile_texts import alive_in, markup

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture
def pairs(dataset) -> list[Pair]:
    """Three machine sentences with rising p_D, and four human ones with a p_D of their own."""
    made = [
        GeneratedPairFactory(
            dataset=dataset,
            a__text=f"A man rides horse {number}.",
            b__text=f"Horse {number} rides horse {number}.",
            p_d=0.123 + number / 10,
            intended=0.5,
        )
        for number in range(3)
    ]
    for number in range(4):
        human = SentenceFactory(dataset=dataset, text=f"A boy feeds horse {number}.")
        human.scores.create(score_set=run_score_set(dataset, "realism", "p_D"), value=0.6 + number / 10)
    return made


@pytest.fixture
def curating(curator, client_of) -> Client:
    return client_of(curator)


@pytest.fixture
def place(dataset) -> str:
    return f"/review/{dataset.slug}/"


def verdict(pair: Pair, name: str, **more) -> dict:
    return {"pair": pair.pk, "client_id": str(uuid4()), "verdict": name, **more}


def status(pair: Pair) -> str:
    return Pair.objects.get(pk=pair.pk).status


WHO = {"owner": 200, "curator": 200, "admin": 200, "staff": 403, "annotator": 403, "stranger": 404}


@pytest.mark.parametrize("page", ["", "screen/"])
def test_a_page_is_for_those_who_curate(page: str, place, pairs, request, client_of) -> None:
    answers = {who: client_of(request.getfixturevalue(who)).get(place + page).status_code for who in WHO}

    assert answers == WHO


@pytest.mark.parametrize("who", ["staff", "annotator", "stranger"])
def test_whoever_does_not_curate_decides_and_undoes_nothing(
    who: str, place, pairs, curator, request, client_of
) -> None:
    decision = review_decide(pair=pairs[0], verdict="keep", client_id=uuid4(), by=curator, at=now())
    client = client_of(request.getfixturevalue(who))

    answers = [
        client.post(f"{place}decide/", verdict(pairs[1], "keep")).status_code,
        client.post(f"{place}undo/{decision.pk}/").status_code,
    ]

    assert answers == [WHO[who]] * 2
    assert ReviewDecision.objects.filter(undone_at=None).get() == decision


def test_a_decision_of_another_dataset_is_not_found(place, pairs, curating, curator) -> None:
    other = GeneratedPairFactory(p_d=0.1)
    decision = review_decide(pair=other, verdict="keep", client_id=uuid4(), by=curator, at=now())

    assert curating.post(f"{place}undo/{decision.pk}/").status_code == 404
    answer = curating.post(f"{place}decide/", verdict(other, "keep"), headers=JSON)
    assert (answer.status_code, "no such generated pair" in answer.json()["note"]) == (400, True)


def test_the_list_names_what_waits_where_the_person_curates(
    dataset, pairs, curating, client_of, annotator
) -> None:
    GeneratedPairFactory(p_d=0.1)

    page = curating.get("/review/").content.decode()

    assert re.search(rf"{dataset.name}</a>.*?run 7: p_D.*?>3<", page, re.DOTALL)
    assert page.count("run 7: p_D") == 1
    assert "No sentence waits for review" in client_of(annotator).get("/review/").content.decode()


def test_the_place_in_the_head_is_for_curators(pairs, curating, client_of, annotator) -> None:
    assert 'href="/review/"' in curating.get("/datasets/").content.decode()
    assert 'href="/review/"' not in client_of(annotator).get("/judge/").content.decode()


def test_the_sentence_stands_with_its_source_p_d_and_the_nearest_human_one(place, pairs, curating) -> None:
    page = curating.get(place).content.decode()

    assert "Horse 0 rides horse 0." in page
    assert "A man rides horse 0." in page
    assert "0.123" in page
    assert "0 % of 4 human sentences score lower" in page
    assert "A man rides horse 1." in page  # the nearest but for the source itself


def test_blind_the_page_tells_nothing_of_p_d(place, pairs, curating) -> None:
    page = curating.get(f"{place}?blind=on&share=1.0")
    screen = curating.get(f"{place}screen/?blind=on&share=1.0").json()

    for shown in (page.content.decode(), "".join(item["html"] for item in screen["items"])):
        assert "p_D is hidden" in shown
        assert "0.123" not in shown
        assert 'class="strip"' not in shown


def test_a_blind_verdict_is_kept_as_such(place, pairs, curating) -> None:
    curating.post(f"{place}decide/?blind=on", verdict(pairs[0], "keep"))

    decision = ReviewDecision.objects.get()
    assert (decision.blind, decision.value_shown) == (True, pytest.approx(0.123))


def test_without_javascript_rejecting_asks_for_the_reasons_first(place, pairs, curating) -> None:
    asked = curating.post(f"{place}decide/", verdict(pairs[0], "reject"))
    refused = curating.post(f"{place}decide/", verdict(pairs[0], "reject", confirmed="yes"))
    done = curating.post(
        f"{place}decide/", verdict(pairs[0], "reject", confirmed="yes", reasons=["logic"], note="odd")
    )

    assert (asked.status_code, refused.status_code, done.status_code) == (200, 400, 302)
    assert '<fieldset id="reject-panel" class="panel-inline">' in asked.content.decode()
    assert "Choose at least one reason" in refused.content.decode()
    assert (status(pairs[0]), ReviewDecision.objects.get().note) == ("rejected", "odd")


def test_without_javascript_editing_starts_from_the_sentence_and_keeps_what_was_typed(
    place, pairs, curating
) -> None:
    asked = curating.post(f"{place}decide/", verdict(pairs[0], "edit"))
    refused = curating.post(
        f"{place}decide/", verdict(pairs[0], "edit", confirmed="yes", text="A man rides horse 0.")
    )
    curating.post(
        f"{place}decide/", verdict(pairs[0], "edit", confirmed="yes", text="A woman rides a horse.")
    )

    assert re.search(r"<textarea[^>]*>Horse 0 rides horse 0\.</textarea>", asked.content.decode())
    assert re.search(r"<textarea[^>]*>A man rides horse 0\.</textarea>", refused.content.decode())
    assert ReviewDecision.objects.get().replacement.b.text == "A woman rides a horse."


def test_a_page_out_of_date_says_so(place, pairs, curating) -> None:
    answer = curating.post(f"{place}decide/", {"pair": pairs[0].pk, "verdict": "keep"})

    assert (answer.status_code, status(pairs[0])) == (400, "active")
    assert "The page is out of date. Load it again." in answer.content.decode()


def test_the_script_gets_the_next_sentences_with_every_verdict(place, pairs, curating) -> None:
    sent = verdict(pairs[0], "keep")

    answers = [curating.post(f"{place}decide/?share=1.0", sent, headers=JSON).json() for _ in range(2)]

    for answer in answers:
        assert [item["pair"] for item in answer["items"]] == [pair.pk for pair in pairs[1:]]
        assert answer["undo"] == ReviewDecision.objects.get().pk
        assert answer["progress"] == "1 of 3 decided"


def test_no_sentence_is_markup_in_what_the_script_shows(place, dataset, pairs, curating) -> None:
    for sentence in Sentence.objects.all():
        Sentence.objects.filter(pk=sentence.pk).update(text=markup(str(sentence.pk)))

    screen = curating.get(f"{place}screen/").json()

    assert len(screen["items"]) > 0
    assert [
        alive_in(shown) for shown in (screen["figures"], *(item["html"] for item in screen["items"]))
    ] == [[] for _shown in range(1 + len(screen["items"]))]


def test_who_comes_second_gets_a_sentence_and_the_next(place, pairs, dataset, curating) -> None:
    other = MembershipFactory(dataset=dataset, role="curator", user__username="cleo").user
    review_decide(pair=pairs[0], verdict="keep", client_id=uuid4(), by=other, at=now())

    answer = curating.post(
        f"{place}decide/?share=1.0",
        verdict(pairs[0], "reject", confirmed="yes", reasons=["logic"]),
        headers=JSON,
    )

    assert answer.status_code == 400
    assert answer.json()["note"].startswith("cleo has already decided about this sentence (keep)")
    assert [item["pair"] for item in answer.json()["items"]] == [pair.pk for pair in pairs[1:]]


def test_an_undo_brings_the_sentence_back_to_the_screen(place, pairs, curating, curator) -> None:
    decision = review_decide(
        pair=pairs[2], verdict="reject", reasons=["logic"], client_id=uuid4(), by=curator, at=now()
    )

    answer = curating.post(f"{place}undo/{decision.pk}/?share=1.0", headers=JSON).json()

    assert answer["undone"]["pair"] == pairs[2].pk
    assert "Horse 2 rides horse 2." in answer["undone"]["html"]
    assert status(pairs[2]) == "active"


def test_an_undo_that_is_refused_says_why_on_the_page(place, pairs, curating, curator) -> None:
    edit = review_decide(
        pair=pairs[0], verdict="edit", text="A dog.", client_id=uuid4(), by=curator, at=now()
    )
    edit.replacement.b.origin = "machine"
    edit.replacement.b.save()
    review_decide(pair=edit.replacement, verdict="keep", client_id=uuid4(), by=curator, at=now())

    page = curating.post(f"{place}undo/{edit.pk}/", follow=True).content.decode()

    assert "has been reviewed since. Undo that decision first" in page


def test_a_dataset_without_p_d_says_what_to_do(place, curating) -> None:
    assert (
        "Generate pairs with a run, then score their human-likeness" in curating.get(place).content.decode()
    )
    assert "has a p_D yet" in curating.get(f"{place}screen/").json()["note"]


def test_review_opens_on_a_share_that_has_work(place, pairs, curating, curator) -> None:
    curating.post(f"{place}decide/", verdict(pairs[0], "keep"))

    page = curating.get(place).content.decode()

    assert pairs[1].b.text in page
    assert re.search(r'<option value="0.5"\s+selected', page)


def test_a_share_that_is_done_offers_the_next_one(place, pairs, curating) -> None:
    curating.post(f"{place}decide/", verdict(pairs[0], "keep"))

    page = curating.get(f"{place}?share=0.1").content.decode()

    assert "The one sentence of this share has a decision" in page
    assert "share=0.5" in page


def test_sentences_on_other_screens_are_said_to_be_there(
    place, pairs, dataset, curating, owner, client_of
) -> None:
    client_of(owner).get(f"{place}screen/?share=1.0")

    page = curating.get(f"{place}?share=1.0").content.decode()

    assert "The sentences that are left are on the screens of other people." in page


@pytest.mark.parametrize("query", ["share=7", "share=x", "set=999", "set=x", "blind=perhaps&share=0.1"])
def test_an_address_that_makes_no_sense_shows_the_lowest_tenth(query: str, place, pairs, curating) -> None:
    page = curating.get(f"{place}?{query}")

    assert page.status_code == 200
    assert "Horse" in page.content.decode()


def test_markup_in_a_sentence_is_text(place, dataset, curating) -> None:
    GeneratedPairFactory(dataset=dataset, b__text="<script>alert(1)</script>", p_d=0.1)

    assert "<script>alert(1)" not in curating.get(place).content.decode()


@pytest.mark.parametrize("page", ["", "screen/"])
def test_a_page_takes_the_same_queries_for_few_and_for_many(
    page: str, place, pairs, dataset, curating
) -> None:
    def queries() -> int:
        curating.get(f"{place}{page}?share=1.0")
        with CaptureQueriesContext(connection) as captured:
            curating.get(f"{place}{page}?share=1.0")
        return len(captured)

    few = queries()
    for number in range(20):
        GeneratedPairFactory(dataset=dataset, p_d=0.5 + number / 100, intended=0.5)
    assert queries() <= few


def test_the_list_takes_the_same_queries_for_one_dataset_and_for_five(pairs, curating, curator) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            curating.get("/review/")
        return len(captured)

    one = queries()
    for _ in range(4):
        MembershipFactory(dataset=GeneratedPairFactory(p_d=0.1).dataset, user=curator, role="curator")
    assert queries() == one


def test_the_dataset_s_page_leads_to_what_waits(dataset, pairs, curating) -> None:
    page = curating.get(f"/datasets/{dataset.slug}/").content.decode()

    assert "Review 3 sentences" in page


def test_a_pair_s_page_tells_its_verdicts(dataset, pairs, curating, curator) -> None:
    edit = review_decide(
        pair=pairs[0], verdict="edit", text="A dog.", client_id=uuid4(), by=curator, at=now()
    )

    old = curating.get(f"/datasets/{dataset.slug}/pairs/{pairs[0].pk}/").content.decode()
    new = curating.get(f"/datasets/{dataset.slug}/pairs/{edit.replacement_id}/").content.decode()

    assert "Replaced by" in old
    assert "A dog." in old
    assert "Replaces" in new
    assert "Horse 0 rides horse 0." in new


def test_a_pair_s_page_tells_p_d_of_both_sentences(dataset, pairs, curating) -> None:
    pairs[0].a.scores.create(score_set=run_score_set(dataset, "realism", "p_D"), value=0.875)

    page = curating.get(f"/datasets/{dataset.slug}/pairs/{pairs[0].pk}/").content.decode()

    rows = page.partition("Scores of the sentences")[2]
    assert re.search(r"run 7: p_D.*?0\.875.*?human.*?0\.123.*?machine", rows, re.DOTALL)


# For programs


def test_programs_list_decide_and_undo(dataset, pairs, curating) -> None:
    api = f"/api/v1/datasets/{dataset.slug}/review/"
    waiting = curating.get(f"{api}?share=0.5").json()
    sent = verdict(pairs[0], "reject", reasons=["grammar"])

    decided = curating.post(f"{api}decisions/", sent, "application/json").json()
    again = curating.post(f"{api}decisions/", sent, "application/json").json()
    undone = curating.post(f"{api}decisions/{decided['id']}/undo/").json()

    assert [(row["pair"], row["sentence"]) for row in waiting["results"]] == [
        (pair.pk, f"Horse {number} rides horse {number}.") for number, pair in enumerate(pairs[:2])
    ]
    assert decided == again
    assert (decided["verdict"], decided["reasons"], decided["undone_at"]) == ("reject", ["grammar"], None)
    assert undone["undone_at"] is not None
    assert curating.get(f"{api}decisions/").json()["count"] == 1
    assert status(pairs[0]) == "active"


def test_programs_are_told_what_is_wrong(dataset, pairs, curating) -> None:
    api = f"/api/v1/datasets/{dataset.slug}/review/decisions/"

    answer = curating.post(api, verdict(pairs[0], "reject"), "application/json")

    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "Choose at least one reason for rejecting the sentence.",
    )


@pytest.mark.parametrize(
    ("who", "reads", "writes"), [("staff", 200, 403), ("annotator", 403, 403), ("stranger", 404, 404)]
)
def test_programs_get_what_people_get(who, reads, writes, dataset, pairs, request, client_of) -> None:
    client, api = client_of(request.getfixturevalue(who)), f"/api/v1/datasets/{dataset.slug}/review/"

    answers = [
        client.get(api).status_code,
        client.get(f"{api}decisions/").status_code,
        client.post(f"{api}decisions/", verdict(pairs[0], "keep"), "application/json").status_code,
        client.post(f"{api}decisions/1/undo/").status_code,
    ]

    assert answers == [reads, reads, writes, writes]
    assert not ReviewDecision.objects.exists()


@pytest.mark.parametrize("model", ["reviewdecision", "sentencescore"])
def test_the_administration_shows_and_changes_nothing(model: str, pairs, curator, admin, client_of) -> None:
    review_decide(pair=pairs[0], verdict="keep", client_id=uuid4(), by=curator, at=now())
    client = client_of(admin)

    assert client.get(f"/admin/curation/{model}/").status_code == 200
    assert client.get(f"/admin/curation/{model}/add/").status_code == 403


# Samples, human sentences and two reviewers


@pytest.fixture
def human(dataset) -> Pair:
    """A pair whose second sentence a person wrote, which has a p_D, beside nine machine sentences."""
    for number in range(9):
        GeneratedPairFactory(
            dataset=dataset, b__text=f"Cow {number} milks a cow.", p_d=number / 10, intended=0.5
        )
    pair = PairFactory(dataset=dataset, b__text="A girl milks a cow.")
    pair.b.scores.create(score_set=run_score_set(dataset, "realism", "p_D"), value=0.777)
    return pair


def all_items(client: Client, place: str, query: str) -> list[dict]:
    """What the script shows one after the other, each sentence kept."""
    items = []
    while shown := client.get(f"{place}screen/?{query}").json()["items"]:
        items.append(shown[0])
        sent = {"pair": shown[0]["pair"], "client_id": str(uuid4()), "verdict": "keep"}
        assert client.post(f"{place}decide/?{query}", sent, headers=JSON).status_code == 200
    return items


@pytest.mark.parametrize("frame", ["random", "stratified"])
def test_a_sample_is_blind_and_says_that_rates_may_be_estimated(frame, place, human, curating) -> None:
    page = curating.get(f"{place}?frame={frame}").content.decode()

    assert "p_D is hidden" in page
    assert "One sentence in ten was written by a human" in page
    assert "rates of all machine-written sentences can be estimated" in page


def test_other_queues_say_that_rates_may_not_be_estimated(place, pairs, curating) -> None:
    for query in ("share=1.0", "frame=uncertain"):
        page = curating.get(f"{place}?{query}").content.decode()
        assert "from a random or stratified sample only, not from this queue" in page


@pytest.mark.exhaustive
def test_nothing_on_the_screen_tells_a_human_sentence_from_a_machine_s(place, human, curating) -> None:
    items = all_items(curating, place, "frame=random")

    def without_words(item: dict) -> str:
        html = re.sub(r'(<p class="sentence"[^>]*>)[^<]*', r"\1", item["html"])
        html = re.sub(
            r"No other human sentence shares a word with it|word overlap.*?</span>", "", html, flags=re.DOTALL
        )
        return re.sub(r'value="[^"]*"|\s+|0\.\d\d', " ", html)

    assert human.pk in [item["pair"] for item in items]
    assert len(items) == 10
    shapes = {without_words(item) for item in items if "Nearest human sentence</span>" in item["html"]}
    assert len(shapes) == 1
    assert not any(word in shape for shape in shapes for word in ("Machine-written", "similarity"))
    nearest = next(item["html"] for item in items if item["pair"] == human.pk)
    assert nearest.count("A girl milks a cow.") == 1  # it is not its own neighbour


@pytest.mark.exhaustive
def test_the_figures_change_alike_for_a_human_sentence_and_a_machine_s(place, human, curating) -> None:
    query, seen = "frame=random", []
    while items := curating.get(f"{place}screen/?{query}").json()["items"]:
        sent = {
            "pair": items[0]["pair"],
            "client_id": str(uuid4()),
            "verdict": "reject",
            "reasons": ["logic"],
        }
        answer = curating.post(f"{place}decide/?{query}", sent | {"confirmed": "yes"}, headers=JSON).json()
        seen.append(answer["decided_of"])
        assert "/pairs/" not in answer["figures"]
        assert "Hidden in this queue" in answer["figures"]

    assert seen == [[number, 10] for number in range(1, 11)]
    assert (status(human), ReviewDecision.objects.filter(pair=human).count()) == ("active", 1)


@pytest.mark.exhaustive
def test_an_undo_brings_a_human_sentence_back_to_the_screen(place, human, curating) -> None:
    all_items(curating, place, "frame=random")
    decision = ReviewDecision.objects.get(pair=human)

    answer = curating.post(f"{place}undo/{decision.pk}/?frame=random", headers=JSON).json()

    assert answer["undone"]["pair"] == human.pk
    assert "A girl milks a cow." in answer["undone"]["html"]
    assert "p_D is hidden" in answer["undone"]["html"]


def test_without_human_sentences_to_mix_in_the_page_says_so(place, pairs, curating) -> None:
    assert "No human sentence is mixed in" in curating.get(f"{place}?frame=random").content.decode()
    assert "is mixed in" not in curating.get(f"{place}?frame=random&human=off").content.decode()


def test_a_choice_stays_where_the_size_changes_and_the_queue_brings_its_own(place, pairs, curating) -> None:
    page = curating.get(f"{place}?frame=random&blind=off&twice=on").content.decode()

    assert '<input type="hidden" name="blind" value="off">' in page
    assert '<input type="hidden" name="twice" value="on">' in page
    assert 'name="human"' not in page


def test_a_sample_that_is_judged_leads_on(place, pairs, curating) -> None:
    all_items(curating, place, "frame=random&size=40")

    page = curating.get(f"{place}?frame=random&size=40").content.decode()

    assert "All 3 sentences of this sample are reviewed." in page


def test_who_has_judged_all_they_can_is_told_that_others_have_to(place, pairs, curating) -> None:
    all_items(curating, place, "frame=random&twice=on")

    page = curating.get(f"{place}?frame=random&twice=on").content.decode()

    assert re.search(r"3 decisions are missing\. Other curators have\s+to make", page)


def test_a_second_reviewer_is_not_shown_the_first_verdict(place, pairs, curating, owner, client_of) -> None:
    query = "share=1.0&twice=on"
    curating.post(f"{place}decide/?{query}", verdict(pairs[0], "reject", confirmed="yes", reasons=["logic"]))

    page = client_of(owner).get(f"{place}?{query}").content.decode()

    assert "Horse 0 rides horse 0." in page
    assert "Your last decisions" in page
    assert "✕" not in page.partition("decisions-heading")[2]
    life = client_of(owner).get(f"/datasets/{pairs[0].dataset.slug}/pairs/{pairs[0].pk}/").content.decode()
    client_of(owner).post(f"{place}decide/?{query}", verdict(pairs[0], "keep"))
    assert status(pairs[0]) == "rejected"
    later = curating.get(f"/datasets/{pairs[0].dataset.slug}/pairs/{pairs[0].pk}/").content.decode()
    assert later.count('class="tag good"') == life.count('class="tag good"')


def test_a_disagreement_is_resolved_on_its_page(place, pairs, curating, owner, client_of) -> None:
    query = "share=1.0&twice=on"
    curating.post(f"{place}decide/?{query}", verdict(pairs[0], "reject", confirmed="yes", reasons=["logic"]))
    client_of(owner).post(f"{place}decide/?{query}", verdict(pairs[0], "keep"))
    assert "Adjudicate 1 sentence" in curating.get(place).content.decode()

    page = curating.get(f"{place}disagreements/").content.decode()
    assert "Logical flaw" in page
    form = page.partition("Choose “keep” for: Horse 0")[0].rpartition("<form")[2]
    sent = dict(re.findall(r'name="(decision|follow|client_id)" value="([^"]+)"', form))
    answers = [curating.post(f"{place}disagreements/", sent, follow=True).content.decode() for _ in range(2)]

    assert all("The adjudication is saved." in answer for answer in answers)
    assert "No sentence waits for adjudication." in answers[0]
    assert status(pairs[0]) == "active"


def test_a_resolution_that_makes_no_sense_says_so(place, pairs, curating) -> None:
    page = curating.post(f"{place}disagreements/", {"decision": "x"}, follow=True).content.decode()

    assert "The page is out of date. Load it again." in page


@pytest.mark.parametrize("method", ["get", "post"])
def test_disagreements_are_for_those_who_curate(method, place, pairs, request, client_of) -> None:
    answers = {
        who: getattr(client_of(request.getfixturevalue(who)), method)(f"{place}disagreements/").status_code
        for who in WHO
    }

    assert answers == (
        WHO if method == "get" else {who: 302 if code == 200 else code for who, code in WHO.items()}
    )


def test_programs_list_a_sample_and_judge_in_it(dataset, human, curating, owner, client_of) -> None:
    api = f"/api/v1/datasets/{dataset.slug}/review/"
    waiting = curating.get(f"{api}?frame=stratified&size=5").json()["results"]
    sent = {
        "verdict": "keep",
        "frame": "stratified",
        "blind": True,
        "twice": True,
        "pair": waiting[0]["pair"],
    }

    first = curating.post(f"{api}decisions/", sent | {"client_id": str(uuid4())}, "application/json").json()
    second = client_of(owner).post(f"{api}decisions/", sent | {"client_id": str(uuid4())}, "application/json")
    refused = curating.post(
        f"{api}decisions/", sent | {"pair": human.pk, "client_id": str(uuid4())}, "application/json"
    )

    assert len(waiting) == 5
    assert (first["frame"], first["binding"], first["second"]) == ("stratified", True, False)
    assert 1 <= first["stratum"] <= 10
    assert (second.json()["binding"], second.json()["second"]) == (False, True)
    assert (refused.status_code, "not in the sample" in refused.json()["detail"]) == (400, True)
    assert curating.get(f"{api}?frame=sideways").status_code == 400
