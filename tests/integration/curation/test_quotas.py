"""What one person may upload in a day, by a page and by a program; and the bound of a person's tokens."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from curation.exchange.quotas import upload_count
from curation.exchange.uploads import import_upload
from curation.foundation.errors import UserError
from curation.models import ImportBatch, UploadDay

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROWS = b"a,b\nx,y\n"


@pytest.fixture(autouse=True)
def small(settings) -> None:
    settings.UPLOADS_PER_DAY_BYTES = 2 * len(ROWS)


def a_file() -> SimpleUploadedFile:
    return SimpleUploadedFile("pairs.csv", ROWS)


def test_the_upload_that_would_be_too_much_is_refused_on_the_form_and_not_kept(
    curator, client_of, dataset, home
) -> None:
    client, address = client_of(curator), f"/datasets/{dataset.slug}/import/"

    answers = [client.post(address, {"file": a_file()}) for _upload in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 200]
    assert "One person can upload 16\xa0bytes a day" in answers[2].content.decode()
    assert ImportBatch.objects.count() == 2
    assert len([path for path in (home / "imports").rglob("*") if path.is_file()]) == 2


def test_a_program_has_the_same_bound_as_its_person(curator, client_of, dataset) -> None:
    client = client_of(curator)
    client.post(f"/datasets/{dataset.slug}/import/", {"file": a_file()})
    address = f"/api/v1/datasets/{dataset.slug}/imports/?filename=pairs.csv"

    answers = [client.post(address, ROWS, content_type="text/csv") for _upload in range(2)]

    assert [answer.status_code for answer in answers] == [201, 400]
    assert "One person can upload" in answers[1].json()["detail"]


def test_a_file_that_was_discarded_counts_and_one_that_was_refused_does_not(curator) -> None:
    upload_count(user=curator, size=10, at=NOON)
    with pytest.raises(UserError):
        upload_count(user=curator, size=7, at=NOON)

    upload_count(user=curator, size=6, at=NOON)

    assert UploadDay.objects.get().size == 16


def test_each_person_has_a_bound_for_each_day(curator, owner) -> None:
    upload_count(user=curator, size=16, at=NOON)
    upload_count(user=owner, size=16, at=NOON)
    upload_count(user=curator, size=16, at=NOON + timedelta(days=1))

    with pytest.raises(UserError, match="Upload it tomorrow"):
        upload_count(user=owner, size=1, at=NOON.replace(hour=23, minute=59))
    assert UploadDay.objects.filter(user=curator).count() == 1


def test_a_command_has_no_bound(dataset) -> None:
    for _upload in range(3):
        import_upload(dataset=dataset, files=[a_file()], by=None)

    assert ImportBatch.objects.count() == 3
