"""Pairs of one or several datasets that say the same."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum

from curation.datasets.selectors import score_shown_first
from curation.foundation.errors import errors_shown
from curation.foundation.parts import in_parts
from curation.models import AuditEntry, Dataset, DuplicateFound, DuplicateSearch, Pair, PairScore, Sentence
from curation.pairs.duplicate_groups import Likeness, duplicate_groups
from curation.pairs.overlap import pair_jaccard
from curation.pairs.text import WORDS_RULE

PARTS = (*(likeness.value for likeness in Likeness), "leaks", "elsewhere")
SHOWN_OF_GROUP = 12  # pairs; a file has all
_ROWS_AT_ONCE = 5_000
_PAIRS_AT_ONCE = 1_000
# What changes sentences, sources or splits of pairs that are there and stay active.
_CHANGES = [
    AuditEntry.Action.PAIRS_IMPORTED,
    AuditEntry.Action.PAIRS_EDITED,
    AuditEntry.Action.EDIT_UNDONE,
    AuditEntry.Action.SPLITS_DRAWN,
    AuditEntry.Action.SPLITS_UNDONE,
]


@dataclass(frozen=True)
class DuplicatePair:
    """number: the pair's own. dataset: its short name."""

    number: int
    dataset: str
    id: str
    source: str
    split: str
    first: str
    second: str


@dataclass(frozen=True)
class Duplicates:
    """Two or more pairs, by number. own: of the dataset that was asked, at least one; elsewhere: of the others.

    splits: the named splits of the dataset that its pairs are in, by name.
    """

    likeness: Likeness
    own: Sequence[int]
    elsewhere: Sequence[int]
    splits: Sequence[str] = ()

    @property
    def numbers(self) -> list[int]:
        return [*self.own, *self.elsewhere]

    @property
    def leaks(self) -> bool:
        """Whether the dataset has pairs of the group in several splits."""
        return len(self.splits) > 1


@dataclass(frozen=True)
class MemberShown:
    """alike: the Jaccard index of the words with the first pair of the group, of the side that has less in common."""

    pair: Pair
    score: PairScore | None
    alike: float
    is_own: bool


@dataclass(frozen=True)
class GroupShown:
    """about: its first pair, which says of which group. more: pairs that are not among the members shown.

    splits: of the dataset's pairs that are shown.
    """

    about: DuplicateFound
    members: Sequence[MemberShown]
    more: int
    splits: Sequence[str]


def duplicates_found(
    dataset: Dataset,
    *,
    against: Sequence[Dataset] = (),
    threshold: float = 0.8,
    compared: Callable[[int, int], object] = lambda done, total: None,
) -> list[Duplicates]:
    """The groups of active pairs that say the same, each with at least one pair of the dataset; the largest first.

    Memory and time grow with all pairs of these datasets.
    compared: receives the numbers of compared and of all sentences.
    Raises UserError where the threshold is not above 0 and at most 1.
    """
    # Of each dataset, the numbers of the active pairs and the places of their sentences; equal texts share a place.
    place: dict[str, int] = {}
    columns = []
    for one in (dataset, *against):
        active = Pair.objects.filter(dataset=one, status=Pair.Status.ACTIVE).order_by("pk")
        values = active.values_list("pk", "a_id", "b_id").iterator(chunk_size=_ROWS_AT_ONCE)
        pks, a, b = np.fromiter(chain.from_iterable(values), dtype=np.int64).reshape(-1, 3).T.copy()
        used = np.unique(np.concatenate([a, b]))
        places = np.zeros(len(used), dtype=np.int64)
        texts = Sentence.objects.filter(dataset=one).order_by("pk").values_list("pk", "text")
        for part in in_parts(texts.iterator(chunk_size=_ROWS_AT_ONCE)) if len(used) else ():
            sentences = np.array([number for number, _text in part])
            at = np.minimum(np.searchsorted(used, sentences), len(used) - 1)
            for index in np.flatnonzero(used[at] == sentences).tolist():
                places[at[index]] = place.setdefault(part[index][1], len(place))
        columns.append((pks, places[np.searchsorted(used, a)], places[np.searchsorted(used, b)]))
    numbers, a, b = (np.concatenate(column) for column in zip(*columns, strict=True))
    ours = len(columns[0][0])
    with errors_shown():
        groups = duplicate_groups(list(place), a, b, threshold=threshold, compared=compared)
    # Places rise, so a group with a pair of the dataset begins with one.
    groups = [group for group in groups if group.places[0] < ours]
    kept = [np.array(group.places) for group in groups]
    # The named split of each pair that has one and is among the numbers.
    rows = Pair.objects.filter(dataset=dataset).exclude(split="").order_by("pk").values_list("pk", "split")
    wanted = set(numbers[np.concatenate(kept)].tolist()) if kept else set()
    splits = {number: split for number, split in rows.iterator(chunk_size=_ROWS_AT_ONCE) if number in wanted}
    found = []
    for group, places in zip(groups, kept, strict=True):
        own = numbers[places[places < ours]].tolist()
        named = sorted({splits[number] for number in own if number in splits})
        found.append(Duplicates(group.likeness, own, numbers[places[places >= ours]].tolist(), named))
    return sorted(found, key=lambda group: -len(group.numbers))


def duplicate_pairs(numbers: Iterable[int]) -> Iterator[DuplicatePair]:
    """The pairs with these numbers, in this order; those that are gone are left out."""
    fields = ("pk", "dataset__slug", "external_id", "source", "split", "a__text", "b__text")
    for part in in_parts(numbers, _PAIRS_AT_ONCE):
        found = {row[0]: row for row in Pair.objects.filter(pk__in=part).order_by().values_list(*fields)}
        yield from (DuplicatePair(*found[number]) for number in part if number in found)


def pairs_state(datasets: Sequence[Dataset]) -> str:
    """What changes when active pairs come or go, or their sources, splits or sentences change, or the rule of words."""
    states = []
    for dataset in datasets:
        active = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE).order_by()
        counted = active.aggregate(n=Count("pk"), total=Sum("pk"), last=Max("pk"))
        changes = AuditEntry.objects.filter(dataset=dataset, action__in=_CHANGES)
        states.append([*counted.values(), changes.order_by().aggregate(last=Max("pk"))["last"]])
    return hashlib.sha256(repr((WORDS_RULE, states)).encode()).hexdigest()


def datasets_searched(search: DuplicateSearch) -> list[Dataset]:
    """The dataset of a search, and then those that it is compared with, by number."""
    return [search.dataset, *Dataset.objects.filter(pk__in=search.numbers_against).order_by("pk")]


def search_is_stale(search: DuplicateSearch) -> bool:
    """Whether pairs have come, gone or changed since the search read them, or an earlier version searched."""
    return search.pairs_state != pairs_state(datasets_searched(search))


def groups_found(search: DuplicateSearch, part: str = "") -> QuerySet[DuplicateFound]:
    """The first pair of each group of a search, the largest group first. part: of PARTS, "" for all groups."""
    groups = DuplicateFound.objects.filter(search=search, place=0).order_by("group")
    if part in {"leaks", "elsewhere"}:
        return groups.filter(**{part: True})
    return groups.filter(likeness=part) if part else groups


def groups_shown(search: DuplicateSearch, groups: Sequence[DuplicateFound]) -> list[GroupShown]:
    """These groups with their pairs, each beside its score in the set that its dataset shows first."""
    rows = DuplicateFound.objects.filter(
        search=search, group__in=[one.group for one in groups], place__lt=SHOWN_OF_GROUP
    ).select_related("pair__dataset", "pair__a", "pair__b")
    by_group: dict[int, list[Pair]] = {}
    for row in rows.order_by("group", "place"):
        by_group.setdefault(row.group, []).append(row.pair)
    datasets = {pair.dataset for pairs in by_group.values() for pair in pairs}
    sets = [own for one in datasets if (own := score_shown_first(one)) is not None]
    pairs = [pair for several in by_group.values() for pair in several]
    scores = {
        score.pair_id: score
        for score in PairScore.objects.filter(score_set__in=sets, pair__in=pairs).select_related("score_set")
    }
    listed = []
    for group in groups:
        first = _texts(by_group[group.group][0])
        members = [
            MemberShown(
                pair=pair,
                score=scores.get(pair.pk),
                alike=pair_jaccard(first, _texts(pair)),
                is_own=pair.dataset_id == search.dataset_id,
            )
            for pair in by_group[group.group]
        ]
        splits = sorted({member.pair.split for member in members if member.is_own} - {""})
        listed.append(GroupShown(group, members, group.pairs - len(members), splits))
    return listed


def pairs_listed(search: DuplicateSearch, part: str = "") -> Iterator[tuple[DuplicateFound, DuplicatePair]]:
    """Every pair of every group, the largest group first."""
    rows = DuplicateFound.objects.filter(search=search).order_by("group", "place")
    if part:
        rows = rows.filter(group__in=groups_found(search, part).order_by().values("group"))
    for several in in_parts(rows.iterator(chunk_size=_ROWS_AT_ONCE), _PAIRS_AT_ONCE):
        pairs = {pair.number: pair for pair in duplicate_pairs(row.pair_id for row in several)}
        yield from ((row, pairs[row.pair_id]) for row in several if row.pair_id in pairs)


def _texts(pair: Pair) -> tuple[str, str]:
    return pair.a.text, pair.b.text


def pairs_of(datasets: Sequence[Dataset]) -> int:
    """How many active pairs these datasets have together."""
    return Pair.objects.filter(dataset__in=datasets, status=Pair.Status.ACTIVE).count()
