"""People judge over HTTP while programs of the site are killed at random: nothing is lost or assigned twice."""

import json
import os
import random
import time
from collections import Counter
from typing import Any

import pytest

from tests.faults.annotators import Annotator

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

JUDGEMENTS = int(os.environ.get("FAULTS_JUDGEMENTS", "240"))
ANNOTATORS = int(os.environ.get("FAULTS_ANNOTATORS", "8"))
KILLS = int(os.environ.get("FAULTS_KILLS", "6"))
SEED = int(os.environ.get("FAULTS_SEED", "13"))
THINK = float(os.environ.get("FAULTS_THINK", "0.05"))
OF_A_TUPLE = 4
CAMPAIGN = """
import json
from django.utils.timezone import now
from annotation.campaigns.services import campaign_create, campaign_open
from annotation.models import Campaign
from curation.accounts.tokens import api_token_create
from curation.datasets.services import dataset_create
from curation.models import Membership, Pair, Sentence, User
import hashlib
dataset = dataset_create(slug="faults", name="Faults")
texts = [f"Sentence {number} of the test." for number in range(2 * PAIRS)]
sentences = Sentence.objects.bulk_create(
    Sentence(dataset=dataset, text=text, key=hashlib.sha256(text.encode()).hexdigest()) for text in texts
)
Pair.objects.bulk_create(
    Pair(dataset=dataset, external_id=str(n), a=sentences[2 * n], b=sentences[2 * n + 1]) for n in range(PAIRS)
)
campaign = campaign_create(dataset=dataset, name="Faults", guideline="Choose.", judgements_per_tuple=EACH)
Campaign.objects.filter(pk=campaign.pk).update(gold_every=0, repeat_every=0)
campaign = campaign_open(campaign=Campaign.objects.get(pk=campaign.pk), at=now())
tokens = []
for number in range(ANNOTATORS):
    user = User.objects.create(username=f"annotator-{number}")
    Membership.objects.create(dataset=dataset, user=user, role="annotator")
    made = {"name": "judge", "scope": "judge", "expires_at": None, "at": now()}
    tokens.append(api_token_create(user=user, **made))
print(json.dumps({"campaign": campaign.pk, "tuples": campaign.tuples.count(), "tokens": tokens}))
"""


def campaign_made(site) -> dict[str, Any]:
    # Two tuples for each pair, each judged OF_A_TUPLE times.
    numbers = {"PAIRS": max(8, JUDGEMENTS // (2 * OF_A_TUPLE)), "EACH": OF_A_TUPLE, "ANNOTATORS": ANNOTATORS}
    return site.python("\n".join(f"{name} = {value}" for name, value in numbers.items()) + CAMPAIGN)


def faults_made(site, people: list[Annotator], rng: random.Random) -> Counter[str]:
    """So many faults, in random order, spread over the work: the next comes when its share of answers is in."""
    kinds = [
        site.web_process_killed, site.web_killed, site.worker_killed, site.redis_killed, site.redis_emptied,
        site.connections_ended,
    ]  # fmt: skip
    chosen = [kinds[place % len(kinds)] for place in range(KILLS)]
    rng.shuffle(chosen)
    for number, fault in enumerate(chosen):
        due = JUDGEMENTS * (number + rng.random()) / (KILLS + 1)
        while sum(len(each.acknowledged) for each in people) < due and any(
            each.is_alive() for each in people
        ):
            time.sleep(0.02)
        fault(rng)
    return Counter(fault.__name__ for fault in chosen)


def test_no_judgement_is_lost_doubled_or_asked_for_twice(site) -> None:
    made = campaign_made(site)
    people = [
        Annotator(site.port, made["campaign"], token, seed=SEED * 1000 + number, think=THINK)
        for number, token in enumerate(made["tokens"])
    ]
    began = time.monotonic()
    for person in people:
        person.start()

    faults = faults_made(site, people, random.Random(SEED))
    for person in people:
        person.join()

    seconds = time.monotonic() - began
    stored = Counter(str(row[0]) for row in site.rows("SELECT client_id FROM annotation_judgement"))
    acknowledged = [client_id for person in people for client_id in person.acknowledged]
    per_tuple = site.rows(
        "SELECT t.id, t.required, count(j.id) FROM annotation_tuple t LEFT JOIN annotation_judgement j "
        "ON j.tuple_id = t.id AND j.status <> 'excluded' GROUP BY t.id, t.required"
    )
    figures = {
        "judgements": sum(stored.values()),
        "acknowledged": len(acknowledged),
        "lost": len([each for each in acknowledged if each not in stored]),
        "double": len([each for each, count in stored.items() if count > 1])
        + site.row(
            "SELECT count(*) FROM (SELECT 1 FROM annotation_judgement GROUP BY tuple_id, participation_id "
            "HAVING count(*) > 1) AS twice"
        )[0],
        "over-assigned": sum(max(0, count - required) for _tuple, required, count in per_tuple),
        "missing": sum(max(0, required - count) for _tuple, required, count in per_tuple),
        "faults": dict(faults),
        "sent again": sum(person.retries for person in people),
        "hung up": sum(person.hung_up for person in people),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(figures))  # noqa: T201 - the long form's table is made of it
    assert [person.refused for person in people if person.refused] == []
    assert {person.ended for person in people} <= {"judged", "yours"}
    assert (figures["lost"], figures["double"], figures["over-assigned"], figures["missing"]) == (0, 0, 0, 0)
    assert sum(stored.values()) == made["tuples"] * OF_A_TUPLE
    assert sum(faults.values()) == KILLS
