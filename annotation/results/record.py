"""What people judged in a campaign, as arrays: the one way from its rows to scores, figures and files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import BooleanField, ExpressionWrapper, Min, Q
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.bws.files.choices import TIE
from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.models import Campaign, Judgement, Tuple, TupleItem
from curation.foundation.errors import UserError
from curation.models import Pair
from curation.pairs.naming import file_ids

Mask = NDArray[np.bool_]
EVERYBODY = 0  # no participation has this primary key
_COLUMNS = (
    "tuple",
    "participation",
    "best_slot",
    "worst_slot",
    "order_shown",
    "status",
    "tuple__required",
    "tuple__number",
    "tuple__phase",
    "active_ms",
    "guideline__version",
)


@dataclass(frozen=True, eq=False)
class CampaignJudgements:
    """All n judgements of a campaign in order of arrival: also those of gold tuples and repeats, and those that do
    not count.

    tuples, people: (n,) primary keys of tuples and participations. pairs: (n, k) primary keys of the pairs in the
    order of the design. shown: (n, k) in the order of the screen. best_slot, worst_slot: (n,) of the design, from 0.
    best, worst: (n,) screen positions, from 0. All four are -1 for a tie. status: (n,) values of Judgement.Status.
    required, numbers, phase: (n,) of the tuples. seconds: (n,) NaN where nobody measured or the page
    measured 0. guidelines: (n,) versions, 0 for none.
    asked: (T, k) primary keys of the pairs of all tuples, judged or not, without gold tuples and repeats.
    pairs, shown and asked have -1 after the last pair of a tuple of fewer than k pairs, as imported ones may be.
    named: whether anybody knows who judged; else `people` were made up, and no Judgements have annotators.
    """

    tuples: IntArray
    people: IntArray
    pairs: IntArray
    shown: IntArray
    best_slot: IntArray
    worst_slot: IntArray
    best: IntArray
    worst: IntArray
    status: NDArray[np.str_]
    required: IntArray
    numbers: IntArray
    phase: NDArray[np.str_]
    seconds: FloatArray
    guidelines: IntArray
    asked: IntArray
    named: bool = True

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def unscored(self) -> Mask:
        """Answers to gold tuples, and to hidden repeats, which have the number of the tuple that they repeat."""
        return np.isin(self.status, [Judgement.Status.GOLD.value, Judgement.Status.REPEAT.value])

    @property
    def collected(self) -> Mask:
        mask: Mask = self.status == Judgement.Status.COLLECTED.value
        return mask

    @property
    def designed(self) -> Mask:
        """Judgements, collected or not, of tuples that were designed before anybody answered."""
        mask: Mask = (self.phase != Tuple.Phase.ADAPTIVE.value) & ~self.unscored
        return mask

    @property
    def ties(self) -> Mask:
        """Answers that the pairs are too close to call."""
        mask: Mask = self.best_slot < 0
        return mask

    def feeding(self, method: str) -> Mask:
        """The judgements that feed a method: one of `annotation.bws.scores.scoring.METHODS`, or reliability.

        Counting and reliability assume that chance decides which pairs meet. In the adaptive phase earlier answers
        decide it, so they leave its judgements out. The models know which pairs met, and take them. A tie says nothing
        that counting could count, and would pull its scores to the middle: MaxDiff alone models ties.
        """
        if method in {"counting", "reliability"}:
            return self.collected & self.designed & ~self.ties
        return self.collected if method == "maxdiff" else self.collected & ~self.ties

    def as_filed(self, chosen: Mask) -> "NumberedJudgements":
        """The chosen judgements as a file of them is read: items are numbered as they first appear in it.

        Scores that are fitted depend in their last digits on the order of the items. Everything that is published
        is computed from this order.
        """
        shown, people = self.shown[chosen], self.people[chosen]
        present = shown >= 0
        pairs, first, number = np.unique(shown[present], return_index=True, return_inverse=True)
        rank = np.empty(len(pairs), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(pairs))
        items = np.full(shown.shape, -1, dtype=np.int64)
        items[present] = rank[number]
        persons, annotators = np.unique(people, return_inverse=True)
        judgements = Judgements.from_slots(
            items,
            self.best[chosen],
            self.worst[chosen],
            item_count=len(pairs),
            annotators=annotators if self.named else None,
        )
        return NumberedJudgements(judgements, pairs[np.argsort(rank)], persons)

    def as_asked(self, chosen: Mask) -> "NumberedJudgements":
        """The chosen judgements; items are all pairs that the campaign asks for, judged or not, by primary key."""
        pairs, asked = np.unique(self.asked[self.asked >= 0]), self.pairs[chosen]
        persons, annotators = np.unique(self.people[chosen], return_inverse=True)
        judgements = Judgements.from_slots(
            np.where(asked < 0, -1, np.searchsorted(pairs, asked)),
            self.best_slot[chosen],
            self.worst_slot[chosen],
            item_count=len(pairs),
            annotators=annotators if self.named else None,
        )
        return NumberedJudgements(judgements, pairs, persons)

    def median_seconds(self) -> dict[int, float]:
        """Median seconds that a tuple was looked at, by participation and of EVERYBODY, where they were measured.

        Repeats are left out: people who saw the pairs before may be quicker.
        """
        timed = ~np.isnan(self.seconds) & (self.status != Judgement.Status.REPEAT.value)
        if not timed.any():
            return {}
        people = np.unique(self.people[timed]).tolist()
        medians = {
            person: float(np.median(self.seconds[timed & (self.people == person)])) for person in people
        }
        return {EVERYBODY: float(np.median(self.seconds[timed])), **medians}


@dataclass(frozen=True, eq=False)
class NumberedJudgements:
    """Judgements, and what their numbers stand for: pairs (m,) and participations (a,), as primary keys."""

    judgements: Judgements
    pairs: IntArray
    people: IntArray


def campaign_judgements(campaign: Campaign) -> CampaignJudgements:
    """Everything that was judged in the campaign. Two queries."""
    judgements = Judgement.objects.filter(participation__campaign=campaign).order_by("pk")
    columns: list[Any] = list(zip(*judgements.values_list(*_COLUMNS), strict=True)) or [[]] * len(_COLUMNS)
    tuples, people, best, worst, orders, status, required, numbers, phase, milliseconds, versions = columns
    size = campaign.tuple_size
    members = TupleItem.objects.filter(tuple__campaign=campaign).order_by("tuple", "slot")
    for_scores = ExpressionWrapper(Q(tuple__is_gold=False, tuple__repeats=None), BooleanField())
    rows = np.array(list(members.values_list("tuple", "pair", for_scores)), dtype=np.int64).reshape(-1, 3)
    tuple_keys, first, sizes = np.unique(rows[:, 0], return_index=True, return_counts=True)
    pairs = np.full((len(tuple_keys), size), -1, dtype=np.int64)  # (T, k)
    pairs[np.arange(size) < sizes[:, None]] = rows[:, 1]
    judged = np.array(tuples, dtype=np.int64)
    members_of = pairs[np.searchsorted(tuple_keys, judged)]  # (n, k)
    whole = [order if len(order) == size else [*order, *range(len(order), size)] for order in orders]
    order = np.array(whole, dtype=np.int64).reshape(-1, size)  # (n, k): slots in the order of the screen
    position = np.argsort(order, axis=1)  # (n, k): the screen position of each slot
    best_slot, worst_slot = (
        np.array([-1 if slot is None else slot for slot in slots], dtype=np.int64) for slots in (best, worst)
    )
    each = np.arange(len(judged))
    return CampaignJudgements(
        tuples=judged,
        people=np.array(people, dtype=np.int64),
        pairs=members_of,
        shown=np.take_along_axis(members_of, order, axis=1),
        best_slot=best_slot,
        worst_slot=worst_slot,
        best=np.where(best_slot < 0, -1, position[each, best_slot]),
        worst=np.where(worst_slot < 0, -1, position[each, worst_slot]),
        status=np.array(status, dtype=np.str_),
        required=np.array(required, dtype=np.int64),
        numbers=np.array(numbers, dtype=np.int64),
        phase=np.array(phase, dtype=np.str_),
        seconds=np.array([ms / 1000 if ms else np.nan for ms in milliseconds], dtype=np.float64),
        guidelines=np.array([version or 0 for version in versions], dtype=np.int64),
        asked=pairs[rows[first, 2] == 1],
        named=annotators_named(campaign),
    )


@dataclass(frozen=True, eq=False)
class Rounds:
    """In which round of a campaign pairs joined. names: of the rounds, ascending; numbers: (m,) of pairs, from 0."""

    names: tuple[str, ...]
    numbers: IntArray


def rounds_of(campaign: Campaign, pairs: IntArray) -> Rounds | None:
    """The round in which people were first asked about each of these pairs (m,); None if it is one for all.

    pairs: primary keys of pairs of the campaign's tuples. One query, and none where no pair joined after the launch.
    """
    if not campaign.has_grown:
        return None
    asked = TupleItem.objects.for_scores(campaign).exclude(tuple__phase=Tuple.Phase.ADAPTIVE)
    rows = asked.values("pair").order_by().annotate(first=Min("tuple__round"))
    first = dict(rows.values_list("pair", "first"))
    rounds, numbers = np.unique([first[pair] for pair in pairs.tolist()], return_inverse=True)
    return Rounds(tuple(map(str, rounds.tolist())), numbers) if len(rounds) > 1 else None


def judgements_at_most(campaign: Campaign, most: int) -> bool:
    """Whether the campaign has no more judgements. One query, which counts no further."""
    return Judgement.objects.filter(participation__campaign=campaign)[: most + 1].count() <= most


def judgements_require(campaign: Campaign, judged: CampaignJudgements, method: str) -> Mask:
    """The judgements that feed a method. Raises UserError where there are none."""
    feeding = judged.feeding(method)
    if not feeding.any():
        raise _nothing_counts(campaign)
    return feeding


def judgements_require_any(campaign: Campaign) -> None:
    """Raise UserError where no judgement counts. One query; ties count here, though they feed no counting."""
    counting = Judgement.objects.filter(
        participation__campaign=campaign, status=Judgement.Status.COLLECTED.value
    )
    if not counting.exists():
        raise _nothing_counts(campaign)


def _nothing_counts(campaign: Campaign) -> UserError:
    return UserError(_("“%(name)s” has no judgements that count yet."), name=campaign.name)


def pair_names(campaign: Campaign) -> dict[int, str]:
    """What files call the pairs of the campaign's tuples, gold tuples too, by primary key.

    It is a pair's id, behind its source and split where other pairs among these have the id too.
    """
    asked = TupleItem.objects.filter(tuple__campaign=campaign).values("pair")
    pairs = Pair.objects.filter(pk__in=asked).order_by("pk")
    rows = list(pairs.values_list("pk", "source", "split", "external_id"))
    ids = file_ids((source, split, name) for _pk, source, split, name in rows)
    return {pk: name for (pk, *_parts), name in zip(rows, ids, strict=True)}


def annotator_codes(campaign: Campaign) -> dict[int, str]:
    """A001, A002 ... by participation, in the order of joining: a person keeps their code in every later file."""
    people = campaign.participations.order_by("pk").values_list("pk", flat=True)
    return {person: f"A{number:03}" for number, person in enumerate(people, 1)}


def annotators_named(campaign: Campaign) -> bool:
    """Whether the site knows who judged; an imported file may name nobody."""
    return bool(campaign.certificate.get("imported", {}).get("annotators_named", True))


def judgement_table(
    campaign: Campaign, filed: NumberedJudgements
) -> tuple[list[str], Judgements, list[str] | None]:
    """What `bws.files.judgement_files` writes of a campaign: items, judgements and annotators, None where unknown."""
    names, codes = pair_names(campaign), annotator_codes(campaign)
    items = [names[pair] for pair in filed.pairs.tolist()]
    people = [codes[person] for person in filed.people.tolist()] if annotators_named(campaign) else None
    return items, filed.judgements, people


def judgement_rows(
    judged: CampaignJudgements, names: Mapping[int, str], codes: Mapping[int, str]
) -> Iterator[list[object]]:
    """Every judgement for a file, in order of arrival: its number, tuple, phase, annotator, the items in the order of
    the screen, best, worst, status, version of the guidelines, and seconds.

    names: of pairs; codes: of participations. Gold tuples and repeats have no phase.
    """
    unphased, ties = judged.unscored, judged.ties
    for row in range(len(judged)):
        items = [names[pair] if pair >= 0 else "" for pair in judged.shown[row].tolist()]
        seconds = float(judged.seconds[row])
        yield [
            row + 1,
            int(judged.numbers[row]),
            "" if unphased[row] else str(judged.phase[row]),
            codes[int(judged.people[row])] if judged.named else None,
            *items,
            *([TIE, TIE] if ties[row] else [items[judged.best[row]], items[judged.worst[row]]]),
            str(judged.status[row]),
            int(judged.guidelines[row]),
            None if np.isnan(seconds) else seconds,
        ]
