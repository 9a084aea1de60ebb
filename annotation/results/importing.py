"""Judgements that were made elsewhere, as a closed campaign: its dashboard, its scores and its bundle."""

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import CharField
from django.utils.translation import gettext as _

from annotation.bws.designs.certificate import certify
from annotation.bws.files.judgement_files import JudgementFile
from annotation.bws.judgements import IntArray, Judgements, ranks_within, tuple_numbers
from annotation.models import Campaign, Judgement, Lease, Participation, Tuple, TupleItem
from curation.errors import UserError
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files.pair_cells import holds_two_sentences, two_sentences
from curation.models import Dataset, Pair, User
from curation.pairs.text import normalise

ROWS_AT_ONCE = 2000
LONGEST_NAME = 150
LONGEST_ID = 200
IDS_AT_ONCE = 5000


@dataclass(frozen=True)
class ImportedJudgements:
    """What became of a file. repeated_items, twice_by_one: rows left out, because a tuple of the site holds no
    pair twice and nobody judges a tuple twice. pairs_made: stand-ins for items that no pair had the id of.
    single_texts: how many of these hold one text and not two.
    """

    campaign: Campaign
    items: int
    tuples: int
    judgements: int
    annotators: int
    repeated_items: int
    twice_by_one: int
    pairs_made: int
    single_texts: int


@transaction.atomic
def judgements_record(
    *,
    dataset: Dataset,
    name: str,
    file: JudgementFile,
    sha256: str,
    at: datetime,
    question: str = "",
    by: User | None = None,
) -> ImportedJudgements:
    """Keep finished judgements as a closed campaign; all of them, or none.

    An item is the pair of the dataset with that id. In a dataset without pairs each item becomes one: of two
    texts (`two_sentences`) its two sentences, of a single text a pair of that text with itself. question: what people
    were asked, "" where nobody knows. Where the file names no annotators, the r-th judgement of each tuple is given
    to the r-th of as many people of whom nothing is known, and no page says anything of them one by one.
    Raises UserError where items are unknown, nothing is left, or the file is there already.
    """
    there = Campaign.objects.filter(dataset=dataset, certificate__imported__sha256=sha256).first()
    if there is not None:
        raise UserError(
            _("These judgements are in the dataset already, as the campaign “%(name)s” (number %(number)d)."),
            name=there.name,
            number=there.pk,
        )
    _require_short(name=name, question=question)
    kept, repeated, twice = _keepable(file)
    filed = replace(file, judgements=kept)
    items, made, single = _pairs(dataset, filed)
    campaign = _campaign_written(
        filed, sha256, dataset=dataset, name=name, question=question, opened_at=at, created_by=by
    )
    tuples, slots = _tuples_written(campaign, kept, items)
    people = _people_written(campaign, filed)
    _judgements_written(kept, tuples, slots, people, at)
    written = (len(items), len(np.unique(tuples)), len(kept), len(np.unique(people)))
    return ImportedJudgements(campaign, *written, repeated, twice, made, single)


def _require_short(**texts: str) -> None:
    for name, text in texts.items():
        field = cast("CharField[str, str]", Campaign._meta.get_field(name))
        most = field.max_length or 0
        if len(text) > most:
            sentence = _("The %(field)s has %(n)d characters; at most %(most)d are possible.")
            raise UserError(sentence, field=field.verbose_name, n=len(text), most=most)


def _keepable(file: JudgementFile) -> tuple[Judgements, int, int]:
    """The judgements that the site can hold, with annotators; how many name an item twice, or are a person's second."""
    judged = file.judgements
    if (judged.items < 0).any() or judged.ties.any():
        raise UserError(
            _("The site stores tuples of one size, without ties; import a file without other rows.")
        )
    ordered = np.sort(judged.items, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1) | (judged.best == judged.worst)
    judged = judged.only(~repeated)
    tuples = tuple_numbers(judged.items)
    people = judged.annotators
    if people is None:  # which judgement of its tuple each one is, in the order of the file
        people = np.empty(len(tuples), dtype=np.int64)
        people[np.argsort(tuples, kind="stable")] = ranks_within(np.bincount(tuples))
    judged = replace(judged, annotators=people)
    first = np.zeros(len(judged), dtype=np.bool_)
    first[np.unique(np.column_stack([tuples, people]), axis=0, return_index=True)[1]] = True
    if not first.any():
        raise UserError(_("No judgement of the file can be kept: each names an item twice."))
    return judged.only(first), int(repeated.sum()), int((~first).sum())


def _pairs(dataset: Dataset, file: JudgementFile) -> tuple[dict[int, int], int, int]:
    """From the items that are judged to the pairs' primary keys; how many pairs were made for them, and how many of
    these from a single text.
    """
    judged = np.unique(file.judgements.items).tolist()
    names = {item: file.items[item] for item in judged}
    made = single = 0
    if not Pair.objects.filter(dataset=dataset).exists():
        made = _stand_ins(dataset, list(names.values()))
        single = sum(not holds_two_sentences(name) for name in names.values())
    ids = [_id(name) for name in names.values()]
    known: dict[str, int] = {}
    shared: set[str] = set()
    for start in range(0, len(ids), IDS_AT_ONCE):
        some = Pair.objects.filter(dataset=dataset, external_id__in=ids[start : start + IDS_AT_ONCE])
        for name, pk in some.values_list("external_id", "pk"):
            if known.setdefault(name, pk) != pk:
                shared.add(name)
    if shared:
        sentence = _(
            "%(n)d items are ids that pairs of several sources or splits of “%(dataset)s” have, the first “%(first)s”; "
            "import the judgements into a dataset without pairs."
        )
        raise UserError(sentence, n=len(shared), dataset=dataset.name, first=min(shared)[:80])
    missing = [name for name in names.values() if _id(name) not in known]
    if missing:
        raise UserError(
            _(
                "%(n)d of %(items)d items are no pair of “%(dataset)s”, the first “%(first)s”; "
                "import the pairs with these ids first, or import the judgements into a dataset without pairs."
            ),
            n=len(missing),
            items=len(names),
            dataset=dataset.name,
            first=missing[0][:80],
        )
    return {item: known[_id(name)] for item, name in names.items()}, made, single


def _id(item: str) -> str:
    """The id of the pair that an item names: the item on one line, cut where it is longer than an id may be."""
    name = normalise(item)
    if len(name) <= LONGEST_ID:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:16]
    return f"{name[: LONGEST_ID - 17]}-{digest}"


def _stand_ins(dataset: Dataset, items: Sequence[str]) -> int:
    with TemporaryDirectory(prefix="items-") as folder:
        path = Path(folder) / "items.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "sentence1", "sentence2"])
            writer.writerows([_id(item), *_two_texts(item)] for item in items)
        outcome = pairs_import(dataset=dataset, path=path, options=ImportOptions(source="items"))
    if outcome.rejected:
        error = outcome.errors[0]
        raise UserError(
            _("%(n)d items cannot be pairs, the first on line %(line)d: %(reason)s."),
            n=outcome.rejected,
            line=error.line - 1,
            reason=error.reason,
        )
    return outcome.added


def _two_texts(item: str) -> tuple[str, str]:
    return two_sentences(item) if holds_two_sentences(item) else (item, item)


def _campaign_written(file: JudgementFile, sha256: str, **facts: Any) -> Campaign:
    judged = file.judgements
    tuples = tuple_numbers(judged.items)
    first = np.unique(tuples, return_index=True)[1]
    known, numbers = np.unique(judged.items[first], return_inverse=True)
    factor = len(first) / len(known)
    certificate = certify(
        numbers.reshape(-1, judged.size), len(known), factor=factor, seed=0, algorithm="imported"
    ).as_dict()
    imported = {
        "sha256": sha256,
        "annotators_named": bool(file.annotators),
        "rejected": len(file.rejected),
        "merged_items": file.merged_items,
        "warnings": list(file.warnings),
    }
    return Campaign.objects.create(
        **facts,
        best_label=_("Best"),
        worst_label=_("Worst"),
        tuple_size=judged.size,
        factor=factor,
        judgements_per_tuple=max(1, int(np.median(np.bincount(tuples)))),
        state=Campaign.State.CLOSED,
        certificate=certificate | {"seed": None, "imported": imported},
    )


def _tuples_written(
    campaign: Campaign, judged: Judgements, items: dict[int, int]
) -> tuple[IntArray, IntArray]:
    """The primary key of each judgement's tuple (n,), and its slots in the order of its row (n, k).

    A tuple's slots are the places of its first row; a tuple requires as many judgements as it has.
    """
    sets = tuple_numbers(judged.items)
    first = np.sort(np.unique(sets, return_index=True)[1])
    number = np.empty(len(first), dtype=np.int64)
    number[sets[first]] = np.arange(len(first))
    of = number[sets]
    rows = (
        Tuple(campaign=campaign, number=index + 1, priority=index, required=count, collected=count)
        for index, count in enumerate(np.bincount(of).tolist())
    )
    written = Tuple.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE)
    members = judged.items[first]
    TupleItem.objects.bulk_create(
        (
            TupleItem(tuple=row, slot=slot, pair_id=items[item])
            for row, held in zip(written, members.tolist(), strict=True)
            for slot, item in enumerate(held)
        ),
        batch_size=ROWS_AT_ONCE,
    )
    slots = (members[of][:, None, :] == judged.items[:, :, None]).argmax(axis=2)  # (n, k)
    return np.array([row.pk for row in written], dtype=np.int64)[of], slots


def _people_written(campaign: Campaign, file: JudgementFile) -> IntArray:
    """The participation of each judgement (n,). The accounts cannot log in; a name of the file is their full name."""
    annotators = file.judgements.annotators
    assert annotators is not None  # noqa: S101 - `_keepable` gave everybody a number
    numbers, of = np.unique(annotators, return_inverse=True)
    users = []
    for index, number in enumerate(numbers.tolist(), 1):
        named = file.annotators[number] if file.annotators else _("unknown %(n)d") % {"n": index}
        user = User(
            username=f"import-{campaign.pk}-{index}", first_name=named[:LONGEST_NAME], is_active=False
        )
        user.set_unusable_password()
        users.append(user)
    made = User.objects.bulk_create(users, batch_size=ROWS_AT_ONCE)
    people = Participation.objects.bulk_create(
        (Participation(campaign=campaign, user=user) for user in made), batch_size=ROWS_AT_ONCE
    )
    return np.array([person.pk for person in people], dtype=np.int64)[of]


def _judgements_written(
    judged: Judgements, tuples: IntArray, slots: IntArray, people: IntArray, at: datetime
) -> None:
    """Judgements with their leases: exclusion finds what a person answered by them."""
    rows = [
        {"tuple_id": tuple_pk, "participation_id": person, "order_shown": shown}
        for tuple_pk, person, shown in zip(tuples.tolist(), people.tolist(), slots.tolist(), strict=True)
    ]
    best, worst = (slots[judged.items == chosen[:, None]].tolist() for chosen in (judged.best, judged.worst))
    Judgement.objects.bulk_create(
        (
            Judgement(
                **row,
                best_slot=best[index],
                worst_slot=worst[index],
                client_id=UUID(int=index),
                submitted_at=at,
                status=Judgement.Status.COLLECTED,
            )
            for index, row in enumerate(rows)
        ),
        batch_size=ROWS_AT_ONCE,
    )
    Lease.objects.bulk_create(
        (Lease(**row, state=Lease.State.ANSWERED, claimed_at=at, expires_at=at) for row in rows),
        batch_size=ROWS_AT_ONCE,
    )
