"""An owner names objects of somebody else's dataset in bodies and queries under their own, by session and token."""

import json

import pytest
from django.test import Client

from tests.factories import client_of, token_of
from tests.integration.semblance.every_address import ALL, asked, path_of
from tests.integration.semblance.objects_of_others import Others

pytestmark = pytest.mark.django_db
# What bodies and queries name by number.
NAMED = ("score_set", "pair", "pairs", "lease", "sentence", "against", "index", "labeller")


@pytest.fixture
def both() -> tuple[Others, Others]:
    """Mine, and theirs with a set of scores and sentences that I must not read."""
    mine, theirs = Others("-mine"), Others("-theirs")
    theirs.scores.name = "THEIR SECRET"
    theirs.scores.save()
    type(theirs.pair.a).objects.filter(pk__in=[theirs.pair.a_id, theirs.pair.b_id]).update(
        text="THEIR SECRET"
    )
    return mine, theirs


def numbers_of(theirs: Others) -> dict[str, object]:
    """Their number for each name that a body or query of ours could have."""
    own = {
        "score_set": theirs.scores.pk,
        "pair": theirs.pair.pk,
        "pairs": [theirs.pair.pk],
        "lease": theirs.bodies["api_judgements"]["lease"],
        "sentence": theirs.pair.a_id,
    }
    return {name: own.get(name, theirs.model.pk) for name in NAMED}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("method", "by"), [("GET", "session"), ("POST", "token")])
def test_nothing_of_another_dataset_is_read_or_named_by_its_number(both, method: str, by: str) -> None:
    mine, theirs = both
    owner, client = mine.people["owner"], Client()
    if by == "session":
        client.force_login(owner)
    else:
        client.defaults["HTTP_AUTHORIZATION"] = f"Token {token_of(owner, 'write')}"
    numbers, broken, tried = numbers_of(theirs), [], 0
    for address in ALL:
        if method not in address.programs or "<" not in address.route or "admin" in address.route:
            continue
        path = path_of(address, mine)
        for name, number in numbers.items():
            text = number[0] if isinstance(number, list) else number
            own = mine.bodies.get(address.name, {})
            answer = asked(client, method, f"{path}?{name}={text}", {**own, name: number})
            tried += 1
            content = b"" if answer.streaming else answer.content
            if answer.status_code >= 500 or b"THEIR SECRET" in content:
                broken.append((method, path, name, answer.status_code))

    assert tried > 100
    assert broken == []


def test_an_edit_takes_the_pairs_of_its_own_dataset_alone(both) -> None:
    mine, theirs = both
    client, address = Client(), f"/api/v1/datasets/{mine.dataset.slug}/edits/"
    client.force_login(mine.people["owner"])
    told = theirs.pair.split

    for pair in (mine.pair, theirs.pair):
        body = {"field": "split", "value": "dev", "pairs": [pair.pk], "leaks": "allow"}
        client.post(address, json.dumps(body), "application/json")
        pair.refresh_from_db()

    assert (mine.pair.split, theirs.pair.split) == ("dev", told)
    assert told != "dev"


def test_a_lease_of_another_campaign_is_answered_under_none_of_ours(both) -> None:
    mine, theirs = both
    client = client_of(mine.people["annotator"])

    answer = client.post(
        f"/api/v1/campaigns/{mine.campaign.pk}/judgements/",
        json.dumps(theirs.bodies["api_judgements"]),
        "application/json",
    )

    assert 400 <= answer.status_code < 500
    assert not theirs.campaign.tuples.filter(judgements__isnull=False).exists()
