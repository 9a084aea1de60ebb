"""What waits in a queue of either kind: the lowest p_D, or a sample."""

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Pair, PairScore, ReviewClaim, User
from curation.review.queue import Progress, Queue, lowest_progress, lowest_scores
from curation.review.samples import sample_decided, sample_items, sample_scores


def queue_scores(
    queue: Queue, *, reviewer: User, after: Pair | None = None
) -> QuerySet[PairScore] | list[PairScore]:
    """The sentences that the person may judge, in the order of the queue; those behind the pair `after` alone, which
    may have been judged in the meantime.

    Raises UserError where the queue does not have that pair.
    """
    if queue.samples:
        return sample_scores(queue, reviewer=reviewer, after=after.b_id if after else None)
    waiting = lowest_scores(queue, reviewer=reviewer)
    if after is None:
        return waiting
    value = (
        PairScore.objects.filter(score_set=queue.score_set, pair=after)
        .values_list("value", flat=True)
        .first()
    )
    if value is None:
        raise UserError(_("Pair %(id)s has no p_D in this queue."), id=after.external_id)
    return waiting.filter(Q(value__gt=value) | Q(value=value, pair__gt=after))


def queue_next(queue: Queue, *, reviewer: User, without: QuerySet[ReviewClaim], most: int) -> list[PairScore]:
    """The first of them, but for pairs and sentences that are on other screens."""
    if not queue.samples:
        return list(lowest_scores(queue, reviewer=reviewer).exclude(pair__in=without.values("pair"))[:most])
    taken = set(without.values_list("pair__b", flat=True))
    return sample_scores(queue, reviewer=reviewer, without=taken, most=most)


def queue_progress(queue: Queue) -> Progress:
    return Progress(*sample_decided(queue)) if queue.samples else lowest_progress(queue)


def queue_waiting(queue: Queue, *, reviewer: User) -> int:
    """How many sentences the person may judge, also those on other screens."""
    if queue.samples:
        return len(sample_scores(queue, reviewer=reviewer))
    return lowest_scores(queue, reviewer=reviewer).count()


def queue_wider(
    queue: Queue, *, reviewer: User, shares: Sequence[float], sizes: Sequence[int]
) -> Queue | None:
    """The queue of the next larger share or size in which something waits for the person, if there is one."""
    if queue.samples:
        drawn = len(sample_items(queue))
        larger = [replace(queue, size=size) for size in sorted(sizes) if size > queue.size]
        return next((each for each in larger if len(sample_items(each)) > drawn), None)
    wider = (replace(queue, share=share) for share in sorted(shares) if share > queue.share)
    return next((each for each in wider if queue_waiting(each, reviewer=reviewer)), None)
