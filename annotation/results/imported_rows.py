"""The rows of a campaign whose judgements were made elsewhere: those that judging would have written."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from django.db.models import Model
from django.utils.translation import gettext as _

from annotation.bws.designs.certificate import certify
from annotation.bws.files.judgement_files import JudgementFile
from annotation.bws.judgements import IntArray, Judgements, tuple_numbers
from annotation.models import Campaign, Judgement, Lease, Participation, Tuple, TupleItem
from curation.files.progress import Report
from curation.models import User

ROWS_AT_ONCE = 2000
LONGEST_NAME = 150
Row = TypeVar("Row", bound=Model)


def campaign_written(
    file: JudgementFile, sha256: str, pairs: dict[int, int], report: Report, **facts: Any
) -> Campaign:
    """Write a closed campaign with the judgements of a file, each with an annotator; it writes in pieces of one
    transaction, which the caller holds.

    pairs: from the items to the primary keys of their pairs. facts: the campaign's other fields.
    """
    campaign = _campaign_made(file, sha256, **facts)
    tuples, slots = _tuples_written(campaign, file.judgements, pairs, report)
    # The participation of each judgement (n,). The accounts cannot log in; a name of the file is their full name.
    annotators = file.judgements.annotators
    assert annotators is not None  # noqa: S101 - `_recordable` in importing.py gave everybody a number
    numbers, of_annotators = np.unique(annotators, return_inverse=True)
    users = []
    for index, number in enumerate(numbers.tolist(), 1):
        known = number < len(file.annotators)
        named = file.annotators[number] if known else _("unknown %(n)d") % {"n": index}
        user = User(
            username=f"import-{campaign.pk}-{index}", first_name=named[:LONGEST_NAME], is_active=False
        )
        user.set_unusable_password()
        users.append(user)
    accounts = User.objects.bulk_create(users, batch_size=ROWS_AT_ONCE)
    joined = Participation.objects.bulk_create(
        (Participation(campaign=campaign, user=user) for user in accounts), batch_size=ROWS_AT_ONCE
    )
    people = np.array([person.pk for person in joined], dtype=np.int64)[of_annotators]
    judged = file.judgements
    whose = zip(tuples.tolist(), people.tolist(), slots.tolist(), judged.sizes.tolist(), strict=True)
    rows = [
        {"tuple_id": tuple_pk, "participation_id": person, "order_shown": shown[:size]}
        for tuple_pk, person, shown, size in whose
    ]
    chosen = np.full((len(judged), 2), -1, dtype=np.int64)
    ordered = judged.only(~judged.ties)
    for column, items in enumerate((ordered.best, ordered.worst)):
        chosen[~judged.ties, column] = slots[~judged.ties][ordered.items == items[:, None]]

    # Judgements with their leases: exclusion finds what a person answered by them.
    at = facts["opened_at"]
    judgements = (
        Judgement(
            **row,
            best_slot=None if best < 0 else best,
            worst_slot=None if worst < 0 else worst,
            client_id=UUID(int=index),
            submitted_at=at,
            status=Judgement.Status.COLLECTED,
        )
        for index, (row, (best, worst)) in enumerate(zip(rows, chosen.tolist(), strict=True))
    )
    _written(judgements, len(rows), report, _("Writing judgements"))
    leases = (Lease(**row, state=Lease.State.ANSWERED, claimed_at=at, expires_at=at) for row in rows)
    _written(leases, len(rows), report, _("Writing who answered what"))

    return campaign


def _campaign_made(file: JudgementFile, sha256: str, **facts: Any) -> Campaign:
    judged = file.judgements
    tuples = tuple_numbers(judged.items)
    first = np.unique(tuples, return_index=True)[1]
    members = judged.items[first]  # (T, k)
    known = np.unique(members[members >= 0])
    numbers = np.where(members < 0, -1, np.searchsorted(known, members))
    factor = len(first) / len(known)
    certificate = certify(numbers, len(known), factor=factor, seed=0, algorithm="imported").as_dict()
    imported = {
        "sha256": sha256,
        "annotators_named": bool(file.annotators),
        "rejected": len(file.rejected),
        "merged_items": file.merged_items,
        "smaller_tuples": int((members < 0).any(axis=1).sum()),
        "warnings": [notice.fact for notice in file.notices],
    }
    return Campaign.objects.create(
        **facts,
        best_label=_("Best"),
        worst_label=_("Worst"),
        tuple_size=judged.size,
        factor=factor,
        judgements_per_tuple=max(1, int(np.median(np.bincount(tuples)))),
        allows_ties=bool(judged.ties.any()),
        state=Campaign.State.CLOSED,
        certificate=certificate | {"seed": None, "imported": imported},
    )


def _tuples_written(
    campaign: Campaign, judged: Judgements, pairs: dict[int, int], report: Report
) -> tuple[IntArray, IntArray]:
    """The primary key of each judgement's tuple (n,), and its slots in the order of its row (n, k); in a smaller row,
    those beyond its items mean nothing.

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
    held = (
        TupleItem(tuple=row, slot=slot, pair_id=pairs[item])
        for row, items in zip(written, members.tolist(), strict=True)
        for slot, item in enumerate(items)
        if item >= 0
    )
    _written(held, int((members >= 0).sum()), report, _("Writing tuples"))
    slots = (members[of][:, None, :] == judged.items[:, :, None]).argmax(axis=2)  # (n, k)
    return np.array([row.pk for row in written], dtype=np.int64)[of], slots


def _written(rows: Iterator[Row], total: int, report: Report, message: str) -> None:
    """Write rows of one table in pieces, so that the report hears how many are done."""
    done = 0
    while piece := list(islice(rows, ROWS_AT_ONCE)):
        type(piece[0])._default_manager.bulk_create(piece)
        done += len(piece)
        report(done, total, message)
