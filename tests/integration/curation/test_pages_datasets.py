"""The list of datasets, a new one, its settings, its snapshots, its export."""

import hashlib

import pytest

from curation.datasets.services import score_set_publish
from curation.models import Dataset, Membership, Snapshot
from tests.factories import DatasetFactory

pytestmark = pytest.mark.django_db

NEW = {
    "name": "Scenes",
    "slug": "scenes",
    "language": "en",
    "licence": "CC0-1.0",
    "description": "",
    "source_address": "",
}
ALL = {"generated_pairs": "all but rejected"}


@pytest.fixture
def address(dataset) -> str:
    return f"/datasets/{dataset.slug}/"


def test_an_empty_list_says_what_to_do(staff, client_of) -> None:
    page = client_of(staff).get("/datasets/").content.decode()

    assert "No datasets yet. Create one, then import a file of sentence pairs into it." in page


def test_an_annotator_is_told_why_the_list_is_empty(annotator, client_of) -> None:
    page = client_of(annotator).get("/datasets/").content.decode()

    assert "Annotators annotate without seeing scores" in page
    assert "Create a dataset" not in page


def test_the_list_shows_what_a_dataset_holds(fill, owner, dataset, client_of) -> None:
    fill(1234)
    pair = dataset.pairs.first()
    made = {"name": "people: 1", "kind": "human", "low": 0, "high": 1, "method": "counting"}
    known = {"reliability": {"spearman_mean": 0.8474, "judgements": 8}}
    score_set_publish(dataset=dataset, scores=[(pair.pk, 0.5, None, 8)], parameters=known, **made)

    page = client_of(owner).get("/datasets/").content.decode()

    assert "1,234" in page
    assert "0.847" in page


def test_whoever_creates_a_dataset_owns_it(staff, client_of) -> None:
    answer = client_of(staff).post("/datasets/new/", NEW)

    assert answer["Location"] == "/datasets/scenes/import/"
    assert Membership.objects.get(dataset__slug="scenes", user=staff).role == "owner"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"slug": "new"}, "is reserved for an address of this site."),
        ({"slug": "taken"}, "Another dataset has this short name. Choose another."),
        ({"slug": "two words"}, "A short name has only letters from a to z, digits"),
        ({"slug": ""}, "This field is required."),
        ({"language": "English!"}, "Give a BCP-47 tag such as en or pt-BR."),
        ({"source_address": "javascript:alert(1)"}, "Enter a valid URL."),
    ],
)
def test_a_dataset_that_cannot_be_made_says_why_and_keeps_what_was_typed(
    staff, client_of, wrong: dict[str, str], sentence: str
) -> None:
    DatasetFactory(slug="taken")

    page = client_of(staff).post("/datasets/new/", NEW | wrong).content.decode()

    assert sentence in page
    assert 'value="CC0-1.0"' in page
    assert Dataset.objects.count() == 1


def test_a_short_name_with_capital_letters_becomes_lower_case_and_the_next_page_says_so(
    staff, client_of
) -> None:
    page = client_of(staff).post("/datasets/new/", NEW | {"slug": "My-Pairs"}, follow=True).content.decode()

    assert Dataset.objects.get().slug == "my-pairs"
    assert "The short name is “my-pairs”: capital letters became lower-case." in page


def test_the_field_of_the_licence_offers_identifiers_with_their_names(staff, client_of) -> None:
    page = client_of(staff).get("/datasets/new/").content.decode()

    assert 'list="licences"' in page
    assert '<option value="CC-BY-4.0">Creative Commons Attribution 4.0 International</option>' in page


@pytest.mark.parametrize(("licence", "is_noted"), [("cc by 4.0", False), ("", False), ("ask me", True)])
def test_a_licence_that_is_not_known_is_kept_and_noted(
    owner, dataset, address, client_of, licence: str, is_noted: bool
) -> None:
    asked = NEW | {"licence": licence}

    page = client_of(owner).post(f"{address}settings/", asked, follow=True).content.decode()

    dataset.refresh_from_db()
    assert dataset.licence == licence
    assert (f"“{licence}” is not an SPDX identifier that Semblance knows." in page) is is_noted


def test_settings_change_what_a_dataset_says_of_itself(owner, dataset, address, client_of) -> None:
    page = client_of(owner).post(
        f"{address}settings/", NEW | {"name": "Renamed", "slug": "other"}, follow=True
    )

    dataset.refresh_from_db()
    assert "The settings are saved." in page.content.decode()
    assert (dataset.name, dataset.licence) == ("Renamed", "CC0-1.0")


def test_the_short_name_of_a_dataset_does_not_change(owner, dataset, address, client_of) -> None:
    client_of(owner).post(f"{address}settings/", NEW | {"slug": "other"})

    assert client_of(owner).get(address).status_code == 200


def test_settings_that_are_wrong_leave_the_head_of_the_page_as_it_was(
    owner, dataset, address, client_of
) -> None:
    page = (
        client_of(owner)
        .post(f"{address}settings/", NEW | {"name": "Unsaved", "language": "?"})
        .content.decode()
    )

    head = page[page.index('class="dataset-name"') : page.index("</section>")]
    assert dataset.name in head
    assert "Unsaved" not in head


def test_an_archived_dataset_moves_to_the_foot_of_the_list_and_comes_back(
    owner, dataset, address, client_of
) -> None:
    client = client_of(owner)

    client.post(f"{address}archive/")
    archived = client.get("/datasets/").content.decode()
    client.post(f"{address}archive/")

    assert "1 archived dataset" in archived
    assert "archived" not in client.get("/datasets/").content.decode()


def test_a_snapshot_is_taken_with_its_checksum_and_downloaded(
    fill, curator, address, dataset, client_of
) -> None:
    fill(4)
    client = client_of(curator)

    page = client.post(f"{address}snapshots/", ALL | {"split": "train"}, follow=True).content.decode()
    file = b"".join(client.get(f"{address}snapshots/1/pairs.parquet").streaming_content)

    snapshot = Snapshot.objects.get()
    assert "Snapshot 1 was created." in page
    assert snapshot.rows == 2
    assert hashlib.sha256(file).hexdigest() == snapshot.sha256
    assert snapshot.sha256 in page
    assert f"{dataset.slug}-1.parquet" in page


def test_a_snapshot_of_an_unknown_split_is_not_taken(fill, curator, address, client_of) -> None:
    fill(1)

    client_of(curator).post(f"{address}snapshots/", ALL | {"split": "elsewhere"})

    assert not Snapshot.objects.exists()


def test_the_export_form_holds_the_settings_of_an_export_run(
    fill, curator, dataset, address, client_of
) -> None:
    fill(1)

    page = client_of(curator).get(f"{address}export/").content.decode()

    assert 'action="/runs/start/export_dataset/"' in page
    assert f'name="dataset" value="{dataset.slug}"' in page
    for name in ("format", "score_set", "generated_pairs", "spreadsheet", "launch"):
        assert f'name="{name}"' in page


def test_an_export_is_started_by_that_form(fill, curator, dataset, address, client_of) -> None:
    fill(1)
    asked = {"dataset": dataset.slug, "format": "csv", "score_set": "gold"} | ALL

    answer = client_of(curator).post("/runs/start/export_dataset/", asked)

    assert answer.status_code == 302, answer.content.decode()
    assert answer["Location"].startswith("/runs/")


@pytest.mark.parametrize(
    ("page", "button"), [("export/", "Start the export"), ("snapshots/", "Create a snapshot")]
)
def test_what_writes_pairs_is_offered_where_there_are_some(
    owner, dataset, address, client_of, fill, page: str, button: str
) -> None:
    client = client_of(owner)
    empty = client.get(address + page).content.decode()
    fill(2)
    full = client.get(address + page).content.decode()

    assert "has no active pairs, so there is nothing to write." in empty
    assert f'href="{address}import/"' in empty.split("nothing to write.")[1]
    assert button not in empty
    assert button in full
    assert "has no active pairs" not in full
