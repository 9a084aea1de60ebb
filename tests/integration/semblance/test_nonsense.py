"""Nonsense from outside is refused, or is ignored: no address answers it with an error of the server.

A walk through the resolver finds every address. Each gets nonsense in its path, in each parameter that it reads, in
each field of its form and in each field of its JSON, one at a time, while all else is as it should be. A place gets two
kinds of nonsense, by turns; all of them where ALL_NONSENSE is set (`make attack`).
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID, uuid4
from zlib import crc32

import pytest
import yaml
from django.conf import settings
from django.core.files.base import ContentFile
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern
from django.utils.timezone import now

from annotation.judging.assignment import participation_join, tuple_claim
from curation.datasets.selectors import PairFilter
from curation.exchange.exporting import snapshot_create
from curation.exchange.importing import ImportOptions
from curation.exchange.pool import SentenceOptions, sentences_import
from curation.exchange.uploads import import_check, import_upload
from curation.models import User
from curation.people.members import invitation_create
from curation.review.queue import Queue
from curation.review.verdicts import review_decide
from mlworkers.plans.kinds import KINDS
from tests.conftest import rolled_back
from tests.factories import (
    ArtifactFactory,
    CampaignFactory,
    DatasetFactory,
    EvaluationFactory,
    FlagFactory,
    GeneratedPairFactory,
    GoldFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    UserFactory,
)

NONSENSE = {
    "a NUL": "x\0y",
    "5,000 digits": "9" * 5000,
    "30 digits": "9" * 30,
    "19 digits": "9" * 19,
    "negative": "-1",
    "a float": "1e400",
    "half a character": "\udc80",
    "long": "word " * 2000,
}
IN_JSON = {
    **NONSENSE,
    "a long number": 10**4000,
    "a negative number": -1,
    "a large float": 1e300,
    "a list": [[{}]],
    "an object": {"\0": None},
    "nothing": None,
}


@dataclass
class World:
    """One of everything, which `client` may all read and change. given: what addresses and forms ask for, rightly."""

    client: Client
    given: dict[str, Any]
    home: Path
    addresses: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[World]:
    with rolled_back(django_db_blocker), override_settings(SEMBLANCE_HOME=tmp_path_factory.mktemp("world")):
        yield made_world()


@pytest.fixture(autouse=True)
def within_the_world(db, home, world, settings) -> None:
    settings.SEMBLANCE_HOME = world.home
    world.client.force_login(User.objects.get(username="owner"))


def made_world() -> World:
    owner = UserFactory(username="owner", is_staff=True, is_superuser=True)
    dataset = DatasetFactory(slug="scenes")
    membership = MembershipFactory(dataset=dataset, user=owner, role="owner")
    MembershipFactory(dataset=dataset)
    pair, other = PairFactory.create_batch(2, dataset=dataset)
    generated, decided = GeneratedPairFactory.create_batch(2, dataset=dataset, p_d=0.2, intended=0.5)
    score_set = ScoreSetFactory(dataset=dataset)
    realism = dataset.score_sets.get(kind="realism")
    campaign = CampaignFactory(dataset=dataset, tuples=2)
    gold = GoldFactory(campaign=campaign)
    person = participation_join(campaign=campaign, user=owner)
    lease = tuple_claim(participation=person, at=now())
    flag = FlagFactory(tuple=campaign.tuples.first())
    run = RunFactory(dataset=dataset, state="failed", started_by=owner)
    artifact = ArtifactFactory(run__dataset=dataset)
    comparison = RunFactory(dataset=dataset, kind="compare_weightings", state="succeeded")
    relation = RunFactory(
        dataset=None,
        kind="relate_sentences",
        started_by=owner,
        state="succeeded",
        plan={"first": "A dog.", "second": "A cat.", "artifact": 0},
        result={"cosine": 0.5, "pairs": 2, "below": 1},
    )
    trial = RunFactory(
        dataset=None,
        kind="try_paraphraser",
        started_by=owner,
        state="succeeded",
        plan={
            "source": "A dog.",
            "similarity": "SIM95",
            "bleu": "BLEU20",
            "model": "run:1",
            "labeller": "run:2",
        },
        result={"paraphrases": []},
    )
    EvaluationFactory(run__dataset=dataset)
    batch = import_upload(dataset=dataset, files=[ContentFile(b"a,b\nOne.,Two.\n", "pairs.csv")], by=owner)
    import_check(batch=batch, options=ImportOptions())
    snapshot_create(dataset=dataset, by=owner)
    pool = settings.SEMBLANCE_HOME / "pool.txt"
    pool.write_text("\n".join(f"A dog runs along the {wall} wall today." for wall in ("old", "red", "long")))
    sentences_import(dataset=dataset, path=pool, options=SentenceOptions(), by=owner)
    decision = review_decide(
        pair=decided, queue=Queue(realism), by=owner, at=now(), verdict="keep", client_id=uuid4()
    )
    _made, token = invitation_create(dataset=dataset, role="curator", people=2, days=2, by=owner, at=now())
    rows = {"run": run, "artifact": artifact, "comparison": comparison, "relation": relation, "trial": trial}
    pks = SimpleNamespace(**{name: row.pk for name, row in rows.items()})
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    given = {
        "slug": dataset.slug, "dataset": dataset.slug, "pair_pk": pair.pk, "batch_pk": batch.pk, "number": 1,
        "member_pk": membership.pk, "invitation_pk": dataset.invitations.get().pk, "token": token,
        "decision_pk": decision.pk, "score_set_pk": score_set.pk, "campaign_pk": campaign.pk,
        "person_pk": person.pk, "flag_pk": flag.pk, "tuple_pk": gold.pk, "client_id": str(uuid4()),
        "pk": pks, "artifact_pk": artifact.pk, "address": "x", "app_label": "curation", "object_id": dataset.pk,
        "url": "x", "content_type_id": 1, "kind": "export_dataset", "name": "A name", "lease": lease.pk,
        "best": 0, "worst": 1, "verdict": "keep", "pair": generated.pk, "reasons": "grammar", "score_set": "",
        "role": "curator", "people": 1, "days": 3, "launch": str(uuid4()), "format": "csv", "again": run.pk,
        "version": 1, "page": 1, "search": "dog", "source": "", "split": "", "origin": "", "status": "",
        "order": "", "low": 0, "high": 1, "set": realism.pk, "share": 1.0, "move": "pause", "reason": "broken",
        "first": "A dog.", "second": "A cat.", "artifact": artifact.pk, "run": run.pk, "limit": 5, "offset": 0,
        "question": "Which?", "best_label": "Most", "worst_label": "Least", "tuple_size": 4, "factor": 1.5,
        "judgements_per_tuple": 1, "gold_every": 10, "gold_minimum": 5, "gold_threshold": 0.5,
        "repeat_every": 0, "seed": 1, "judgements": 5, "method": "counting", "seconds": 20, "text": "A text.",
        "pairs": f"{pair.pk},{other.pk}", "language": "en", "description": "", "licence": "",
        "source_address": "", "header": "yes", "delimiter": ",", "a": 0, "b": 1,
    }  # fmt: skip
    return World(client, given, settings.SEMBLANCE_HOME, list(addresses(get_resolver().url_patterns, given)))


def addresses(
    patterns: list[URLPattern | URLResolver], given: dict[str, Any], before: str = "", names: Any = ()
) -> Iterator[tuple[str, dict[str, str]]]:
    """Every address as a text with its parts in braces, and the parts as they should be."""
    for each in patterns:
        text, parts = template_of(each)
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, given, before + text, (*names, *parts))
        else:
            whole = before + text
            yield whole, {name: part_of(whole, name, given) for name in (*names, *parts)}


def template_of(each: URLPattern | URLResolver) -> tuple[str, list[str]]:
    pattern = each.pattern
    if isinstance(pattern, RegexPattern):
        text, names = str(pattern).removeprefix("^").removesuffix("$"), list(pattern.regex.groupindex)
        for name in names:
            start = text.index(f"(?P<{name}>")
            text = text[:start] + f"{{{name}}}" + text[text.index(")", start) + 1 :]
        return text.replace("\\.", ".").replace("/?", "/"), names
    text = str(pattern)
    for name in pattern.converters:
        begin = text.index("<")
        text = text[:begin] + f"{{{name}}}" + text[text.index(">") + 1 :]
    return text, list(pattern.converters)


def part_of(whole: str, name: str, given: dict[str, Any]) -> str:
    if name != "pk":
        return str(given.get(name, "1"))
    kinds = {
        "compare/": "comparison",
        "models/related/": "relation",
        "models/paraphrased/": "trial",
        "models/": "artifact",
    }
    kind = next((kind for start, kind in kinds.items() if whole.startswith(start)), "run")
    return str(getattr(given["pk"], kind))


def asked(client: Client, method: str, path: str, body: bytes = b"", kind: str = "") -> HttpResponse:
    """The answer. What the request changed is undone; after a logout, the client is logged in again."""
    cookies = copy(client.cookies)
    try:
        with transaction.atomic():
            answer = client.generic(method, path, body, kind or "application/octet-stream")
            for _block in answer.streaming_content if answer.streaming else ():
                pass
            for (
                close
            ) in answer._resource_closers:  # without the signal of close(), which would close the database
                close()
            raise UndoneError
    except UndoneError:
        client.cookies = cookies
        return answer


class UndoneError(Exception):
    pass


@contextmanager
def names_read(monkeypatch) -> Iterator[set[str]]:
    """The names under which the view looks into what was sent; Django's own parsing, before that, asks for all."""
    names: set[str] = set()
    with monkeypatch.context() as patched:
        for method in ("__getitem__", "get", "getlist", "__contains__"):
            original = getattr(QueryDict, method)

            def recording(self, key, *more, original=original):
                if not self._mutable:
                    names.add(key)
                return original(self, key, *more)

            patched.setattr(QueryDict, method, recording)
        yield names


def is_api(whole: str) -> bool:
    return whole.startswith("api/")


def is_ours(whole: str) -> bool:
    return not whole.startswith("admin/")


LEFT_OUT = {"csrfmiddlewaretoken", "next"}


@pytest.mark.exhaustive
def test_no_path_with_nonsense_is_an_error_of_the_server(world) -> None:
    broken = {}
    for whole, parts in world.addresses:
        for name in parts:
            for what, value in some_nonsense(whole + name):
                path = "/" + whole.format(**parts | {name: quote(value, safe="", errors="surrogatepass")})
                answer = asked(world.client, "GET", path)
                if answer.status_code == 405:
                    answer = asked(world.client, "POST", path)
                if answer.status_code >= 500:
                    broken[whole, what] = answer.status_code

    assert broken == {}


@pytest.mark.exhaustive
def test_no_query_with_nonsense_is_an_error_of_the_server(world, monkeypatch) -> None:
    broken, tried = {}, 0
    for whole, parts in world.addresses:
        if not is_ours(whole):
            continue
        path = "/" + whole.format(**parts)
        with names_read(monkeypatch) as names:
            right = asked(world.client, "GET", path + "?dataset=scenes")
        if right.status_code == 405:
            continue
        for name in sorted(names - LEFT_OUT | {"anything"}):
            for what, value in some_nonsense(whole + name):
                query = {"dataset": "scenes", name: value} if "dataset" in names else {name: value}
                answer = asked(world.client, "GET", f"{path}?{urlencode(query, errors='surrogatepass')}")
                tried += 1
                if answer.status_code >= 500:
                    broken[f"{whole}?{name}", what] = answer.status_code

    assert broken == {}
    assert tried > 200


@pytest.mark.exhaustive
def test_no_form_with_nonsense_is_an_error_of_the_server(world, monkeypatch) -> None:
    broken, tried = {}, 0
    for whole, parts in world.addresses:
        if is_api(whole) or not is_ours(whole) or "start/{kind}" in whole:
            continue
        for wrong, what, status in forms_refused(world, "/" + whole.format(**parts), monkeypatch):
            tried += 1
            if status >= 500:
                broken[f"{whole} {wrong}", what] = status

    assert broken == {}
    assert tried > 200
    # Somebody who is logged out in the middle of the walk would meet no form after it.
    assert world.client.get("/datasets/").status_code == 200


@pytest.mark.parametrize("kind", sorted(name for name, kind in KINDS.items() if kind.listed))
@pytest.mark.exhaustive
def test_no_plan_with_nonsense_is_an_error_of_the_server(world, kind, monkeypatch) -> None:
    refused = list(forms_refused(world, f"/runs/start/{kind}/", monkeypatch, kinds=1))

    assert [(name, what) for name, what, status in refused if status >= 500] == []
    assert refused


def forms_refused(world: World, path: str, monkeypatch, *, kinds: int = 2) -> Iterator[tuple[str, str, int]]:
    """Each field that the form has, what was wrong with it, and the status of the answer."""
    right = {name: str(value) for name, value in world.given.items() if name != "pk"}
    with names_read(monkeypatch) as names:
        answer = asked(world.client, "POST", path, *form_of(right))
    if answer.status_code == 405:
        return
    for name in sorted(names - LEFT_OUT | {"anything"}):
        for what, value in some_nonsense(path + name, most=kinds):
            yield name, what, asked(world.client, "POST", path, *form_of(right | {name: value})).status_code


def some_nonsense(place: str, kinds: dict[str, Any] = NONSENSE, *, most: int = 2) -> list[tuple[str, Any]]:
    """One kind in turn, and a number beyond a database's if most is 2: all kinds everywhere take minutes."""
    if os.environ.get("ALL_NONSENSE"):
        return list(kinds.items())
    others = [what for what in kinds if what != "19 digits"]
    chosen = others[crc32(place.encode()) % len(others)]
    return [(chosen, kinds[chosen]), ("19 digits", kinds["19 digits"])][:most]


def form_of(fields: dict[str, str]) -> tuple[bytes, str]:
    return urlencode(fields, errors="surrogatepass").encode(), "application/x-www-form-urlencoded"


def pattern_of(template: str) -> str:
    """An address of the API, whatever the parts of it are called."""
    return re.sub(r"{\w+}", "{}", template.removeprefix("/"))


def bodies_described() -> Iterator[tuple[str, list[str], list[str]]]:
    """Each address that takes a body, the fields of its JSON, and for a file those of its query: as the schema says.

    A test of its own compares docs/openapi.yaml with the code.
    """
    schema = yaml.load((settings.BASE_DIR / "docs/openapi.yaml").read_text("utf-8"), Loader=yaml.CSafeLoader)
    for path, methods in schema["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {})
        described = body.get("application/json", {}).get("schema", {})
        while name := described.get("$ref"):
            described = schema["components"]["schemas"][name.rsplit("/", 1)[1]]
        asked_for = [
            each["name"] for each in methods.get("post", {}).get("parameters", []) if each["in"] == "query"
        ]
        if body:
            yield pattern_of(path), list(described.get("properties", {})), asked_for


def right_bodies(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By the end of an address: what it does something with. Fields that are not here have a value beforehand."""
    judgement = {name: given[name] for name in ("lease", "best", "worst", "client_id")}
    decision = {name: given[name] for name in ("pair", "verdict", "client_id")}
    a, b = "A dog runs along the red fence.", "A dog runs along the old wall."
    return {
        "judgements/": judgement,
        "review/decisions/": decision | {"reasons": []},
        "compose/": {"strategy": "overlap", "count": 1, "high": 100},
        "compose/preview/": {"strategy": "overlap", "count": 1, "high": 100},
        "compose/pairs/": {"strategy": "overlap", "count": 1, "high": 100},
        "compose/pairs/preview/": {"strategy": "overlap", "count": 1, "high": 100},
        "edits/": {"field": "split", "value": "dev", "filter": {}},
        "edits/preview/": {"field": "split", "value": "dev", "filter": {}},
        "pairs/": {"pairs": [{"a": a, "b": b}]},
        "runs/": {"kind": "export_dataset", "plan": {"dataset": given["dataset"]}},
    }


def end_of(address: str, right_of: dict[str, dict[str, Any]]) -> str:
    """The longest end of the address for which there is a body; "" where there is none."""
    return max((end for end in right_of if address.endswith(f"/{end}")), key=len, default="")


# What stands inside a field of a body, by the end of the address and the name of the field.
INSIDE = {
    ("edits/", "filter"): [field.name for field in fields(PairFilter)],
    ("pairs/", "pairs"): ["external_id", "a", "b", "score", "source", "subset", "split"],
    ("runs/", "plan"): [field.name for field in fields(KINDS["export_dataset"].plan)],
}


def wrong_bodies(
    whole: str, end: str, right: dict[str, Any], names: list[str]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The field that is wrong, in what way, and the body."""
    for name in [*names, "anything"]:
        for what, value in some_nonsense(whole + name, IN_JSON):
            yield name, what, right | {name: value}
    for (address, name), inner in INSIDE.items():
        if address != end:
            continue
        before = right[name]
        for each in [*inner, "anything"]:
            for what, value in some_nonsense(f"{whole}{name}.{each}", IN_JSON):
                changed = [before[0] | {each: value}] if isinstance(before, list) else before | {each: value}
                yield f"{name}.{each}", what, right | {name: changed}


@pytest.mark.exhaustive
def test_no_body_of_the_api_with_nonsense_is_an_error_of_the_server(world) -> None:
    described = {pattern: names for pattern, names, _query in bodies_described()}
    right_of = right_bodies(world.given)
    broken, tried, met = {}, 0, set()
    for whole, parts in world.addresses:
        if not is_api(whole):
            continue
        path, end = "/" + whole.format(**parts), end_of(whole, right_of)
        met.add(pattern_of(whole))
        for name, what, body in wrong_bodies(
            whole, end, right_of.get(end, {}), described.get(pattern_of(whole), [])
        ):
            answer = asked(world.client, "POST", path, json.dumps(body).encode(), "application/json")
            tried += 1
            if answer.status_code >= 500:
                broken[f"{whole} {name}", what] = answer.status_code
        for what, body in {"5,000 digits": b'{"lease": ' + b"9" * 5000 + b"}", "a number": b"1"}.items():
            answer = asked(world.client, "POST", path, body, "application/json")
            if answer.status_code >= 500:
                broken[whole, what] = answer.status_code

    assert broken == {}
    assert tried > 200
    assert described.keys() <= met


def test_what_the_walk_sends_to_the_api_is_right_but_for_the_nonsense(world) -> None:
    """A body that is refused for another reason would hide what nonsense does."""
    described = {pattern for pattern, _names, _query in bodies_described()}
    right_of = right_bodies(world.given)
    refused = {}
    for whole, parts in world.addresses:
        end = end_of(whole, right_of)
        if is_api(whole) and end and pattern_of(whole) in described:
            path, body = "/" + whole.format(**parts), json.dumps(right_of[end]).encode()
            answer = asked(world.client, "POST", path, body, "application/json")
            if answer.status_code >= 400:
                refused[whole] = answer.content

    assert refused == {}


FILES = {
    "nothing": b"",
    "NULs": b"\0" * 1000,
    "half a gzip": b"\x1f\x8b\x08\0" + b"x" * 100,
    "half a zip": b"PK\x03\x04" + b"x" * 100,
    "half a Parquet file": b"PAR1" + b"x" * 100,
    "no text": bytes(range(256)) * 4,
    "half of UTF-16": b"\xff\xfeA",
    "open quotes": b'"a,b\n' * 100,
    "a deep list": b"[" * 100_000,
}


@pytest.mark.exhaustive
def test_no_file_for_the_api_with_nonsense_is_an_error_of_the_server(world) -> None:
    of_files = {pattern: query for pattern, names, query in bodies_described() if not names and query}
    broken, tried = {}, 0
    for whole, parts in world.addresses:
        for name in of_files.get(pattern_of(whole), []):
            for what, value in NONSENSE.items():
                query = urlencode({"filename": "a.csv", name: value}, errors="surrogatepass")
                answer = asked(world.client, "POST", f"/{whole.format(**parts)}?{query}", b"a,b\nOne.,Two.\n")
                tried += 1
                if answer.status_code >= 500:
                    broken[f"{whole}?{name}", what] = answer.status_code
        for name in (
            ("a.csv", "a.jsonl", "a.parquet", "a.txt", "a.gz", "a.zip")
            if pattern_of(whole) in of_files
            else ()
        ):
            for what, body in FILES.items():
                answer = asked(world.client, "POST", f"/{whole.format(**parts)}?filename={name}", body)
                tried += 1
                if answer.status_code >= 500:
                    broken[f"{whole} {name}", what] = answer.status_code

    assert broken == {}
    assert tried > 100


def test_a_form_of_the_api_with_a_nul_is_refused_in_a_sentence(world) -> None:
    body, kind = form_of({"client_id": str(UUID(int=1)), "note": "x\0y"})

    answer = asked(world.client, "POST", "/api/v1/datasets/scenes/review/decisions/", body, kind)

    assert answer.status_code == 400
    assert "NUL" in answer.json()["detail"]


def test_a_file_may_hold_a_nul_and_the_fields_beside_it_may_not(world) -> None:
    fields = {"file": ContentFile(b"a,b\nOne\0.,Two.\n", "pairs.csv")}

    taken = world.client.post("/datasets/scenes/import/", fields)
    refused = world.client.post("/datasets/scenes/import/", {**fields, "note": "x\0y"})

    assert taken.status_code == 302
    assert refused.status_code == 400
    assert "NUL" in refused.content.decode()
