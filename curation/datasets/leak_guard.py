"""The leak guard: which splits were set here, and what is refused because such splits would share sentences.

A split that was drawn here, or set by an edit of pairs, is the dataset's own, and a leak between own splits is a
mistake that can be mended. A split that came with a file is its publisher's: its leaks are counted and told.
"""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.datasets.rows import two_columns
from curation.foundation.errors import UserError
from curation.models import Dataset, PairChange, SplitBefore
from curation.pairs.leaks import Leak, Leaks, own_leaks_added
from curation.people.audit import Action

_ROWS_AT_ONCE = 5_000


class LeaksError(UserError):
    """Splits that were set here would share sentences, and nobody allowed it."""


def splits_set_here(
    dataset: Dataset, pairs: NDArray[np.int64], splits: Sequence[str], *, at: datetime | None = None
) -> NDArray[np.bool_]:
    """Whether the split that each pair has, or had at that time, was drawn or set by an edit here, (n,).

    pairs: their numbers, (n,). splits: those that they have, or had then. What was undone does not count.
    """
    given = [each for each in (_drawn(dataset, at), _edited(dataset, at)) if each.exists()]
    found = np.zeros(len(pairs), dtype=bool)
    if not given:
        return found
    # One number for a pair and a split: a set of a million such rows would take a gigabyte.
    numbers: dict[str, int] = {}
    had = np.fromiter((numbers.setdefault(split, len(numbers)) for split in splits), np.int64, len(splits))
    for each in given:
        rows = each.iterator(chunk_size=_ROWS_AT_ONCE)
        whose, which = two_columns((pair, numbers.setdefault(split, len(numbers))) for pair, split in rows)
        most = len(numbers)
        found |= np.isin(pairs * most + had, whose * most + which)
    return found


def some_splits_set_here(dataset: Dataset) -> bool:
    return _drawn(dataset, None).exists() or _edited(dataset, None).exists()


def leaks_require_allowed(before: Sequence[Leak], after: Sequence[Leak], leaks: Leaks) -> None:
    """Raises LeaksError where own splits would share more than before, unless that is allowed."""
    added = own_leaks_added(before, after)
    if not added or leaks is Leaks.ALLOW:
        return
    raise LeaksError(
        _(
            "%(leak)s The split of at least %(own)s of them was set here. An encoder that is trained on the one split "
            "has then seen sentences of the other. Draw splits, which keeps such pairs together, or allow these leaks."
        ),
        leak=leak_in_words(added[0]),
        own=f"{added[0].own:,}",
    )


def allowed_in_the_log(leaks: Leaks) -> dict[str, str]:
    """What an entry of the audit log says of it: something where somebody allowed leaks."""
    return {"leaks": leaks.value} if leaks is Leaks.ALLOW else {}


def leak_in_words(leak: Leak) -> str:
    words = {"pairs": f"{leak.pairs:,}", "of": f"{leak.of:,}", "split": leak.split, "other": leak.other}
    sentence = _("%(pairs)s of the %(of)s pairs of the split “%(split)s” share a sentence with “%(other)s”.")
    return sentence % words


def _drawn(dataset: Dataset, at: datetime | None) -> QuerySet[SplitBefore, tuple[int, str]]:
    rows = SplitBefore.objects.filter(_valid(at, "change__created_at", "change__undone_at"))
    return rows.filter(change__dataset=dataset).order_by().values_list("pair_id", "given")


def _edited(dataset: Dataset, at: datetime | None) -> QuerySet[PairChange, tuple[int, str]]:
    rows = PairChange.objects.filter(_valid(at, "entry__at", "entry__undone_by__at"))
    of_edits = rows.filter(entry__dataset=dataset, entry__action=Action.PAIRS_EDITED)
    of_splits = of_edits.filter(field=PairChange.Field.SPLIT).exclude(after="")
    return of_splits.order_by().values_list("pair_id", "after")


def _valid(at: datetime | None, made: str, undone: str) -> Q:
    if at is None:
        return Q(**{undone: None})
    return Q(**{f"{made}__lte": at}) & (Q(**{undone: None}) | Q(**{f"{undone}__gt": at}))
