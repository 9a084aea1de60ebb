"""An archived dataset is read-only: for pages, for programs, for runs; an owner can bring it back."""

from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.utils.timezone import now

from curation.datasets import services
from curation.exchange import uploads
from curation.exchange.exporting import snapshot_create
from curation.models import Dataset, Membership
from curation.people import members as people
from curation.people.access import ArchivedError
from curation.review.queue import Queue
from curation.review.verdicts import review_decide
from mlworkers.runs.services import run_start
from tests.factories import GeneratedPairFactory, PairFactory, ScoreSetFactory, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def archived(dataset, owner) -> Dataset:
    PairFactory(dataset=dataset)
    ScoreSetFactory(dataset=dataset, name="human", kind="human")
    GeneratedPairFactory(dataset=dataset, p_d=0.1)
    snapshot_create(dataset=dataset, by=owner)
    uploads.import_upload(dataset=dataset, files=[ContentFile(b"a,b\n", "pairs.csv")], by=owner)
    people.invitation_create(dataset=dataset, role="curator", people=1, days=1, by=owner, at=now())
    services.dataset_archive(dataset=dataset)
    return Dataset.objects.get(pk=dataset.pk)


READS = [
    "",
    "members/",
    "import/",
    "import/{batch}/",
    "export/",
    "snapshots/",
    "snapshots/1/pairs.parquet",
    "settings/",
    "edits/",
    "log/",
    "log/log.csv",
]
CHANGES = [
    "edits/",
    "settings/",
    "import/",
    "import/{batch}/check/",
    "import/{batch}/apply/",
    "import/{batch}/discard/",
    "snapshots/",
    "invitations/",
    "invitations/{invitation}/revoke/",
    "members/{member}/role/",
    "members/{member}/remove/",
    "members/restore/",
]


def at(dataset: Dataset, address: str) -> str:
    numbers = {
        "batch": dataset.imports.get().pk,
        "invitation": dataset.invitations.get().pk,
        "member": dataset.memberships.get(role="owner").pk,
    }
    return f"/datasets/{dataset.slug}/{address.format(**numbers)}"


@pytest.mark.parametrize("address", READS)
def test_it_can_be_read_and_downloaded(archived, owner, address) -> None:
    answer = client_of(owner).get(at(archived, address))

    assert answer.status_code == 200
    answer.close()


@pytest.mark.parametrize("address", CHANGES)
def test_a_change_is_refused_in_a_sentence_that_says_what_to_do(archived, owner, address) -> None:
    refused = client_of(owner).post(at(archived, address), {"role": "owner", "verdict": "keep"})

    assert refused.status_code == 403
    assert "An owner can restore it in its settings." in refused.content.decode()


def test_a_curator_s_verdict_waits_in_the_browser_and_a_program_s_is_refused(archived, curator) -> None:
    client = client_of(curator)
    generated = archived.pairs.get(origin="generated")
    verdict = {"pair": generated.pk, "verdict": "keep", "client_id": str(uuid4())}

    page = client.post(f"/review/{archived.slug}/decide/", verdict, headers={"Accept": "application/json"})
    program = client.post(
        f"/api/v1/datasets/{archived.slug}/review/decisions/", verdict, content_type="application/json"
    )

    assert (page.status_code, program.status_code) == (
        403,
        403,
    )  # static/js/sending.js keeps what 403 answers
    assert "is archived" in page.json()["note"]
    assert "is archived" in program.json()["detail"]


def test_an_owner_brings_it_back(archived, owner) -> None:
    client = client_of(owner)
    settings = client.get(at(archived, "settings/")).content.decode()

    client.post(at(archived, "archive/"))

    assert "Restore the dataset" in settings
    assert "nothing in it can be changed" in settings
    assert not Dataset.objects.get().archived


def test_the_settings_say_what_archiving_does(dataset, owner) -> None:
    page = client_of(owner).get(f"/datasets/{dataset.slug}/settings/").content.decode()

    assert "An archived dataset is read-only." in page


def test_nobody_joins_it(archived, stranger) -> None:
    invitation = people.invitations_of(archived).get()

    assert "is archived" in people.invitation_refusal(invitation, at=now())
    with pytest.raises(ArchivedError):
        people.invitation_accept(invitation=invitation, user=stranger, at=now())
    assert not Membership.objects.filter(user=stranger).exists()


def test_no_service_writes_into_it_even_where_the_caller_read_it_before(archived, dataset, owner) -> None:
    assert not dataset.archived  # as a worker has it that began before
    generated = archived.pairs.get(origin="generated")
    realism = archived.score_sets.get(kind="realism")
    scores = {"kind": "model", "low": 0, "high": 1, "method": "", "parameters": {}, "scores": []}
    changes = [
        lambda: services.score_set_publish(dataset=dataset, name="New", **scores),
        lambda: services.dataset_change(dataset=archived, name="Other"),
        lambda: snapshot_create(dataset=dataset, by=owner),
        lambda: people.member_set_role(membership=archived.memberships.get(), role="curator", at=now()),
        lambda: review_decide(
            pair=generated, queue=Queue(realism), by=owner, at=now(), verdict="keep", client_id=uuid4()
        ),
    ]

    for change in changes:
        with pytest.raises(ArchivedError):
            change()


@pytest.mark.parametrize(
    ("kind", "plan"),
    [
        ("generate_pairs", {"model": "gpt2"}),
        ("score_realism", {"run": 7}),
        ("score_consistency", {"scores": "run 7: target"}),
        ("evaluate_encoder", {"model": "roberta-base", "score_set": "human"}),  # takes a new snapshot
    ],
)
def test_no_run_that_would_add_to_it_is_started(archived, staff, kind, plan) -> None:
    with pytest.raises(ArchivedError):
        run_start(kind=kind, plan={"dataset": archived.slug, **plan}, by=staff)


def test_an_export_is_still_started(archived, curator) -> None:
    run = run_start(kind="export_dataset", plan={"dataset": archived.slug}, by=curator)

    assert run.state == "queued"


def test_its_pages_offer_no_change(archived, owner) -> None:
    client = client_of(owner)

    pages = "".join(client.get(at(archived, address)).content.decode() for address in ("", "members/"))

    assert f"/review/{archived.slug}/" not in pages
    assert 'name="role"' not in pages
