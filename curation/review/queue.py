"""What a queue is, and which machine-written sentences of the lowest p_D wait for a verdict, in which order."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import BigIntegerField, Count, Exists, F, Min, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import ExpressionWrapper

from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet, Sentence, User

Frame = ReviewDecision.Frame
REVIEWABLE = (Pair.Status.ACTIVE, Pair.Status.PENDING)
# The queues that sample all machine sentences, so that rates of all may be estimated from their verdicts.
SAMPLED = (Frame.RANDOM, Frame.STRATIFIED)
UNDECIDED_P_D = 0.5  # at which the classifier finds a human and a machine equally likely
KEPT_SECONDS = 24 * 3600
# Multiplied by the one, modulo the other (a prime), numbers in a row come out in no order that tells of p_D.
_SCATTER, _SCATTERED = 48_271, 65_537


@dataclass(frozen=True)
class Queue:
    """What is reviewed: machine sentences of a p_D score set, and how they are chosen.

    frame: lowest takes the `share` of them with the lowest p_D; uncertain the `size` nearest to p_D = 0.5; random and
    stratified draw `size` of all; chosen is for a sentence that no queue showed.
    share: 0..1.
    blind: p_D is hidden, and the order does not follow it.
    human: human sentences are mixed into a blind sample.
    twice: two people judge every sentence.
    """

    score_set: ScoreSet
    frame: Frame = Frame.LOWEST
    share: float = 1.0
    size: int = 100
    blind: bool = False
    human: bool = False
    twice: bool = False

    @property
    def samples(self) -> bool:
        """Whether the sentences are those of a list that is drawn once (`samples.py`)."""
        return self.frame in (Frame.UNCERTAIN, *SAMPLED)

    @property
    def mixes(self) -> bool:
        """Whether human sentences are among those shown."""
        return self.human and self.blind and self.samples

    @property
    def judges_both(self) -> bool:
        """Whether a verdict is on both sentences of a pair, because a machine wrote both (ADR 33)."""
        return bool(self.score_set.parameters.get("first_sentences") == "written")

    @property
    def verdicts_needed(self) -> int:
        return 2 if self.twice else 1

    @property
    def discreet(self) -> bool:
        """Whether a curator sees only their own decisions: those of others, and what a pair's page says, would tell."""
        return self.blind or self.twice

    @property
    def address(self) -> str:
        """The query string under which a page shows this queue: what is as usual in its frame is left out."""
        named: dict[str, object] = {"set": self.score_set.pk}
        if self.frame != Frame.LOWEST:
            named["frame"] = self.frame.value
        named |= {"size": self.size} if self.samples else {"share": self.share}
        usual = self.frame in SAMPLED
        for name, chosen, default in (
            ("blind", self.blind, usual),
            ("human", self.human, usual),
            ("twice", self.twice, False),
        ):
            if chosen != default:
                named[name] = "on" if chosen else "off"
        return urlencode(named)


class Progress(NamedTuple):
    """Verdicts that a queue takes, one or two for each sentence, and those that it has."""

    total: int
    decided: int

    @property
    def missing(self) -> int:
        return self.total - self.decided


def realism_sets(dataset: Dataset) -> list[ScoreSet]:
    """The dataset's p_D score sets, the newest first."""
    return list(
        dataset.score_sets.offered().filter(kind=ScoreSet.Kind.REALISM).order_by("-created_at", "-pk")
    )


def standing() -> QuerySet[ReviewDecision]:
    """The decisions that are valid: those that nobody undid, without opinions, which change nothing."""
    return ReviewDecision.objects.filter(undone_at=None, binding=True)


def lowest_scores(queue: Queue, *, reviewer: User | None = None) -> QuerySet[PairScore]:
    """The sentences of lowest p_D that wait, each by the first of its pairs that waits, with its p_D.

    reviewer: leaves out what the person has an opinion on, and adds those that they are to judge as the second.
    """
    in_share = Q(score_set=queue.score_set, value__lte=_limits(queue)[0])
    same_sentence = _waiting(Q(score_set=queue.score_set)).filter(pair__b=OuterRef("pair__b"))
    earlier = same_sentence.filter(pair_id__lt=OuterRef("pair_id"))
    wanted = _is_waiting() & Q(~Exists(earlier))
    if reviewer is not None:
        on_pair = ReviewDecision.objects.filter(undone_at=None, alongside=None, pair=OuterRef("pair"))
        own = on_pair.filter(reviewer=reviewer)
        if queue.twice:
            wanted |= Q(Exists(on_pair), ~Exists(on_pair.filter(second=True)))
        wanted &= Q(~Exists(own))
    first = _machine(in_share).filter(wanted).select_related("pair__a", "pair__b")
    if queue.blind:
        scattered = F("pair_id") * Value(_SCATTER) % Value(_SCATTERED)
        return first.order_by(ExpressionWrapper(scattered, output_field=BigIntegerField()), "pair_id")
    return first.order_by("value", "pair_id")


def lowest_progress(queue: Queue) -> Progress:
    highest, total = _limits(queue)
    in_share = Q(pair__scores__score_set=queue.score_set, pair__scores__value__lte=highest)
    decided = standing().filter(in_share, alongside=None).aggregate(n=Count("sentence", distinct=True))["n"]
    if queue.twice:
        opinions = ReviewDecision.objects.filter(in_share, undone_at=None, second=True)
        decided += opinions.aggregate(n=Count("sentence", distinct=True))["n"]
    return Progress(queue.verdicts_needed * total, decided)


def waiting_by_set(datasets: Iterable[Dataset]) -> dict[int, int]:
    """How many machine sentences wait, by the number of their p_D score set; sets with none are left out."""
    sets = ScoreSet.objects.offered().filter(dataset__in=list(datasets), kind=ScoreSet.Kind.REALISM)
    waiting = _waiting(Q(score_set__in=sets))
    counted = waiting.values("score_set").order_by().annotate(n=Count("pair__b", distinct=True))
    return dict(counted.values_list("score_set", "n"))


def waiting_of(dataset: Dataset) -> int:
    """How many machine sentences wait in the newest p_D score set."""
    newest = realism_sets(dataset)[:1]
    return waiting_by_set([dataset]).get(newest[0].pk, 0) if newest else 0


def _waiting(wanted: Q) -> QuerySet[PairScore]:
    return _machine(wanted).filter(_is_waiting())


def _is_waiting() -> Q:
    return Q(~Exists(standing().filter(pair=OuterRef("pair"))), pair__status__in=REVIEWABLE)


def machine_scores(score_set: ScoreSet) -> QuerySet[PairScore]:
    """The set's scores of pairs that hold a machine's sentence, whatever became of them."""
    return _machine(Q(score_set=score_set))


def _machine(wanted: Q) -> QuerySet[PairScore]:
    """Scores of pairs that hold a machine's sentence, whatever became of them."""
    return PairScore.objects.filter(
        wanted, pair__origin=Pair.Origin.GENERATED, pair__b__origin=Sentence.Origin.MACHINE
    )


def _limits(queue: Queue) -> tuple[float, int]:
    """The highest p_D of the queue's share, and how many sentences that share holds: a published set never changes."""
    score_set = queue.score_set
    key = f"review:{score_set.pk}:{score_set.created_at.timestamp()}:{queue.share}"
    limits: tuple[float, int] | None = cache.get(key)
    if limits is None:
        by_sentence = machine_scores(score_set).values("pair__b").order_by().annotate(p_d=Min("value"))
        limits = score_set.high, by_sentence.count()
        if queue.share < 1 and limits[1]:
            last = math.ceil(queue.share * limits[1]) - 1
            highest: float = by_sentence.order_by("p_d").values_list("p_d", flat=True)[last]
            limits = highest, by_sentence.filter(p_d__lte=highest).count()
        cache.set(key, limits, KEPT_SECONDS)
    return limits
