"""The administration: every list opens and is searched at a constant price, and data is only looked at."""

import pytest
from django.contrib import admin as administration
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation import models

pytestmark = pytest.mark.django_db
LISTS = sorted(
    model._meta.model_name for model in administration.site._registry if model._meta.app_label == "curation"
)


def address(model_name: str, *arguments: object, page: str = "changelist") -> str:
    return reverse(f"admin:curation_{model_name}_{page}", args=arguments)


@pytest.mark.parametrize("model_name", LISTS)
def test_a_list_opens_and_is_searched(model_name: str, admin, fill, client_of) -> None:
    fill(2)

    answer = client_of(admin).get(address(model_name), {"q": "pair"})

    assert answer.status_code == 200


@pytest.mark.parametrize("model_name", ["pair", "sentence", "scoreset", "pairscore", "dataset", "user"])
def test_a_list_asks_the_database_as_often_for_many(model_name: str, admin, fill, client_of) -> None:
    client = client_of(admin)

    def queries() -> int:
        client.get(address(model_name))
        with CaptureQueriesContext(connection) as captured:
            client.get(address(model_name))
        return len(captured)

    fill(3)
    few = queries()
    fill(45)

    assert queries() == few


@pytest.mark.parametrize("page", ["change", "delete"])
def test_a_pair_is_neither_changed_nor_deleted_here(page: str, admin, fill, client_of) -> None:
    fill(1)
    pair = models.Pair.objects.get()

    answer = client_of(admin).post(
        address("pair", pair.pk, page=page), {"post": "yes", "source": "elsewhere"}
    )

    assert answer.status_code == 403
    assert models.Pair.objects.get().source == "news"


def test_a_dataset_whose_owners_are_gone_gets_a_new_one_here(admin, dataset, stranger, client_of) -> None:
    given = {
        "name": dataset.name,
        "language": "en",
        "memberships-TOTAL_FORMS": 1,
        "memberships-INITIAL_FORMS": 0,
        "memberships-0-user": stranger.pk,
        "memberships-0-role": "owner",
    }

    answer = client_of(admin).post(address("dataset", dataset.pk, page="change"), given)

    assert answer.status_code == 302
    assert models.Membership.objects.get(dataset=dataset).user == stranger


def test_the_digest_of_an_invitation_is_not_shown(admin, owner, dataset, client_of) -> None:
    invitation = models.Invitation.objects.create(
        dataset=dataset,
        role="owner",
        token_digest="d1935" * 12,
        created_by=owner,
        expires_at="2030-01-01T00:00Z",
    )

    page = client_of(admin).get(address("invitation", invitation.pk, page="change")).content.decode()

    assert invitation.token_digest not in page
