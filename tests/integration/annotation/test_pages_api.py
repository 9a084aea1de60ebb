"""Campaigns for programs: reading, claiming, judging."""

import pytest
from rest_framework.test import APIClient

from annotation.models import Judgement, Lease
from tests.factories import CampaignFactory, GoldFactory, MembershipFactory, PairFactory, token_of
from tests.integration.annotation.pages import new_id

pytestmark = pytest.mark.django_db


@pytest.fixture
def program():
    """A program that acts for a person, by their token."""

    def program(user) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {token_of(user)}")
        return client

    return program


@pytest.fixture
def api(campaign):
    return f"/api/v1/campaigns/{campaign.pk}/"


def test_campaigns_are_listed_for_those_who_read_them(program, curator, campaign) -> None:
    CampaignFactory()

    answer = program(curator).get("/api/v1/campaigns/").json()

    assert [row["id"] for row in answer["results"]] == [campaign.pk]


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("annotator", 403), ("stranger", 404)])
@pytest.mark.parametrize("part", ["", "progress/"])
def test_a_campaign_is_read_as_on_its_page(program, api, role, status, part, request) -> None:
    answer = program(request.getfixturevalue(role)).get(api + part)

    assert answer.status_code == status


def test_progress_says_why_there_is_no_reliability(program, api, curator) -> None:
    progress = program(curator).get(f"{api}progress/").json()

    assert (progress["collected"], progress["required"], progress["reliability"]) == (0, 6, None)
    assert progress["reliability_note"]


def test_a_program_runs_a_campaign_from_draft_to_scores(program, curator, dataset) -> None:
    PairFactory.create_batch(8, dataset=dataset)
    client = program(curator)
    sent = {"dataset": dataset.slug, "name": "By program", "judgements_per_tuple": 2, "gold_every": 15}

    made = client.post("/api/v1/campaigns/", sent, format="json").json()
    api = f"/api/v1/campaigns/{made['id']}/"
    opened = client.post(f"{api}move/", {"move": "open"}, format="json").json()
    for judging in (client, program(MembershipFactory(dataset=dataset).user)):
        claim = judging.post(f"{api}claim/").json()
        while claim["lease"]:
            answer = {"lease": claim["lease"], "best": 0, "worst": 1, "client_id": new_id(), "claim": True}
            claim = judging.post(f"{api}judgements/", answer, format="json").json()["next"]
    published = client.post(f"{api}results/", {"method": "maxdiff"}, format="json").json()

    assert (made["state"], opened["state"], made["best_label"]) == ("draft", "open", "Most related")
    tuples = client.get(f"{api}tuples/").json()["results"]
    assert {(row["required"], row["collected"], len(row["pairs"])) for row in tuples} == {(2, 2, 4)}
    assert [row["method"] for row in published] == ["maxdiff"]
    assert client.get(f"{api}results/").json() == published
    file = b"".join(client.get(f"{api}judgements/")).decode()
    assert file.count("\n") == 1 + 2 * len(tuples)
    assert b"".join(client.get(f"{api}bundle.zip"))[:2] == b"PK"


def test_a_program_undoes_its_last_judgement_and_skips(program, api, annotator) -> None:
    client = program(annotator)
    first = client.post(f"{api}claim/").json()
    sent = {"lease": first["lease"], "best": 1, "worst": 3, "client_id": new_id()}
    client.post(f"{api}judgements/", sent, format="json")

    undone = client.post(f"{api}undo/", {"client_id": sent["client_id"]}, format="json").json()
    again = client.post(f"{api}undo/", {"client_id": sent["client_id"]}, format="json").json()
    skipped = client.post(f"{api}skip/", {"lease": first["lease"], "reason": "broken"}, format="json").json()

    assert undone["lease"] == again["lease"] == first["lease"]
    assert skipped["lease"] not in {None, first["lease"]}
    assert not Judgement.objects.exists()


def test_a_wrong_field_of_a_draft_is_named(program, curator, dataset) -> None:
    client = program(curator)

    unknown = client.post("/api/v1/campaigns/", {"dataset": dataset.slug, "nmae": "x"}, format="json")
    small = client.post("/api/v1/campaigns/", {"dataset": dataset.slug, "name": "x"}, format="json")

    assert unknown.json() == {"nmae": ["There is no such parameter."]}
    assert small.status_code == 400


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404)])
@pytest.mark.parametrize(
    ("method", "part"),
    [
        ("post", "move/"),
        ("post", "copy/"),
        ("post", "results/"),
        ("get", "results/"),
        ("get", "tuples/"),
        ("get", "judgements/"),
        ("get", "bundle.zip"),
        ("patch", "crowd/"),
    ],
)
def test_what_runs_a_campaign_is_closed_to_who_may_not(
    program, api, role, status, method, part, request
) -> None:
    client = program(request.getfixturevalue(role))

    answer = (
        getattr(client, method)(api + part, {"move": "close"}, format="json")
        if method != "get"
        else client.get(api + part)
    )

    assert answer.status_code == status


@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404)])
def test_who_may_not_curate_a_dataset_makes_no_draft(program, dataset, role, status, request) -> None:
    client = program(request.getfixturevalue(role))

    answer = client.post("/api/v1/campaigns/", {"dataset": dataset.slug, "name": "x"}, format="json")

    assert answer.status_code == status


def test_a_program_sets_up_a_crowd(program, api, curator) -> None:
    client = program(curator)

    refused = client.patch(f"{api}crowd/", {"is_open": True}, format="json")
    saved = client.patch(
        f"{api}crowd/", {"is_open": True, "consent": "We are the lab."}, format="json"
    ).json()

    assert refused.status_code == 400
    assert "nobody is admitted without a consent" in str(refused.json())
    assert saved["settings"]["submission_parameter"] == "SESSION_ID"
    assert (saved["consent_version"], saved["entry"][:7]) == (1, "/crowd/")
    assert client.get(f"{api}crowd/").json() == saved


@pytest.mark.parametrize(("role", "status"), [("curator", 200), ("annotator", 403), ("stranger", 404)])
@pytest.mark.parametrize("part", ["crowd/", "crowd/hours/"])
def test_a_crowd_is_read_by_those_who_run_the_campaign(program, api, role, status, part, request) -> None:
    assert program(request.getfixturevalue(role)).get(api + part).status_code == status


def test_a_program_judges_a_campaign_to_its_end(program, api, annotator) -> None:
    client = program(annotator)
    for _tuple in range(3):
        claim = client.post(f"{api}claim/").json()
        sent = {"lease": claim["lease"], "best": 1, "worst": 3, "client_id": new_id()}
        client.post(f"{api}judgements/", sent, format="json")

    end = client.post(f"{api}claim/").json()

    judgement = Judgement.objects.first()
    assert Judgement.objects.count() == 3
    assert judgement.best_slot == judgement.order_shown[1]
    assert (end["lease"], end["nothing"]) == (None, "yours")


def test_a_judgement_sent_twice_is_kept_once(program, api, annotator) -> None:
    client = program(annotator)
    lease = client.post(f"{api}claim/").json()["lease"]
    sent = {"lease": lease, "best": 0, "worst": 1, "client_id": new_id()}

    answers = [client.post(f"{api}judgements/", sent, format="json").json() for _time in range(2)]

    assert [answer["repeated"] for answer in answers] == [False, True]
    assert Judgement.objects.count() == 1


@pytest.mark.parametrize(("best", "worst"), [(1, 1), (0, 4), (99, 0)])
def test_an_impossible_answer_is_refused_in_a_sentence(program, api, annotator, best, worst) -> None:
    client = program(annotator)
    lease = client.post(f"{api}claim/").json()["lease"]

    answer = client.post(
        f"{api}judgements/",
        {"lease": lease, "best": best, "worst": worst, "client_id": new_id()},
        format="json",
    )

    assert answer.status_code == 400
    assert answer.json()["detail"].endswith(".")


def test_anothers_lease_is_not_found(program, api, annotator, curator) -> None:
    lease = program(curator).post(f"{api}claim/").json()["lease"]

    answer = program(annotator).post(
        f"{api}judgements/", {"lease": lease, "best": 0, "worst": 1, "client_id": new_id()}, format="json"
    )

    assert answer.status_code == 404


def test_a_claim_does_not_tell_a_gold_tuple(program, api, annotator, campaign) -> None:
    campaign.gold_every = 2
    campaign.save()
    GoldFactory.create_batch(2, campaign=campaign)
    client = program(annotator)
    claims = {}
    while len(claims) < 2:
        claim = client.post(f"{api}claim/").json()
        claims[Lease.objects.get(pk=claim["lease"]).tuple.is_gold] = claim
        sent = {"lease": claim["lease"], "best": 0, "worst": 1, "client_id": new_id()}
        client.post(f"{api}judgements/", sent, format="json")

    assert claims[True].keys() == claims[False].keys()
    assert [set(pair) for pair in claims[True]["pairs"]] == [{"place", "a", "b"}] * 4


def test_an_answer_brings_the_next_tuple_where_it_is_asked_to(program, api, annotator) -> None:
    client = program(annotator)
    lease = client.post(f"{api}claim/").json()["lease"]
    shown = [lease]
    while lease is not None:
        sent = {"lease": lease, "best": 1, "worst": 3, "client_id": new_id(), "claim": True}
        following = client.post(f"{api}judgements/", sent, format="json").json()["next"]
        lease = following["lease"]
        shown.append(lease)

    assert len(set(shown)) == 4
    assert following["nothing"] == "yours"
    assert Judgement.objects.count() == 3


def test_an_answer_alone_claims_nothing(program, api, annotator) -> None:
    client = program(annotator)
    sent = {
        "lease": client.post(f"{api}claim/").json()["lease"],
        "best": 1,
        "worst": 3,
        "client_id": new_id(),
    }

    answer = client.post(f"{api}judgements/", sent, format="json").json()

    assert answer["next"] is None
    assert not Lease.objects.filter(state=Lease.State.LIVE).exists()
