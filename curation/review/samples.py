"""Samples of the sentences of a p_D set: which sentences a queue shows, in which order, and to whom.

The first sentences of each order are drawn once and kept in the cache; drawing them again gives the same ones, because
a published set never changes. A page then looks at no more than those.
"""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from django.db.models import Exists, Min, OuterRef, QuerySet
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.foundation.parts import in_parts
from curation.models import Pair, PairScore, ReviewDecision, ScoreSet, Sentence, SentenceScore, User
from curation.pairs.sample_order import mixed, random_order, stratified_order
from curation.review.queue import (
    KEPT_SECONDS,
    REVIEWABLE,
    SAMPLED,
    UNDECIDED_P_D,
    Frame,
    Queue,
    machine_scores,
    standing,
)

HUMAN_EVERY = 10  # one sentence in so many is a human one, where they are mixed in
MOST_DRAWN = 2_000  # machine sentences of a sample
_AT_ONCE = 20  # sentences whose pairs are read together


class Item(NamedTuple):
    """A sentence of a sample. stratum: its tenth by p_D, from 1, of a stratified one."""

    sentence: int
    stratum: int | None = None
    human: bool = False


class Verdict(NamedTuple):
    """What tells who may still judge a sentence."""

    sentence: int
    reviewer: int | None
    frame: str
    second: bool


class _Drawn(NamedTuple):
    machine: list[tuple[int, int | None]]
    human: list[int]


def sample_items(queue: Queue) -> list[Item]:
    """The sentences of a queue that samples, in its order."""
    drawn = _drawn(queue)
    machine = [Item(number, stratum) for number, stratum in drawn.machine[: queue.size]]
    if queue.frame == Frame.UNCERTAIN and queue.blind:
        # The distance from the threshold would tell of p_D.
        numbers = np.array([item.sentence for item in machine], dtype=np.int64)
        machine = [Item(number) for number in random_order(numbers, most=queue.size, seed=_seed(queue))]
    if not queue.mixes:
        return machine
    human = [Item(number, human=True) for number in drawn.human]
    return mixed(machine, human, every=HUMAN_EVERY, seed=_seed(queue))


def sample_item(queue: Queue, sentence: int) -> Item | None:
    """The sentence in the sample of the largest size; None where it is not in it."""
    drawn = _drawn(queue)
    machine = (Item(number, stratum) for number, stratum in drawn.machine if number == sentence)
    human = (Item(number, human=True) for number in drawn.human if number == sentence and queue.mixes)
    return next(machine, None) or next(human, None)


def has_human(queue: Queue) -> bool:
    """Whether any human sentence can be mixed in: one with a p_D that is the second of a pair."""
    return bool(_drawn(queue).human)


def verdicts_counted(queue: Queue, sentences: Collection[int]) -> dict[int, list[Verdict]]:
    """The standing verdicts on each sentence that count in the queue.

    In a random or stratified sample those from such a sample count alone. A sentence with the lowest p_D that a curator
    has decided about is judged once more: otherwise the sample would lack the sentences of the queues before it.
    """
    rows = ReviewDecision.objects.filter(
        undone_at=None, alongside=None, settles=None, sentence__in=sentences
    ).values_list("sentence", "reviewer", "frame", "second")
    found: dict[int, list[Verdict]] = {}
    for row in map(Verdict._make, rows):
        if queue.frame not in SAMPLED or row.frame in SAMPLED:
            found.setdefault(row.sentence, []).append(row)
    return found


def verdicts_on_pair(pair: Pair) -> list[Verdict]:
    """The standing verdicts on one pair, also those that were given on another pair of its sentence."""
    rows = ReviewDecision.objects.filter(undone_at=None, settles=None, pair=pair)
    return [Verdict(*row) for row in rows.values_list("sentence", "reviewer", "frame", "second")]


def sample_scores(
    queue: Queue,
    *,
    reviewer: User,
    without: Collection[int] = (),
    most: int | None = None,
    after: int | None = None,
) -> list[PairScore]:
    """The sentences that the person may judge now, each in one of its pairs with its p_D, in the order of the sample.

    without: numbers of sentences on other screens. A person never judges a sentence twice. after: a sentence of the
    sample, judged or not; those behind it alone are given back. Raises UserError where the sample has no such sentence.
    """
    items = sample_items(queue)
    if after is not None:
        places = [item.sentence for item in items]
        if after not in places:
            raise UserError(
                _("This sample does not have the sentence of that pair. Ask for its first page again.")
            )
        items = items[places.index(after) + 1 :]
    sentences = [item.sentence for item in items]
    counted = verdicts_counted(queue, sentences)
    own = ReviewDecision.objects.filter(
        undone_at=None, alongside=None, reviewer=reviewer, sentence__in=sentences
    )
    judged = set(own.exclude(settles__isnull=False).values_list("sentence", flat=True))
    offered = (
        item
        for item in items
        if item.sentence not in judged
        and item.sentence not in without
        and len(counted.get(item.sentence, [])) < queue.verdicts_needed
    )
    return list(islice(_shown(queue, offered), most))


def sample_decided(queue: Queue) -> tuple[int, int]:
    """How many verdicts the sample takes, and how many it has."""
    items = sample_items(queue)
    counted = verdicts_counted(queue, [item.sentence for item in items])
    needed = queue.verdicts_needed
    return needed * len(items), sum(min(needed, len(verdicts)) for verdicts in counted.values())


def sample_score(queue: Queue, pair: Pair) -> PairScore:
    """A pair whose sentence stays on the screen, with the p_D of the sentence; nan where there is none."""
    score = PairScore.objects.filter(score_set=queue.score_set, pair=pair).select_related(
        "pair__a", "pair__b"
    )
    if (found := score.first()) is not None:
        return found
    value = SentenceScore.objects.filter(score_set=queue.score_set, sentence=pair.b_id).values_list("value")
    return PairScore(score_set=queue.score_set, pair=pair, value=next(iter(value), (float("nan"),))[0])


def _shown(queue: Queue, items: Iterator[Item]) -> Iterator[PairScore]:
    """The items that have a pair to show, which a sentence lacks whose pairs are all retired, a few at a time."""
    for part in in_parts(items, _AT_ONCE):
        scores: dict[int, PairScore] = {}
        if machine := [item.sentence for item in part if not item.human]:
            # A pair of each sentence: the first that waits for a verdict, otherwise the first with one.
            decided = Exists(standing().filter(pair=OuterRef("pair")))
            of_machine = machine_scores(queue.score_set).filter(pair__b__in=machine).annotate(decided=decided)
            usable = [
                score
                for score in of_machine.select_related("pair__a", "pair__b").order_by("pair_id")
                if score.decided or score.pair.status in REVIEWABLE
            ]
            usable.sort(key=lambda score: (score.decided, score.pair_id), reverse=True)
            scores |= {score.pair.b_id: score for score in usable}
        if human := [item.sentence for item in part if item.human]:
            active = Pair.objects.filter(dataset=queue.score_set.dataset_id, status=Pair.Status.ACTIVE)
            pairs = active.filter(b__in=human).exclude(origin=Pair.Origin.GENERATED)
            of_human = SentenceScore.objects.filter(score_set=queue.score_set, sentence__in=human)
            p_d = dict(of_human.values_list("sentence", "value"))
            scores |= {
                pair.b_id: PairScore(score_set=queue.score_set, pair=pair, value=p_d[pair.b_id])
                for pair in pairs.select_related("a", "b").order_by("-pk")  # the oldest pair stays
            }
        yield from (scores[item.sentence] for item in part if item.sentence in scores)


def _drawn(queue: Queue) -> _Drawn:
    score_set = queue.score_set
    key = f"review-sample:{score_set.pk}:{score_set.created_at.timestamp()}:{queue.frame}"
    drawn: _Drawn | None = cache.get(key)
    if drawn is None:
        # The machine sentences of the set and the lowest p_D of each, (n,) and (n,).
        by_sentence = machine_scores(score_set).values("pair__b").order_by().annotate(p_d=Min("value"))
        rows = np.fromiter(
            by_sentence.values_list("pair__b", "p_d").iterator(chunk_size=20_000),
            dtype=[("sentence", np.int64), ("p_d", np.float64)],
        )
        numbers, values = rows["sentence"], rows["p_d"]
        seed, most = _seed(queue), MOST_DRAWN
        machine: list[tuple[int, int | None]]
        if queue.frame == Frame.STRATIFIED:
            machine = list(stratified_order(numbers, values, most=most, seed=seed))
        elif queue.frame == Frame.RANDOM:
            machine = [(number, None) for number in random_order(numbers, most=most, seed=seed)]
        else:
            nearest = np.lexsort((numbers, np.abs(values - UNDECIDED_P_D)))[:most]
            machine = [(number, None) for number in numbers[nearest].tolist()]
        human = human_pairs(score_set).order_by().values_list("b", flat=True).distinct()
        found = np.fromiter(human.iterator(chunk_size=20_000), dtype=np.int64)
        drawn = _Drawn(machine, random_order(found, most=most // (HUMAN_EVERY - 1), seed=seed))
        cache.set(key, drawn, KEPT_SECONDS)
    return drawn


def human_pairs(score_set: ScoreSet) -> QuerySet[Pair]:
    """Pairs whose second sentence is a human one with a p_D in the set."""
    scored = SentenceScore.objects.filter(score_set=score_set, sentence__origin=Sentence.Origin.HUMAN)
    pairs = Pair.objects.filter(dataset=score_set.dataset_id, b__in=scored.values("sentence"))
    return pairs.exclude(origin=Pair.Origin.GENERATED)


def _seed(queue: Queue) -> int:
    """Each set has its own seed, and so has each frame in it, so that a stratified sample is not the random one."""
    return 10 * queue.score_set.pk + list(Frame).index(queue.frame)
