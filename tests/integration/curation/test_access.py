"""Who gets which page: a stranger 404, a member whose role is too small 403, and staff read everything."""

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client

from curation.models import Composition, Dataset, ImportBatch, Invitation, Membership, Snapshot
from curation.people.access import (
    ROLES_THAT_MAY,
    audit_all_allow,
    dataset_rights,
    datasets_may_create,
    datasets_readable,
)
from tests.factories import DatasetFactory, MembershipFactory, client_of

pytestmark = pytest.mark.django_db

READ, CURATE, OWN, AUDIT = "read", "curate", "own", "audit"
SEES = {
    READ: {"owner": 200, "curator": 200, "staff": 200, "admin": 200, "annotator": 403, "stranger": 404},
    CURATE: {"owner": 200, "curator": 200, "staff": 403, "admin": 200, "annotator": 403, "stranger": 404},
    OWN: {"owner": 200, "curator": 403, "staff": 403, "admin": 200, "annotator": 403, "stranger": 404},
    AUDIT: {"owner": 200, "curator": 403, "staff": 200, "admin": 200, "annotator": 403, "stranger": 404},
}
PEOPLE = ["owner", "curator", "staff", "admin", "annotator", "stranger"]
PAGES = {
    "": READ,
    "glance/": READ,
    "charts/": READ,
    "score-sets/": READ,
    "splits/": READ,
    "pairs/{pair}/": READ,
    "export/": READ,
    "snapshots/": READ,
    "members/": READ,
    "import/": CURATE,
    "import/{batch}/": CURATE,
    "compose/": CURATE,
    "invitations/": OWN,
    "settings/": OWN,
    "edits/": READ,
    "log/": AUDIT,
    "log/log.csv": AUDIT,
}
CHANGES = {
    "edits/": CURATE,
    "snapshots/": CURATE,
    "compose/": CURATE,
    "compose/sentences/": CURATE,
    "compose/sentences/clear/": CURATE,
    "compose/{composition}/undo/": CURATE,
    "import/": CURATE,
    "import/{batch}/check/": CURATE,
    "import/{batch}/apply/": CURATE,
    "import/{batch}/discard/": CURATE,
    "invitations/": OWN,
    "invitations/{invitation}/revoke/": OWN,
    "settings/": OWN,
    "archive/": OWN,
    "members/restore/": OWN,
    "members/{member}/role/": OWN,
    "members/{member}/remove/": OWN,
}


@pytest.fixture
def names(dataset, fill, owner, home) -> dict[str, object]:
    """One of each thing that an address can name."""
    fill(1)
    (home / "pairs.csv").write_text("sentence1,sentence2\nA dog runs.,A dog is running.\n")
    (home / "snapshot.parquet").write_bytes(b"PAR1")
    Snapshot.objects.create(dataset=dataset, number=1, rows=1, sha256="0" * 64, path="snapshot.parquet")
    batch = ImportBatch.objects.create(dataset=dataset, file_name="pairs.csv", path="pairs.csv")
    invitation = Invitation.objects.create(
        dataset=dataset,
        role="annotator",
        token_digest="0" * 64,
        created_by=owner,
        expires_at="2030-01-01T00:00Z",
    )
    other = MembershipFactory(dataset=dataset, role="annotator")
    return {
        "pair": dataset.pairs.get().pk,
        "batch": batch.pk,
        "invitation": invitation.pk,
        "member": other.pk,
        "composition": Composition.objects.create(dataset=dataset, pairs=1).pk,
    }


@pytest.fixture
def clients(request, client_of) -> dict[str, Client]:
    return {who: client_of(request.getfixturevalue(who)) for who in PEOPLE}


@pytest.mark.parametrize(("page", "right"), PAGES.items())
def test_a_page_is_for_those_whose_role_includes_it(page: str, right: str, names, dataset, clients) -> None:
    address = f"/datasets/{dataset.slug}/" + page.format(**names)

    answers = {who: client.get(address).status_code for who, client in clients.items()}

    assert answers == SEES[right]


@pytest.mark.parametrize(("address", "right"), CHANGES.items())
def test_a_change_is_refused_to_those_whose_role_is_too_small(
    address: str, right: str, names, dataset, clients
) -> None:
    refused = {who: status for who, status in SEES[right].items() if status != 200}
    address = f"/datasets/{dataset.slug}/" + address.format(**names)

    answers = {who: clients[who].post(address).status_code for who in refused}

    assert answers == refused


def test_a_snapshot_is_downloaded_by_who_may_read_and_by_nobody_else(
    names, dataset, client_of, curator, annotator
):
    address = f"/datasets/{dataset.slug}/snapshots/1/pairs.parquet"

    answer = client_of(curator).get(address)

    assert b"".join(answer.streaming_content) == b"PAR1"
    assert client_of(annotator).get(address).status_code == 403


def test_what_belongs_to_another_dataset_is_not_found_in_this_one(names, client_of, owner) -> None:
    other = MembershipFactory(user=owner, role="owner", dataset=DatasetFactory()).dataset
    addresses = ["pairs/{pair}/", "import/{batch}/"]

    answers = [client_of(owner).get(f"/datasets/{other.slug}/" + each.format(**names)) for each in addresses]

    assert [answer.status_code for answer in answers] == [404, 404]


def test_a_member_of_another_dataset_cannot_be_removed_through_ones_own(names, client_of, stranger) -> None:
    own = MembershipFactory(user=stranger, role="owner").dataset

    answer = client_of(stranger).post(f"/datasets/{own.slug}/members/{names['member']}/remove/")

    assert answer.status_code == 404
    assert Membership.objects.filter(pk=names["member"]).exists()


def test_the_list_shows_the_datasets_whose_scores_one_may_read(owner, dataset, client_of) -> None:
    MembershipFactory(user=owner, role="annotator", dataset=DatasetFactory(name="Only judged"))
    DatasetFactory(name="Of other people")

    page = client_of(owner).get("/datasets/").content.decode()

    assert dataset.name in page
    assert "Only judged" not in page
    assert "Of other people" not in page


def test_staff_read_every_dataset(staff, dataset) -> None:
    DatasetFactory()

    assert datasets_readable(staff).count() == Dataset.objects.count() == 2


@pytest.mark.parametrize("who", PEOPLE)
def test_the_logs_of_all_datasets_are_for_those_who_run_the_site(who: str, request) -> None:
    person = request.getfixturevalue(who)

    if who in {"staff", "admin"}:
        audit_all_allow(person)
    else:
        with pytest.raises(PermissionDenied):
            audit_all_allow(person)


def test_staff_who_own_a_dataset_may_do_more_with_it_than_staff_may(staff, dataset) -> None:
    MembershipFactory(user=staff, dataset=dataset, role="owner")

    assert dataset_rights(staff, dataset) == set(ROLES_THAT_MAY)


@pytest.mark.parametrize(
    ("who", "status"),
    [("staff", 200), ("admin", 200), ("owner", 403), ("curator", 403), ("annotator", 403), ("stranger", 403)],
)
@pytest.mark.parametrize("page", ["/log/", "/log/log.csv"])
def test_the_log_of_all_datasets_is_for_staff(page: str, who: str, status: int, clients) -> None:
    assert clients[who].get(page).status_code == status


@pytest.mark.parametrize(
    ("who", "may"),
    [
        ("staff", True),
        ("admin", True),
        ("owner", True),
        ("curator", True),
        ("annotator", False),
        ("stranger", False),
    ],
)
def test_a_new_dataset_is_begun_by_staff_and_by_who_is_trusted_with_one(who: str, may: bool, request) -> None:
    person = request.getfixturevalue(who)

    assert datasets_may_create(person) is may


def test_an_annotator_cannot_create_a_dataset(annotator, client_of) -> None:
    client = client_of(annotator)

    answers = [client.get("/datasets/new/"), client.post("/datasets/new/", {"name": "Mine", "slug": "mine"})]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert not Dataset.objects.filter(slug="mine").exists()


def test_a_button_is_offered_only_to_who_may_press_it(names, dataset, clients) -> None:
    imports = f'href="/datasets/{dataset.slug}/import/"'
    pages = {who: clients[who].get(f"/datasets/{dataset.slug}/").text for who in ("curator", "annotator")}

    assert imports in pages["curator"]
    assert imports not in pages["annotator"]


def test_a_member_who_may_not_reads_which_owners_to_ask(dataset, annotator, owner) -> None:
    closed = MembershipFactory(dataset=dataset, role="owner").user
    closed.is_active = False
    closed.save()

    page = client_of(annotator).get(f"/datasets/{dataset.slug}/settings/")

    assert page.status_code == 403
    assert f">{owner.username}<" in page.text
    assert dataset.name in page.text
    assert closed.username not in page.text


def test_a_stranger_reads_no_name_of_a_dataset_or_its_owner(dataset, stranger, owner) -> None:
    page = client_of(stranger).get(f"/datasets/{dataset.slug}/settings/")

    assert page.status_code == 404
    assert f">{owner.username}<" not in page.text
    assert dataset.name not in page.text


def test_a_page_for_staff_sends_nobody_to_an_owner(annotator) -> None:
    page = client_of(annotator).get("/datasets/new/")

    assert page.status_code == 403
    assert "Your account does not allow this. Ask the people who run this site." in page.text
