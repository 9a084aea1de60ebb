"""Who gets which page of annotation: a stranger 404, a member whose role is too small 403."""

import pytest

from annotation.models import Campaign, Participation
from tests.factories import FlagFactory, GoldFactory, client_of
from tests.integration.annotation.pages import address

pytestmark = pytest.mark.django_db

READ = [
    "campaign",
    "campaign_progress",
    "design_state",
    "scores",
    "machines",
    "judgements",
    "judgements_file",
    "gold",
    "guidelines",
    "inbox",
    "campaign_design",
]
WRITE = ["gold_new", "gold_suggest", "spend", "grow"]
MOVES = ["campaign_move", "campaign_design", "publish", "withdraw"]
JUDGE = ["judge", "judge_screen", "tuple_skip", "tuple_flag"]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    ("role", "status"),
    [("owner", 200), ("curator", 200), ("staff", 200), ("admin", 200), ("annotator", 403), ("stranger", 404)],
)
def test_a_campaign_is_read_by_those_who_read_its_dataset(name, role, status, campaign, request) -> None:
    client = client_of(request.getfixturevalue(role))

    answer = client.get(address(name, campaign))

    assert answer.status_code == status


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize(
    ("role", "status"),
    [("owner", 200), ("curator", 200), ("staff", 403), ("annotator", 403), ("stranger", 404)],
)
def test_gold_tuples_pairs_and_judgements_are_added_by_curators(
    name, role, status, campaign, request
) -> None:
    client = client_of(request.getfixturevalue(role))

    answer = client.get(address(name, campaign))

    assert answer.status_code == status


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize(
    ("role", "status"), [("curator", 302), ("staff", 403), ("annotator", 403), ("stranger", 404)]
)
def test_a_campaign_is_moved_by_curators(name, role, status, campaign, request) -> None:
    client = client_of(request.getfixturevalue(role))

    answer = client.post(address(name, campaign), {"move": "pause"})

    assert answer.status_code == status


@pytest.mark.parametrize("name", JUDGE)
@pytest.mark.parametrize(
    ("role", "status"), [("owner", 200), ("curator", 200), ("annotator", 200), ("stranger", 404)]
)
def test_every_member_may_judge(name, role, status, campaign, request) -> None:
    client = client_of(request.getfixturevalue(role))

    answer = client.get(address(name, campaign))

    assert answer.status_code == status


@pytest.mark.parametrize(
    "name", ["annotator_reinstate", "flag_resolve", "gold_remove", "gold_edit", "annotator"]
)
def test_annotators_change_nothing_in_a_campaign(name, campaign, annotator) -> None:
    flag = FlagFactory(tuple=campaign.tuples.first())
    things = {"flag_resolve": flag, "gold_remove": GoldFactory(campaign=campaign), "gold_edit": flag.tuple}

    answer = client_of(annotator).post(address(name, campaign, things.get(name, flag.participation).pk))

    assert answer.status_code == 403


@pytest.mark.parametrize("name", ["annotator_reinstate", "flag_resolve", "gold_remove", "gold_edit"])
def test_what_belongs_to_another_campaign_is_not_found(name, campaign, curator) -> None:
    elsewhere = FlagFactory()
    gold = GoldFactory(campaign=elsewhere.tuple.campaign)
    things = {"flag_resolve": elsewhere, "gold_remove": gold, "gold_edit": gold}

    answer = client_of(curator).post(address(name, campaign, things.get(name, elsewhere.participation).pk))

    assert answer.status_code == 404


def test_a_draft_does_not_exist_for_annotators(campaign, annotator) -> None:
    Campaign.objects.update(state="draft")

    answer = client_of(annotator).get(address("judge", campaign))

    assert answer.status_code == 404


def test_a_stranger_who_looks_leaves_no_trace(campaign, stranger) -> None:
    client_of(stranger).get(address("judge", campaign))

    assert not Participation.objects.exists()


def test_a_campaign_list_of_a_foreign_dataset_is_not_found(campaign, stranger) -> None:
    answer = client_of(stranger).get(f"/campaigns/?dataset={campaign.dataset.slug}")

    assert answer.status_code == 404


def test_an_annotator_makes_no_campaign(dataset, annotator) -> None:
    answer = client_of(annotator).get(f"/campaigns/new/?dataset={dataset.slug}")

    assert answer.status_code == 403
