"""The splits of a dataset: what they hold and share, drawing new ones, and going back."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils.timezone import now
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.datasets.leak_guard import allowed_in_the_log, leaks_require_allowed, splits_set_here
from curation.datasets.rows import rows_add, two_columns
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.parts import in_parts
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence, SplitBefore, SplitChange, User
from curation.pairs.leaks import Leak, Leaks, leaks_between, own_leaks_added
from curation.pairs.splitting import (
    SplitError,
    pair_components,
    splits_completed,
    splits_drawn,
    splits_drawn_by_source,
)
from curation.pairs.text import near_copy_number
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record
from curation.statistics.histograms import bin_edges

LONGEST_NAME = 20
MOST_SPLITS = 20
BINS = 10  # of the scores: tenths of the scale
MOST_ON_A_PAGE = 300_000  # pairs, which take about two seconds; the command has no bound
_ROWS_AT_ONCE = 5_000
_NAMED = 3  # ids in a sentence


@dataclass(frozen=True)
class Drawing:
    """How splits are drawn. shares: of each split, with the sum 1; replace: pairs that have a split get another too."""

    shares: Mapping[str, float]
    seed: int = 1234
    by_source: bool = True
    replace: bool = False

    def __post_init__(self) -> None:
        """Raises UserError."""
        if len(self.shares) > MOST_SPLITS or any(
            not name or len(name) > LONGEST_NAME for name in self.shares
        ):
            sentence = _("Name at most %(most)s splits, each with 1 to %(longest)s characters.")
            raise UserError(sentence, most=MOST_SPLITS, longest=LONGEST_NAME)
        with errors_shown(SplitError):
            splits_drawn(np.zeros(0, dtype=np.int64), [], self.shares, seed=self.seed)

    def as_json(self) -> dict[str, Any]:
        return {
            "shares": dict(self.shares),
            "seed": self.seed,
            "by_source": self.by_source,
            "replace": self.replace,
        }


SOURCES_NAMED = 4  # of a split, on a page


@dataclass(frozen=True)
class SplitRow:
    """The active pairs of a split, "" for those without one; mean and sd of their scores in the set shown.

    counts: how many of the scores lie in each bin of `Splits.edges`.
    """

    split: str
    pairs: int
    share: float
    sources: Sequence[tuple[str, int]]
    mean: float | None
    sd: float | None
    counts: Sequence[int] = ()

    @property
    def further(self) -> tuple[int, int]:
        """How many sources a page does not name, and their pairs."""
        rest = self.sources[SOURCES_NAMED:]
        return len(rest), sum(pairs for _source, pairs in rest)


@dataclass(frozen=True)
class Splits:
    """The splits of a dataset's active pairs and every two of them that share sentences.

    edges: of the bins of the scores shown, one more than there are bins; none where no scores are.
    """

    rows: Sequence[SplitRow]
    leaks: Sequence[Leak]
    edges: Sequence[float] = ()


@dataclass(frozen=True)
class SplitsDrawn:
    """Splits that were drawn and not applied yet.

    state: of the pairs when they were drawn; the caller passes it back to apply exactly these splits.
    changed: pairs whose split changes, aside of which are not active; largest: active pairs of the largest component
    among those that were divided.
    leaks_before: what the splits there are now share.
    """

    drawing: Drawing
    state: str
    splits: Splits
    changed: int
    aside: int
    largest: int
    divided: int
    leaks_before: Sequence[Leak]

    @property
    def leaks_added(self) -> Sequence[Leak]:
        """Those for which the drawing must be allowed."""
        return own_leaks_added(self.leaks_before, self.splits.leaks)


@dataclass(frozen=True)
class LeaksOfChange:
    """What the splits of the active pairs share before some pairs get another split, and afterwards."""

    before: Sequence[Leak]
    after: Sequence[Leak]

    @property
    def added(self) -> Sequence[Leak]:
        """Those for which the change must be allowed."""
        return own_leaks_added(self.before, self.after)

    def as_json(self) -> dict[str, list[dict[str, Any]]]:
        lists = {"before": self.before, "after": self.after, "added": self.added}
        return {
            name: [{**asdict(leak), "share": leak.share} for leak in each] for name, each in lists.items()
        }


@dataclass(frozen=True)
class _Pairs:
    """All pairs of a dataset, in the order of their numbers, as columns of n values.

    a, b: a number for each sentence that near copies share: an encoder that has seen one knows the other, and training
    leaves out near copies too (`pairs.holding_out`). set_here: whether the split was drawn or set here, no file's.
    ids: empty where nobody needs them, because a million take 100 MB.
    """

    pk: NDArray[np.int64]
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    ids: Sequence[str]
    sources: Sequence[str]
    splits: Sequence[str]
    active: NDArray[np.bool_]
    set_here: NDArray[np.bool_]

    @property
    def state(self) -> str:
        digest = hashlib.sha256()
        for column in (self.pk, self.a, self.b, self.active):
            digest.update(column.tobytes())
        digest.update("\0".join((*self.splits, *self.sources)).encode())
        return digest.hexdigest()


def splits_now(dataset: Dataset, score_set: ScoreSet | None = None) -> Splits:
    pairs = _pairs(dataset)
    return _described(pairs, pairs.splits, score_set)


def leaks_now(dataset: Dataset) -> list[Leak]:
    """What the splits of the active pairs share."""
    pairs = _pairs(dataset)
    return _leaks(pairs, pairs.splits)


def splits_preview(dataset: Dataset, drawing: Drawing, score_set: ScoreSet | None = None) -> SplitsDrawn:
    """What `splits_apply` would do. Pairs that share a sentence come into one split, whatever their status.

    Raises UserError where ids of one source would stand in one split twice.
    """
    pairs = _pairs(dataset, with_ids=True)
    drawn, components = _drawn(pairs, drawing)
    _require_different_ids(pairs, drawn)
    divided = np.array([drawing.replace or not split for split in pairs.splits], dtype=bool) & pairs.active
    sizes = np.bincount(components[divided]) if divided.any() else np.zeros(1, dtype=np.int64)
    changed = np.array(
        [before != after for before, after in zip(pairs.splits, drawn, strict=True)], dtype=bool
    )
    return SplitsDrawn(
        drawing=drawing,
        state=pairs.state,
        splits=_described(pairs, drawn, score_set),
        changed=int(changed.sum()),
        aside=int((changed & ~pairs.active).sum()),
        largest=int(sizes.max()),
        divided=int(divided.sum()),
        leaks_before=_leaks(pairs, pairs.splits),
    )


@transaction.atomic
def splits_apply(
    *, dataset: Dataset, drawing: Drawing, state: str, by: User | None, leaks: Leaks = Leaks.REFUSE
) -> SplitChange:
    """Give the pairs the splits of the drawing, and keep what they had.

    state: as the preview said it. Raises UserError where the pairs have changed since, nothing changes, or pairs would
    join splits of a file that share sentences already, and leak with them, unless `leaks` allows it.
    """
    dataset_lock(dataset)
    pairs = _pairs(dataset, with_ids=True)
    if pairs.state != state:
        raise UserError(_("Pairs or splits have changed since the preview. Look at the preview again."))
    drawn, _components = _drawn(pairs, drawing)
    _require_different_ids(pairs, drawn)
    rows = [
        (int(pk), before, after)
        for pk, before, after in zip(pairs.pk, pairs.splits, drawn, strict=True)
        if before != after
    ]
    if not rows:
        raise UserError(_("No pair would get another split, so there is nothing to apply."))
    leaks_require_allowed(_leaks(pairs, pairs.splits), _leaks(pairs, drawn), leaks)
    change = SplitChange.objects.create(
        dataset=dataset, parameters=drawing.as_json(), pairs=len(rows), created_by=by
    )
    rows_add(SplitBefore, shared={"change_id": change.pk}, columns=("pair_id", "split", "given"), rows=rows)
    _give(dataset, {pk: after for pk, _before, after in rows})
    drawn_as = {"shares": dict(drawing.shares), "seed": drawing.seed, **allowed_in_the_log(leaks)}
    audit_record(dataset=dataset, action=Action.SPLITS_DRAWN, by=by, pairs=len(rows), details=drawn_as)
    return change


@transaction.atomic
def splits_undo(*, change: SplitChange, by: User | None) -> None:
    """Give the pairs back the splits that they had. Raises UserError where another change came later."""
    dataset_lock(change.dataset)
    change = SplitChange.objects.select_for_update().get(pk=change.pk)
    if change.undone_at:
        raise UserError(_("These splits were undone before."))
    later = SplitChange.objects.filter(dataset=change.dataset, pk__gt=change.pk, undone_at=None)
    if later.exists():
        raise UserError(_("Splits were drawn again since. Undo those first."))
    others = change.before.exclude(pair__split=F("given")).count()
    if others:
        sentence = _(
            "%(others)s of the pairs have got another split since, for example by an import. The splits stay as they "
            "are."
        )
        raise UserError(sentence, others=others)
    _give(change.dataset, dict(change.before.values_list("pair_id", "split")))
    change.undone_at, change.undone_by = now(), by
    change.save(update_fields=["undone_at", "undone_by"])
    audit_record(dataset=change.dataset, action=Action.SPLITS_UNDONE, by=by, pairs=change.pairs)


def leaks_of_change(
    dataset: Dataset, numbers: NDArray[np.int64], *, split: str | None = None, active: bool = False
) -> LeaksOfChange:
    """What would be shared if the pairs of these numbers, (n,), came into that split ("" takes theirs away), or became
    active with the split that they have.
    """
    pairs = _pairs(dataset)
    changed = np.isin(pairs.pk, numbers)
    then = pairs if not active else replace(pairs, active=pairs.active | changed)
    splits = pairs.splits
    if split is not None:
        splits = [split if other else same for same, other in zip(splits, changed.tolist(), strict=True)]
    return LeaksOfChange(_leaks(pairs, pairs.splits), _leaks(then, splits))


def leaks_of_import(
    dataset: Dataset, moved: Mapping[int, str], splits: Sequence[str], a: Sequence[int], b: Sequence[int]
) -> LeaksOfChange:
    """What would be shared if pairs got the splits of a file, and pairs of it were added.

    moved: from the numbers of pairs to their new splits. splits, a, b: of each of the n pairs that are added its split
    and its two sentences, as `near_copy_number` gives them.
    """
    pairs = _pairs(dataset)
    own = np.flatnonzero(pairs.active)
    then = [moved.get(pk, split) for pk, split in zip(pairs.pk.tolist(), pairs.splits, strict=True)]
    kept = pairs.set_here & ~np.isin(pairs.pk, np.fromiter(moved, np.int64, len(moved)))
    after = leaks_between(
        [*(then[place] for place in own.tolist()), *splits],
        np.concatenate([pairs.a[own], np.array(a, dtype=np.int64)]),
        np.concatenate([pairs.b[own], np.array(b, dtype=np.int64)]),
        np.concatenate([kept[own], np.zeros(len(splits), dtype=bool)]),
    )
    return LeaksOfChange(_leaks(pairs, pairs.splits), after)


def too_many_for_a_page(dataset: Dataset) -> bool:
    return dataset.pairs.order_by()[MOST_ON_A_PAGE : MOST_ON_A_PAGE + 1].exists()


def splits_require_few(dataset: Dataset) -> None:
    """Raises UserError where the dataset is too large for somebody to wait for its splits."""
    if too_many_for_a_page(dataset):
        sentence = _(
            "The dataset has more than %(most)s pairs, which is too many for a request. Use semblance split_pairs on "
            "the server."
        )
        raise UserError(sentence, most=f"{MOST_ON_A_PAGE:,}")


def last_change(dataset: Dataset) -> SplitChange | None:
    """The newest change of splits that was not undone."""
    changes = dataset.split_changes.select_related("created_by")
    return changes.filter(undone_at=None).first()


def _pairs(dataset: Dataset, *, with_ids: bool = False) -> _Pairs:
    """Of a million pairs with 1.8 million sentences some 15 s and 400 MB (`benchmarks/leak_guard.py`)."""
    rows = Pair.objects.filter(dataset=dataset).order_by("pk")
    numbers: tuple[array[int], ...] = tuple(array("q") for _column in range(3))
    ids, sources, splits, active = list[str](), list[str](), list[str](), bytearray()
    once: dict[str, str] = {}  # a few names, of which each row of the database is another copy
    fields = ("pk", "a_id", "b_id", "source", "split", "status", *(["external_id"] if with_ids else []))
    for pk, a, b, source, split, status, *name in rows.values_list(*fields).iterator(
        chunk_size=_ROWS_AT_ONCE
    ):
        for column, value in zip(numbers, (pk, a, b), strict=True):
            column.append(value)
        sources.append(once.setdefault(source, source))
        splits.append(once.setdefault(split, split))
        active.append(status == Pair.Status.ACTIVE)
        ids += name
    pks, of_a, of_b = (np.array(column, dtype=np.int64) for column in numbers)
    # The sentences of the dataset by their numbers, ascending, and for each a number that near copies share.
    texts = Sentence.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "text")
    sentences, copies = two_columns(
        (pk, near_copy_number(text)) for pk, text in texts.iterator(chunk_size=_ROWS_AT_ONCE)
    )
    return _Pairs(
        pk=pks,
        a=copies[np.searchsorted(sentences, of_a)] if pks.size else of_a,
        b=copies[np.searchsorted(sentences, of_b)] if pks.size else of_b,
        ids=ids,
        sources=sources,
        splits=splits,
        active=np.frombuffer(active, dtype=bool),
        set_here=splits_set_here(dataset, pks, splits),
    )


def _drawn(pairs: _Pairs, drawing: Drawing) -> tuple[list[str], NDArray[np.int64]]:
    """The split of each pair, and its component."""
    dataset_components = pair_components(pairs.a, pairs.b)
    # Not by the numbers of the pairs: the same files give the same splits in another dataset.
    occurrence: Counter[tuple[str, str]] = Counter()
    all_names = []
    for named in zip(pairs.sources, pairs.ids, strict=True):
        all_names.append(f"{named[0]} {named[1]} {occurrence[named]}")
        occurrence[named] += 1

    def draw(places: NDArray[np.int64]) -> list[str]:
        components = np.unique(dataset_components[places], return_inverse=True)[1]
        names = [all_names[place] for place in places.tolist()]
        if drawing.by_source:
            sources = [pairs.sources[place] for place in places.tolist()]
            return splits_drawn_by_source(components, names, sources, drawing.shares, seed=drawing.seed)
        return splits_drawn(components, names, drawing.shares, seed=drawing.seed)

    given = [""] * len(pairs.splits) if drawing.replace else pairs.splits
    return splits_completed(dataset_components, given, draw), dataset_components


def _require_different_ids(pairs: _Pairs, drawn: Sequence[str]) -> None:
    """An id names one pair within its source and split."""
    counted = Counter(zip(pairs.sources, pairs.ids, drawn, strict=True))
    twice = sorted({name for (_source, name, _split), times in counted.items() if times > 1})
    if twice:
        named = ", ".join(f"“{name}”" for name in twice[:_NAMED])
        sentence = _(
            "%(count)s ids would name two pairs of one source and split, such as %(ids)s, because their file counts "
            "from 1 in each split. Keep the splits of the file, or import each of them with another source."
        )
        raise UserError(sentence, count=len(twice), ids=named)


def _described(pairs: _Pairs, splits: Sequence[str], score_set: ScoreSet | None) -> Splits:
    own = np.flatnonzero(pairs.active)
    of_active = [splits[place] for place in own.tolist()]
    # The score of each pair, NaN where it has none.
    values = np.full(own.size, np.nan)
    edges: Sequence[float] = ()
    if score_set is not None:
        scores = PairScore.objects.filter(score_set=score_set).values_list("pair_id", "value")
        value_of = dict(scores.iterator(chunk_size=_ROWS_AT_ONCE))
        values = np.array([value_of.get(pk, np.nan) for pk in pairs.pk[own].tolist()])
        edges = bin_edges(score_set.low, score_set.high, BINS)
    names = np.asarray(of_active, dtype=object)
    rows = []
    for name in sorted(set(of_active)):
        places = np.flatnonzero(names == name)
        scored = values[places][~np.isnan(values[places])]
        counted = Counter(pairs.sources[place] for place in own[places].tolist())
        counts = list[int]()
        if edges:
            # As for the chart of a score set: a score on an edge belongs to the bin above it, but the highest to the
            # last bin.
            width = (edges[-1] - edges[0]) / BINS
            numbers = np.floor((scored - edges[0]) / width + 1e-9).astype(np.int64)
            counts = np.bincount(np.clip(numbers, 0, BINS - 1), minlength=BINS).tolist()
        rows.append(
            SplitRow(
                split=name,
                pairs=int(places.size),
                share=places.size / own.size,
                sources=sorted(counted.items(), key=lambda item: (-item[1], item[0])),
                mean=float(scored.mean()) if scored.size else None,
                sd=float(scored.std()) if scored.size else None,
                counts=tuple(counts),
            )
        )
    rows.sort(key=lambda row: (row.split == "", -row.pairs, row.split))
    return Splits(rows, _leaks(pairs, splits), edges)


def _leaks(pairs: _Pairs, splits: Sequence[str]) -> list[Leak]:
    """What these splits of the pairs share. A split that a pair does not have yet would be set here."""
    own = np.flatnonzero(pairs.active)
    of_active = [splits[place] for place in own.tolist()]
    had = [pairs.splits[place] for place in own.tolist()]
    new = np.array([split != before for split, before in zip(of_active, had, strict=True)], dtype=bool)
    return leaks_between(of_active, pairs.a[own], pairs.b[own], pairs.set_here[own] | new)


def _give(dataset: Dataset, split_of: Mapping[int, str]) -> None:
    by_split: dict[str, list[int]] = {}
    for pk, split in split_of.items():
        by_split.setdefault(split, []).append(pk)
    moved = list(by_split.items())
    # An id that repeats from split to split would stand twice in one of them where two splits change places.
    for place, (_split, pks) in enumerate(moved if len(moved) > 1 else []):
        _update(dataset, pks, f"~{place}")
    for split, pks in moved:
        _update(dataset, pks, split)


def _update(dataset: Dataset, pks: Sequence[int], split: str) -> None:
    for part in in_parts(pks):
        Pair.objects.filter(dataset=dataset, pk__in=part).update(split=split)
