"""A site that people judge on over HTTP, for benchmarks: large campaigns, annotators and their tokens, the programs."""

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from time import sleep
from uuid import uuid4

from django.conf import settings
from django.db import connection, transaction
from django.utils.timezone import now

from annotation.models import Campaign, Tuple, TupleItem
from curation.datasets.rows import numbers_reserve, rows_add
from curation.foundation.roles import Role, TokenScope
from curation.models import Dataset, Membership, Pair, Sentence, User
from curation.people.accounts.tokens import api_token_create
from semblance.serving.processes import Group, Program
from semblance.serving.programs import address_of, answers, listening, web

PAIRS, SIZE, AT_ONCE = 2_000, 4, 100_000
POSTGRES = connection.vendor == "postgresql"


def pairs_made() -> Dataset:
    dataset = Dataset.objects.create(slug="benchmark", name="Benchmark")
    sentences = Sentence.objects.bulk_create(
        Sentence(dataset=dataset, text=f"This is sentence number {number} of many.", key=f"{number:064d}")
        for number in range(2 * PAIRS)
    )
    both = zip(sentences[::2], sentences[1::2], strict=True)
    Pair.objects.bulk_create(
        Pair(dataset=dataset, external_id=str(number), a=a, b=b) for number, (a, b) in enumerate(both)
    )
    return dataset


def campaign_of(dataset: Dataset, tuples: int) -> Campaign:
    """An open campaign. Its design is no good one, which claims and submits do not notice."""
    name = f"{tuples} tuples"
    campaign = Campaign.objects.create(
        dataset=dataset, name=name, state=Campaign.State.OPEN, judgements_per_tuple=2
    )
    first = Pair.objects.filter(dataset=dataset).order_by("pk").values_list("pk", flat=True)[0]
    shared = {"campaign_id": campaign.pk, "required": 2}
    for start in range(0, tuples, AT_ONCE):
        numbers = range(start, min(tuples, start + AT_ONCE))
        with transaction.atomic():
            keys = numbers_reserve(Tuple, len(numbers))
            rows = ((key, number + 1, number) for key, number in zip(keys, numbers, strict=True))
            rows_add(Tuple, shared=shared, columns=("id", "number", "priority"), rows=rows)
            items = (
                (key, slot, first + (number + 1 + slot * PAIRS // SIZE) % PAIRS)
                for key, number in zip(keys, numbers, strict=True)
                for slot in range(SIZE)
            )
            rows_add(TupleItem, shared={}, columns=("tuple_id", "slot", "pair_id"), rows=items)
    return campaign


def settle() -> None:
    """What the database does of itself some minutes after millions of new rows; measured beside it, nothing else is."""
    with connection.cursor() as cursor:
        for statement in ("VACUUM ANALYZE", "CHECKPOINT") if POSTGRES else ("ANALYZE",):
            cursor.execute(statement)


def tokens_made(dataset: Dataset, people: int) -> list[str]:
    users = [User.objects.create(username=f"annotator {number}") for number in range(people)]
    Membership.objects.bulk_create(
        Membership(dataset=dataset, user=user, role=Role.ANNOTATOR) for user in users
    )
    return [token_made(user) for user in users]


def token_made(user: User, scope: TokenScope = TokenScope.JUDGE, *, at: datetime | None = None) -> str:
    return api_token_create(user=user, name="benchmark", scope=scope, expires_at=None, at=at or now())


class Annotator:
    """A program that judges for one person over one connection."""

    def __init__(self, port: int, campaign: Campaign, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._path = f"/api/v1/campaigns/{campaign.pk}/"
        self._headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        self.claim()

    def claim(self) -> None:
        self._lease = self._post("claim/", {})["lease"]

    def judge(self) -> None:
        """Answer what is shown; the same request brings the next tuple."""
        answer = {"lease": self._lease, "best": 0, "worst": 1, "client_id": str(uuid4()), "claim": True}
        self._lease = self._post("judgements/", answer)["next"]["lease"]

    def hang_up(self) -> None:
        """The next request opens a connection: the server closes those that say nothing for two seconds."""
        self._connection.close()

    def _post(self, part: str, body: dict) -> dict:
        self._connection.request("POST", self._path + part, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, answer
        return answer


@contextmanager
def served(*others: Program) -> Iterator[tuple[int, Group]]:
    """gunicorn with two workers, and the other programs, on the benchmark's database: its port, and all programs."""
    name = settings.DATABASES["default"]["NAME"]
    if POSTGRES:
        os.environ["DATABASE_URL"] = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
        os.environ.update(ALLOWED_HOSTS="127.0.0.1", HTTPS="false")
    connection.close()
    listener = listening("127.0.0.1", 0)
    group = Group([web(listener, 2), *others], folder=settings.BASE_DIR, write=print)
    with group.running():
        while not answers(address_of(listener)):
            sleep(0.2)
        yield listener.getsockname()[1], group
