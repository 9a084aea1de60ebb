"""Searches for duplicates: few pairs while somebody waits, more by a worker; what was found is stored."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from curation.datasets.duplicates import (
    Duplicates,
    datasets_searched,
    duplicates_found,
    pairs_of,
    pairs_state,
)
from curation.datasets.rows import rows_add
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now, free, worker_invite
from curation.foundation.jobs import Hold, job_claim, job_do
from curation.models import Dataset, DuplicateFound, DuplicateSearch, User
from curation.pairs.duplicate_groups import Likeness

SEARCH = "curation.duplicates"  # the task that takes the invitation
AT_ONCE = 10_000  # pairs, which take about a second
MOST_OTHERS = 20  # datasets
SEARCHES_KEPT = 10  # of a dataset
LOOSEST, STRICTEST = 0.5, 1.0  # a lower Jaccard index finds pairs that say something else
State = DuplicateSearch.State


def search_ask(
    *, dataset: Dataset, against: Sequence[Dataset], threshold: float, by: User | None
) -> DuplicateSearch:
    """Search now where the datasets have few pairs; of more, ask a worker. To ask again searches again.

    Raises UserError where the threshold or the number of datasets is out of bounds.
    """
    if not LOOSEST <= threshold <= STRICTEST:
        sentence = _("The threshold is a Jaccard index from %(low)s to %(high)s.")
        raise UserError(sentence, low=LOOSEST, high=STRICTEST)
    others = sorted({one.pk for one in against} - {dataset.pk})
    if len(others) > MOST_OTHERS:
        raise UserError(_("Choose at most %(most)s other datasets."), most=MOST_OTHERS)
    search, _made = DuplicateSearch.objects.get_or_create(
        dataset=dataset, against=",".join(map(str, others)), threshold=threshold
    )
    asked: dict[str, Any] = {
        "state": State.WAITING,
        "attempt": F("attempt") + 1,
        "lost": 0,
        "heartbeat_at": None,
        "done": 0,
        "total": 0,
        "message": "",
        "asked_by": by,
        "asked_at": database_now(),
    }
    # What a worker is at goes on: to ask again would only begin it again.
    ended = DuplicateSearch.objects.filter(pk=search.pk).exclude(state=State.RUNNING)
    if not ended.update(**asked) and not _free(database_now()).filter(pk=search.pk).update(**asked):
        return search
    kept = DuplicateSearch.objects.filter(dataset=dataset).values_list("pk", flat=True)[:SEARCHES_KEPT]
    DuplicateSearch.objects.filter(dataset=dataset).exclude(pk__in=list(kept)).delete()
    if pairs_of([dataset, *against]) <= AT_ONCE:
        search_carry_out(search_pk=search.pk)
    else:
        search_invite(search.pk)
    search.refresh_from_db()
    return search


def search_invite(search_pk: int) -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    worker_invite(SEARCH, search_pk)


def searches_sweep() -> None:
    """Invite a worker for each search that nobody has begun or whose process fell silent."""
    for search_pk in _free(database_now()).values_list("pk", flat=True):
        search_invite(search_pk)


def search_cancel(*, search: DuplicateSearch) -> None:
    """Stop a search. What an earlier one had found for the same question stays."""
    underway = DuplicateSearch.objects.filter(pk=search.pk, state__in=[State.WAITING, State.RUNNING])
    underway.update(state=State.CANCELLED)


def search_carry_out(*, search_pk: int) -> bool:
    """Search, if it is still to be had; whether that came to a good end."""
    hold = job_claim(
        _free(database_now()).filter(pk=search_pk),
        at=database_now(),
        gave_up=_(
            "%(number)s workers stopped responding during this search, usually because of too little memory."
        ),
        done=0,
        total=0,
    )
    broke = _("An unexpected error stopped the search; the log describes it. Search again.")
    return hold is not None and job_do(hold, _search, broke=broke)


def _search(hold: Hold[DuplicateSearch]) -> None:
    search = hold.job
    datasets = datasets_searched(search)
    state = pairs_state(datasets)
    found = duplicates_found(
        datasets[0],
        against=datasets[1:],
        threshold=search.threshold,
        compared=lambda done, total: hold.note(done=done, total=total),
    )
    _store(hold, found, state)


@transaction.atomic
def _store(hold: Hold[DuplicateSearch], found: Sequence[Duplicates], state: str) -> None:
    """Put what was found in the place of what an earlier search found. Raises ClaimLost where the claim is lost."""
    counted = Counter(group.likeness for group in found)
    counts = {
        **{likeness.value: counted[likeness] for likeness in Likeness},
        "pairs": sum(len(group.numbers) for group in found),
        "leaks": sum(group.leaks for group in found),
        "elsewhere": sum(bool(group.elsewhere) for group in found),
    }
    hold.end(counts=counts, pairs_state=state, finished_at=database_now())
    hold.job.found.all().delete()
    columns = ("group", "place", "pair_id", "likeness", "pairs", "leaks", "elsewhere")
    rows = (
        (rank, place, number, group.likeness.value, len(group.numbers), group.leaks, bool(group.elsewhere))
        for rank, group in enumerate(found, start=1)
        for place, number in enumerate(group.numbers)
    )
    rows_add(DuplicateFound, shared={"search_id": hold.job.pk}, columns=columns, rows=rows)


def _free(at: datetime) -> QuerySet[DuplicateSearch]:
    return DuplicateSearch.objects.filter(free(at, waiting=[State.WAITING]))
