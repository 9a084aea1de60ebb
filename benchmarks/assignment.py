"""Judgements over HTTP in a large campaign, against the same in one of 1,000 tuples.

gunicorn with two workers, the database and the annotators share this machine. First as fast as they can, then fifty
annotators who think for a second: how long they wait for an answer that keeps their judgement and brings the next
tuple. On PostgreSQL where DATABASE_URL names one (a million tuples), on SQLite otherwise (20,000).
"""

import http.client
import json
import os
import threading
from contextlib import contextmanager
from time import perf_counter, sleep
from uuid import uuid4

import _database  # noqa: F401  (importing it makes the installation)
import numpy as np
from _compare import is_quick, print_comparison, rates_compared
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

from annotation.models import Campaign, Tuple, TupleItem
from curation.accounts.tokens import api_token_create
from curation.models import Dataset, Membership, Pair, Sentence, User
from curation.roles import Role, TokenScope
from semblance.serving.processes import Group
from semblance.serving.programs import address_of, answers, listening, web

SMALL, PAIRS, SIZE, AT_ONCE = 1_000, 2_000, 4, 10_000
THINKING, HURRIED, SECONDS_OF_THOUGHT = 50, 8, 1.0
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
    for start in range(0, tuples, AT_ONCE):
        rows = Tuple.objects.bulk_create(
            Tuple(campaign=campaign, number=number + 1, priority=number, required=2)
            for number in range(start, min(tuples, start + AT_ONCE))
        )
        TupleItem.objects.bulk_create(
            (
                TupleItem(tuple=row, slot=slot, pair_id=first + (row.number + slot * PAIRS // SIZE) % PAIRS)
                for row in rows
                for slot in range(SIZE)
            ),
            batch_size=AT_ONCE,
        )
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


def token_made(user: User) -> str:
    return api_token_create(user=user, name="benchmark", scope=TokenScope.JUDGE, expires_at=None, at=now())


class Annotator:
    """A program that judges for one person over one connection."""

    def __init__(self, port: int, campaign: Campaign, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._path = f"/api/v1/campaigns/{campaign.pk}/"
        self._headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        self._lease = self._post("claim/", {})["lease"]

    def judge(self) -> None:
        """Answer what is shown; the same request brings the next tuple."""
        answer = {"lease": self._lease, "best": 0, "worst": 1, "client_id": str(uuid4()), "claim": True}
        self._lease = self._post("judgements/", answer)["next"]["lease"]

    def _post(self, part: str, body: dict) -> dict:
        self._connection.request("POST", self._path + part, json.dumps(body), self._headers)
        response = self._connection.getresponse()
        answer = json.loads(response.read())
        assert response.status == 200, answer
        return answer


def waits(port: int, campaign: Campaign, tokens: list[str], *, seconds: float, thought: float) -> list[float]:
    """Seconds that each judgement of these people took to be answered."""
    people = [Annotator(port, campaign, token) for token in tokens]
    taken: list[float] = []
    end = perf_counter() + seconds

    def work(annotator: Annotator, first: float) -> None:
        sleep(first)
        while perf_counter() < end:
            began = perf_counter()
            annotator.judge()
            taken.append(perf_counter() - began)
            sleep(thought)

    starts = np.linspace(0, thought, len(people), endpoint=False)
    threads = [threading.Thread(target=work, args=pair) for pair in zip(people, starts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


@contextmanager
def served():
    """gunicorn on the benchmark's database; its port."""
    name = settings.DATABASES["default"]["NAME"]
    if POSTGRES:
        os.environ["DATABASE_URL"] = f"{os.environ['DATABASE_URL'].rpartition('/')[0]}/{name}"
        os.environ.update(ALLOWED_HOSTS="127.0.0.1", HTTPS="false")
    connection.close()
    listener = listening("127.0.0.1", 0)
    with Group([web(listener, 2)], folder=settings.BASE_DIR, write=print).running():
        while not answers(address_of(listener)):
            sleep(0.2)
        yield listener.getsockname()[1]


def main() -> None:
    quick = is_quick(__doc__)
    tuples = 20_000 if quick or not POSTGRES else 1_000_000
    seconds, rounds = (3.0, 1) if quick else (15.0, 3)
    dataset = pairs_made()
    tokens = tokens_made(dataset, THINKING)
    campaigns = [campaign_of(dataset, tuples), *(campaign_of(dataset, SMALL) for _ in range(rounds))]
    settle()
    rates: dict[bool, list[float]] = {True: [], False: []}
    thoughtful: dict[bool, list[float]] = {True: [], False: []}
    with served() as port:
        waits(port, campaigns[0], tokens[:HURRIED], seconds=2.0, thought=0.0)  # caches and plans are warm
        for number in range(rounds):
            # Eight hurried people finish the 2,000 judgements of a small campaign within the measured time.
            for campaign, long in ((campaigns[0], seconds), (campaigns[1 + number], min(seconds, 6.0))):
                large = campaign == campaigns[0]
                hurried = waits(port, campaign, tokens[:HURRIED], seconds=long, thought=0.0)
                rates[large].append(len(hurried) / long)
                thoughtful[large] += waits(port, campaign, tokens, seconds=long, thought=SECONDS_OF_THOUGHT)
    late, late_small = (1000 * float(np.percentile(thoughtful[large], 95)) for large in (True, False))
    comparison = rates_compared(
        "assignment",
        work=1,
        unit="judgements/s",
        seconds=1 / max(rates[True]),
        baseline=f"the same among {SMALL:,} tuples",
        baseline_seconds=1 / max(rates[False]),
        notes=f"{tuples:,} tuples on {connection.vendor}, gunicorn with two workers, over HTTP; best of {rounds}. "
        f"{THINKING} annotators who think for a second wait {late:.0f} ms at the 95th percentile for the answer that "
        f"keeps a judgement and brings the next tuple, {late_small:.0f} ms among {SMALL:,} tuples.",
    )
    print_comparison(comparison)


if __name__ == "__main__":
    main()
