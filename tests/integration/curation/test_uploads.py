"""Files that browsers send reach the disk only at addresses that take one, from people who may send it there."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.test import Client

from curation.exchange.receiving import FORM_BYTES, BoundedUpload
from curation.exchange.uploads import import_path
from curation.models import ImportBatch

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(monkeypatch) -> list[str]:
    """The names of the files that were begun on the disk."""
    names: list[str] = []
    begin = TemporaryFileUploadHandler.new_file

    def new_file(self: BoundedUpload, field: str, name: str, *more: object, **others: object) -> None:
        names.append(name)
        begin(self, field, name, *more, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(TemporaryFileUploadHandler, "new_file", new_file)
    return names


def a_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("pairs.csv", b"a,b\nx,y\n")


@pytest.mark.parametrize("address", ["/accounts/login/", "/accounts/password/", "/datasets/new/"])
def test_an_address_that_takes_no_file_refuses_it_unread(curator, client_of, kept, address) -> None:
    """The answer is the same for a token check that reads the form first, as Django's does in a browser."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(curator)
    strict.cookies["csrftoken"] = "x" * 32

    answers = [client.post(address, {"file": a_file()}) for client in (client_of(curator), strict)]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert kept == []


def test_the_login_page_refuses_a_file_from_anybody(kept) -> None:
    answer = Client().post("/accounts/login/", {"username": "x", "password": "y", "file": a_file()})

    assert answer.status_code == 400
    assert kept == []


def test_the_api_refuses_a_file_in_a_sentence(curator, client_of, dataset, kept) -> None:
    answer = client_of(curator).post(f"/api/v1/datasets/{dataset.slug}/review/decisions/", {"file": a_file()})

    assert answer.status_code == 400
    assert answer.json() == {"detail": "This address does not accept files."}
    assert kept == []


def test_an_import_takes_files_from_those_who_may_import_there(
    dataset, curator, annotator, stranger, client_of, kept
) -> None:
    address = f"/datasets/{dataset.slug}/import/"

    refused = [
        client_of(person).post(address, {"file": a_file()}).status_code for person in (annotator, stranger)
    ]
    anonymous = Client().post(address, {"file": a_file()})
    before = list(kept)
    taken = client_of(curator).post(address, {"file": a_file()})

    assert refused == [403, 404]
    assert anonymous.status_code == 302
    assert anonymous.url.startswith("/accounts/login/")
    assert before == []
    assert taken.status_code == 302
    assert ImportBatch.objects.get().file_name == "pairs.csv"


def test_a_request_that_says_it_is_too_large_is_refused_before_its_file_begins(
    dataset, curator, client_of, kept, settings
) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    large = SimpleUploadedFile("pairs.csv", b"a,b\n" * (FORM_BYTES // 4 + 1000))

    answer = client_of(curator).post(f"/datasets/{dataset.slug}/import/", {"file": large})

    assert "The file is larger than 1000" in answer.content.decode()
    assert kept == []


def test_an_upload_whose_file_is_gone_says_so_on_the_page_and_to_programs(
    curator, client_of, dataset
) -> None:
    client = client_of(curator)
    client.post(f"/datasets/{dataset.slug}/import/", {"file": a_file()})
    batch = ImportBatch.objects.get()
    import_path(batch).unlink()

    page = client.get(f"/datasets/{dataset.slug}/import/{batch.pk}/")
    answer = client.post(
        f"/api/v1/datasets/{dataset.slug}/imports/{batch.pk}/check/", {}, content_type="application/json"
    )

    assert page.status_code == 200
    assert answer.status_code == 400
    assert "pairs.csv" in str(answer.json())
