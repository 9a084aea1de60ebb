"""Edits of many pairs at once: what an edit would change, the edit, and going back.

However many pairs there are, an edit is a fixed number of statements, and the process that edits reads pairs only to
count what splits would share.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.utils.translation import gettext as _

from curation.datasets.duplicates import search_is_stale
from curation.datasets.leak_guard import allowed_in_the_log, leaks_require_allowed
from curation.datasets.selectors import PairFilter, pairs_matching
from curation.datasets.splits import LeaksOfChange, leaks_of_change, too_many_for_a_page
from curation.foundation.errors import UserError
from curation.models import (
    AuditEntry,
    Dataset,
    DuplicateFound,
    DuplicateSearch,
    Pair,
    PairChange,
    ReviewDecision,
    User,
)
from curation.pairs.leaks import Leaks
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record

FIELDS = ("split", "source", "status")
LONGEST = {"split": 20, "source": 100}
MOST_CHOSEN = 1_000  # numbers of pairs; a filter has no bound
_NAMED = 3  # ids in a sentence
_MOST_VALUES = 5
_CHANGE_COLUMNS = "entry_id, pair_id, field, before, after"


@dataclass(frozen=True)
class Repeated:
    """The pairs that a search for duplicates found. which: “later” for all but the first of each group, “elsewhere” for
    those that another dataset has too. likeness: of the groups, "" for all.
    """

    search: DuplicateSearch
    which: str
    likeness: str = ""

    def as_json(self) -> dict[str, Any]:
        asked = {"duplicates": self.which, "likeness": self.likeness, "threshold": self.search.threshold}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True)
class Sampled:
    """Pairs that a strategy drew of those that the filter of an edit finds. others: whether all but these are meant.

    how: they were drawn, for the log.
    """

    pairs: tuple[int, ...]
    others: bool
    how: Mapping[str, Any]


@dataclass(frozen=True)
class Edit:
    """One value that pairs get. field: of FIELDS. pairs: their numbers; None means all that the filter finds, those
    that are `repeated`, or those that are `sampled`.
    """

    field: str
    value: str
    filter: PairFilter = PairFilter()  # noqa: RUF009 - frozen
    pairs: tuple[int, ...] | None = None
    repeated: Repeated | None = None
    sampled: Sampled | None = None

    @property
    def sets_a_split(self) -> bool:
        return self.field == "split" and self.value != ""

    @property
    def may_leak(self) -> bool:
        """Whether it can make splits share sentences: it gives a split, or takes pairs back that were set aside."""
        return self.sets_a_split or (self.field == "status" and self.value == Pair.Status.ACTIVE)

    @property
    def means(self) -> dict[str, Any]:
        """Which pairs, for the log; nothing where they were chosen one by one."""
        if self.repeated is not None:
            return self.repeated.as_json()
        if self.sampled is not None:
            which = "all but the chosen" if self.sampled.others else "the chosen"
            return {**self.filter.as_json(), "chosen": which, **self.sampled.how}
        return self.filter.as_json() if self.pairs is None else {}

    def __post_init__(self) -> None:
        """Raises UserError."""
        if self.field not in FIELDS:
            raise UserError(_("Only the split, the source and the status of pairs can be edited."))
        if self.field == "status" and self.value not in Pair.Status.values:
            names = {"value": self.value[:40], "statuses": ", ".join(Pair.Status.values)}
            raise UserError(_("“%(value)s” is not a status. Choose from %(statuses)s."), **names)
        if len(self.value) > LONGEST.get(self.field, len(self.value)):
            sentence = _("A %(field)s has at most %(most)s characters.")
            raise UserError(sentence, field=PairChange.Field(self.field).label, most=LONGEST[self.field])
        if self.pairs is not None and not 0 < len(self.pairs) <= MOST_CHOSEN:
            sentence = _("Select 1 to %(most)s pairs, or choose all pairs that were found.")
            raise UserError(sentence, most=MOST_CHOSEN)


@dataclass(frozen=True)
class EditPreview:
    """What an edit would change.

    state: of the pairs that change; the caller passes it back to apply exactly this edit.
    found: pairs that are meant; changed: those of them that get another value; reviewed: those whose status a valid
    review decision determines, which are left out.
    before: the most frequent values of the changed pairs, with their number of pairs.
    """

    edit: Edit
    state: str
    found: int
    changed: int
    reviewed: int
    before: Sequence[tuple[str, int]]


def edit_preview(dataset: Dataset, edit: Edit) -> EditPreview:
    """Raises UserError where two pairs of a source and split would have one id, or the search that found the pairs is
    older than a change of them.
    """
    if edit.repeated is not None and search_is_stale(edit.repeated.search):
        raise UserError(_("Pairs have changed since the search for duplicates. Search again."))
    meant, changing = _meant(dataset, edit), _changing(dataset, edit)
    if edit.field != "status":
        # An id names one pair within its source and split.
        other = "source" if edit.field == "split" else "split"
        after = Q(**{edit.field: edit.value}) | Q(pk__in=changing.values("pk"))
        named = Pair.objects.filter(after, dataset=dataset).order_by().values_list("external_id", other)
        twice = named.annotate(n=Count("pk")).filter(n__gt=1).order_by("external_id")
        ids = [name for name, _other, _n in twice[: _NAMED + 1]]
        if ids:
            shown = ", ".join(f"“{name}”" for name in ids[:_NAMED]) + (", …" if len(ids) > _NAMED else "")
            sentence = _(
                "The edit would give two pairs of one source and split the same id (%(ids)s). Give them different "
                "values."
            )
            raise UserError(sentence, ids=shown)
    found = meant.count()
    same = meant.filter(**{edit.field: edit.value}).count()
    sums = changing.aggregate(n=Count("pk"), total=Sum("pk"), first=Min("pk"), last=Max("pk"))
    values = changing.order_by().values_list(edit.field).annotate(n=Count("pk")).order_by("-n", edit.field)
    return EditPreview(
        edit=edit,
        state=":".join(str(value) for value in sums.values()),
        found=found,
        changed=sums["n"],
        reviewed=found - same - sums["n"],
        before=list(values[:_MOST_VALUES]),
    )


def edit_leaks(dataset: Dataset, edit: Edit, *, bounded: bool = True) -> LeaksOfChange | None:
    """What splits would share after an edit. None where it changes nothing about that, or where, `bounded`, the dataset
    has too many pairs to count it for a preview.
    """
    if not (edit.field == "split" or edit.may_leak) or (bounded and too_many_for_a_page(dataset)):
        return None
    numbers = np.fromiter(_changing(dataset, edit).values_list("pk", flat=True), dtype=np.int64)
    if edit.field == "split":
        return leaks_of_change(dataset, numbers, split=edit.value)
    return leaks_of_change(dataset, numbers, active=True)


@transaction.atomic
def edit_apply(
    *,
    dataset: Dataset,
    edit: Edit,
    by: User | None,
    state: str | None = None,
    leaks: Leaks = Leaks.REFUSE,
) -> AuditEntry:
    """Give the pairs the value, and keep what they had in the entry of the log.

    state: as the preview said it; None applies to whatever pairs are meant now.
    Raises UserError where other pairs would change than in the preview, or none, and LeaksError where splits that are
    set here would share sentences, unless `leaks` allows it.
    """
    dataset_lock(dataset)
    _lock(_changing(dataset, edit))
    preview = edit_preview(dataset, edit)
    if state is not None and preview.state != state:
        raise UserError(_("Pairs have changed since the preview. Look at the preview again."))
    if not preview.changed:
        raise UserError(_("No pair would get another value, so there is nothing to apply."))
    if edit.may_leak and leaks is not Leaks.ALLOW:
        # Counted in a dataset of any size: it takes less than the edit of so many pairs does.
        found = edit_leaks(dataset, edit, bounded=False)
        if found is not None:
            leaks_require_allowed(found.before, found.after, Leaks.REFUSE)
    entry = audit_record(
        dataset=dataset,
        action=Action.PAIRS_EDITED,
        by=by,
        pairs=preview.changed,
        details={
            "set": {edit.field: edit.value},
            "filter": edit.means,
            **allowed_in_the_log(leaks),
        },
    )

    columns: tuple[Any, ...] = (Value(entry.pk), "pk", Value(edit.field), edit.field, Value(edit.value))
    query = _changing(dataset, edit).values_list(*columns).query
    sql, values = query.get_compiler(connection=connection).as_sql()
    table = connection.ops.quote_name(PairChange._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({_CHANGE_COLUMNS}) {sql}", values)

    changed = Pair.objects.filter(pk__in=entry.changes.order_by().values("pair"))
    with _ids_differ():
        changed.update(**{edit.field: edit.value})
    return entry


@transaction.atomic
def edit_undo(*, entry: AuditEntry, by: User | None) -> AuditEntry:
    """Give the pairs back what they had. Raises UserError where one of them was changed or reviewed since."""
    dataset_lock(entry.dataset)  # type: ignore[arg-type]  # an edit of pairs has a dataset
    changes = entry.changes.order_by()
    pairs = Pair.objects.filter(pk__in=changes.values("pair")).order_by()
    _lock(pairs)
    if AuditEntry.objects.filter(undoes=entry).exists():
        raise UserError(_("This edit was undone before."))
    ((field, value),) = entry.details["set"].items()
    others = pairs.exclude(**{field: value})
    if field == "status":
        others |= pairs.filter(_decided())
    if count := others.count():
        sentence = _(
            "%(count)s of the pairs have been changed or reviewed since, for example by an import. The pairs stay as "
            "they are."
        )
        raise UserError(sentence, count=count)
    with _ids_differ():
        pairs.update(**{field: Subquery(changes.filter(pair=OuterRef("pk")).values("before")[:1])})
    undone = Action.EDIT_UNDONE
    return audit_record(dataset=entry.dataset, action=undone, by=by, pairs=entry.pairs, undoes=entry)


def edits_of(dataset: Dataset) -> QuerySet[AuditEntry]:
    """The edits of a dataset's pairs, the newest first, each with its undo where it was undone."""
    edits = AuditEntry.objects.filter(dataset=dataset, action=Action.PAIRS_EDITED)
    return edits.select_related("by", "dataset", "undone_by__by")


def _meant(dataset: Dataset, edit: Edit) -> QuerySet[Pair]:
    if edit.pairs is not None:
        return Pair.objects.filter(dataset=dataset, pk__in=edit.pairs).order_by()
    if edit.repeated is not None:
        repeated = edit.repeated
        rows = DuplicateFound.objects.filter(search=repeated.search)
        rows = rows.filter(elsewhere=True) if repeated.which == "elsewhere" else rows.filter(place__gt=0)
        if repeated.likeness:
            rows = rows.filter(likeness=repeated.likeness)
        return Pair.objects.filter(dataset=dataset, pk__in=rows.order_by().values("pair")).order_by()
    found = pairs_matching(dataset, edit.filter).order_by()
    if edit.sampled is None:
        return found
    drawn = Q(pk__in=edit.sampled.pairs)
    return found.exclude(drawn) if edit.sampled.others else found.filter(drawn)


def _changing(dataset: Dataset, edit: Edit) -> QuerySet[Pair]:
    """The pairs that get another value. The status of a pair that a review decided about is not edited."""
    changing = _meant(dataset, edit).exclude(**{edit.field: edit.value})
    return changing.exclude(_decided()) if edit.field == "status" else changing


def _decided() -> Q:
    valid = ReviewDecision.objects.filter(pair=OuterRef("pk"), undone_at=None, binding=True)
    return Q(Exists(valid))


def _lock(pairs: QuerySet[Pair]) -> None:
    """Wait for verdicts that are being given on the pairs, and keep others waiting. SQLite has one writer anyway."""
    if connection.vendor != "postgresql":
        return
    locked = pairs.select_for_update(no_key=True, of=("self",)).values("pk")
    sql, values = locked.query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({sql}) AS locked", values)  # noqa: S608 - the ORM's own


@contextmanager
def _ids_differ() -> Iterator[None]:
    """Turn what the database says of two pairs with one name into a UserError."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        sentence = _(
            "Another pair has the id, source and split that one of the pairs would get. The pairs stay as they are."
        )
        raise UserError(sentence) from error
