"""A dataset full of objects, as `generated_calls` needs it."""

import json
import re
import sys
from dataclasses import asdict
from typing import Any
from uuid import uuid4

from django.core.files.base import ContentFile
from django.utils.timezone import now

from annotation.judging.assignment import participation_join, tuple_claim
from curation.exchange.importing import ImportOptions
from curation.exchange.pool import SentenceOptions
from curation.exchange.sentence_uploads import sentences_add_at_once, sentences_upload
from curation.exchange.uploads import import_check, import_upload
from curation.files.drafts import Columns
from curation.models import PairScore
from mlworkers.models import Run
from tests.factories import GeneratedPairFactory, PairFactory, TupleFactory, token_of
from tests.generated_calls import ROLES, World
from tests.integration.semblance.every_address import ALL, Address
from tests.integration.semblance.objects_of_others import Others

PLACES = ("park", "house", "river", "school", "market", "bridge", "garden", "station")


def world_of(mark: str = "") -> World:
    others = Others(mark)
    owner, slug = others.people["owner"], others.dataset.slug
    pairs = PairFactory.create_batch(6, dataset=others.dataset, split="train", source="news")
    for number, pair in enumerate(pairs):
        PairScore.objects.create(score_set=others.scores, pair=pair, value=number % 5)
    TupleFactory.create_batch(6, campaign=others.campaign)
    files = [ContentFile(b"a,b,score\nA dog.,A cat.,1\nA bird.,A fish.,4\n", "pairs.csv")]
    batch = import_upload(dataset=others.dataset, files=files, by=owner)
    import_check(
        batch=batch, options=ImportOptions(columns=Columns(a="a", b="b", score="score"), header=True)
    )
    texts = "".join(f"A dog runs along the {place} today.\n" for place in PLACES)
    file = ContentFile(texts.encode(), "pool.txt")
    pool = sentences_upload(dataset=others.dataset, file=file, options=SentenceOptions(), by=owner)
    sentences_add_at_once(batch=pool, by=owner)
    # An idle worker would take these up, and find plans that are none.
    Run.objects.filter(dataset=others.dataset, state="running").update(state="failed", finished_at=now())
    leases = []
    for role in ("owner", "superuser"):
        person = participation_join(campaign=others.campaign, user=others.people[role])
        leases.append(tuple_claim(participation=person, at=now()))
    fields = fields_of(others, batch.pk, [pair.pk for pair in pairs])
    fields["lease"] = [lease.pk for lease in leases if lease]
    generated = GeneratedPairFactory.create_batch(4, dataset=others.dataset, p_d=0.4, intended=0.5)
    bodies = bodies_of(fields, [pair.pk for pair in generated])
    tokens = {role: token_of(others.people[role]) for role in ROLES if role in others.people}
    parts = parts_of(others)
    for address in parts:
        if "/imports/{}" in address:
            parts[address] = [slug, batch.pk]
    return World(parts, fields, bodies, tokens)


def parts_of(others: Others) -> dict[str, list[Any]]:
    """By the address with {} for its parts, what stands there."""

    def place(address: Address, name: str) -> Any:
        return "nowhere" if name == "address" else others.value(address.name, address.route, name)

    found = {}
    for address in ALL:
        if address.route.startswith("api/"):
            names = re.findall(r"<(?:\w+:)?(\w+)>", address.route)
            values = [place(address, name) for name in names]
            found[re.sub(r"<[^>]+>", "{}", address.route).strip("/")] = [str(value) for value in values]
    return found


def fields_of(others: Others, batch: int, pairs: list[int]) -> dict[str, list[Any]]:
    """Values of fields and of parameters, by name."""
    slug, scores = others.dataset.slug, others.scores.name
    return {
        "dataset": [slug], "pair": pairs, "score_set": [scores, others.realism.name, others.scores.pk],
        "source": ["news", "run 7"], "split": ["train", "dev"], "best": [0, 2], "worst": [1, 3], "tie": [True, False],
        "client_id": [str(uuid4()), "00000000-0000-0000-0000-000000000001"], "launch": [str(uuid4())],
        "move": ["open", "pause", "close"], "reason": ["broken", "comment"], "kind": ["export_dataset", "import_pairs"],
        "plan": [{"dataset": slug, "format": "csv"}, {"dataset": slug, "batch": batch}], "labeller": ["dice"],
        "strategy": ["overlap", "random"], "count": [1, 3], "seed": [1], "field": ["split", "source", "status"],
        "filter": [{}, {"source": "news"}], "value": ["dev", "", "removed"],
        "pairs": [pairs[:2], [{"a": "One.", "b": "Two."}]],
        "filename": ["a.csv", "a.txt", "a.jsonl", "a.parquet", "a.zip"], "form": ["text", "sentences"],
        "language": ["en", "de"], "format": ["csv", "jsonl", "parquet", "tsv"], "tuples": [2], "most": [1, 10],
        "a": ["a", ""], "b": ["b"], "score": ["score"], "verdict": ["keep", "reject", "correct"], "labels": [scores],
        "against": ["", slug], "threshold": [0.8], "method": ["counting", "bradley_terry"], "low": [0], "high": [100],
        "limit": [1, 5], "offset": [0, 1], "after": [1], "order": ["score", "-score"], "search": ["dog"],
        "generated_pairs": ["all", "reviewed", "none"], "index": list(map(str, pairs[:1])), "train": [0.8],
        "dev": [0.1], "test": [0.1], "first": ["1"], "second": ["2"], "sentence": ["A dog runs."],
        "action": ["pairs_edited"],
        "since": ["2026-01-01"], "until": ["2027-01-01"], "size": [2], "share": [0.5], "frame": ["lowest"],
    }  # fmt: skip


def bodies_of(fields: dict[str, list[Any]], generated: list[int]) -> dict[str, dict[str, Any]]:
    """By the end of an address: a body that it does something with."""
    composed = {"strategy": "overlap", "count": 1, "high": 100}
    edit = {"field": "split", "value": "dev", "filter": {}}
    judgement = {"best": 0, "worst": 1, "client_id": str(uuid4())}
    lease = {"lease": fields["lease"][0]} if fields["lease"] else {}
    campaign = {
        "dataset": fields["dataset"][0],
        "name": "Another",
        "question": "Which?",
        "best_label": "Most",
    }
    return {
        "judgements/": {**judgement, **lease},
        "skip/": {**lease, "reason": "broken"},
        "flag/": {**lease, "reason": "comment", "note": "Both are questions."},
        "review/decisions/": {
            "pair": generated[0],
            "verdict": "keep",
            "client_id": str(uuid4()),
            "reasons": [],
        },
        "compose/": composed,
        "compose/preview/": composed,
        "compose/pairs/": composed,
        "compose/pairs/preview/": composed,
        "edits/": edit,
        "edits/preview/": edit,
        "check/": {"a": "a", "b": "b", "score": "score", "header": "yes"},
        "campaigns/": {**campaign, "worst_label": "Least", "tuple_size": 4, "factor": 1.5},
        "runs/": {"kind": "export_dataset", "plan": {"dataset": fields["dataset"][0], "format": "csv"}},
    }


def print_worlds(number: int) -> None:
    """For a program that shares this database, and no code of Django."""
    json.dump([asdict(world_of(f"-{each + 1}")) for each in range(number)], sys.stdout)
