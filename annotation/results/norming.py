"""What came of a norming session: who chose what, what they said, and agreement before and after."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from django.db.models import Count
from django.utils.translation import gettext as _

from annotation.bws.annotators.norming import NormingAgreement, NormingAnswers, norming_agreement
from annotation.models import Campaign, NormingComment, NormingJudgement, NormingSession, NormingTuple
from curation.models import Pair


class NormingCard(NamedTuple):
    """A pair of a tuple, and who chose it: pseudonyms, before the discussion and after it. mine: your own choices."""

    number: int
    pair: Pair
    best: list[str]
    worst: list[str]
    best_after: list[str]
    worst_after: list[str]


class NormingRow(NamedTuple):
    """ties: who found the pairs too close to call."""

    row: NormingTuple
    cards: list[NormingCard]
    ties: list[str]
    ties_after: list[str]
    comments: list[tuple[str, NormingComment]]


def norming_rows(session: NormingSession, names: Mapping[int, str]) -> list[NormingRow]:
    """The session's tuples with how everybody judged. What people chose after the discussion is there once the session
    is closed, so that nobody follows the others. names: pseudonyms by participation. A few queries.
    """
    closed = session.state == NormingSession.State.CLOSED
    chosen: dict[tuple[int, int, str, int | None], list[str]] = defaultdict(list)
    judged = NormingJudgement.objects.filter(tuple__session=session, round__lte=2 if closed else 1)
    for each in sorted(judged, key=lambda row: names.get(row.participation_id, "")):
        for role, slot in (("best", each.best_slot), ("worst", each.worst_slot)):
            chosen[each.tuple_id, each.round, role, slot].append(names.get(each.participation_id, ""))
    comments: dict[int, list[tuple[str, NormingComment]]] = defaultdict(list)
    for comment in NormingComment.objects.filter(tuple__session=session):
        name = names.get(comment.participation_id, _("Somebody who did not answer"))
        comments[comment.tuple_id].append((name, comment))
    rows = []
    for row in session.tuples.prefetch_related("items__pair__a", "items__pair__b"):
        cards = [
            NormingCard(
                item.slot + 1,
                item.pair,
                *(chosen[row.pk, number, role, item.slot] for number in (1, 2) for role in ("best", "worst")),
            )
            for item in row.items.all()
        ]
        ties = [chosen[row.pk, number, "best", None] for number in (1, 2)]
        rows.append(NormingRow(row, cards, ties[0], ties[1], comments[row.pk]))
    return rows


def norming_answers(session: NormingSession) -> NormingAnswers:
    """The answers as arrays, one row for each tuple and person of the first round."""
    places = {pk: place for place, pk in enumerate(session.tuples.values_list("pk", flat=True))}
    rows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    judged = NormingJudgement.objects.filter(tuple__session=session).order_by("round", "pk")
    for each in judged:
        cell = rows.setdefault((places[each.tuple_id], each.participation_id), [(-1, -1), (-1, -1)])
        if each.best_slot is not None and each.worst_slot is not None:
            cell[each.round - 1] = (each.best_slot, each.worst_slot)
    where = np.array(list(rows), dtype=np.int64).reshape(-1, 2)
    slots = np.array(list(rows.values()), dtype=np.int64).reshape(-1, 2, 2)
    sizes = np.full(len(where), session.campaign.tuple_size)
    return NormingAnswers(where[:, 0], where[:, 1], slots[:, 0], slots[:, 1], sizes)


def agreement_of(session: NormingSession) -> NormingAgreement:
    """Agreement before and after the discussion, with the campaign's seed."""
    return norming_agreement(norming_answers(session), seed=session.campaign.seed)


class NormingSummary(NamedTuple):
    """finished: how many people judged every tuple before the discussion."""

    session: NormingSession
    tuples: int
    finished: int
    agreement: NormingAgreement | None


def sessions_of(campaign: Campaign) -> list[NormingSummary]:
    """The campaign's norming sessions, the newest first, with agreement from the discussion on."""
    return [
        NormingSummary(
            session,
            session.tuples.count(),
            people_finished(session),
            None if session.state == NormingSession.State.JUDGING else agreement_of(session),
        )
        for session in campaign.norming.select_related("campaign")
    ]


def people_finished(session: NormingSession) -> int:
    """How many people have judged every tuple before the discussion."""
    first = NormingJudgement.objects.filter(tuple__session=session, round=1)
    each = first.values("participation").annotate(n=Count("pk")).order_by()
    return each.filter(n=session.tuples.count()).count()
