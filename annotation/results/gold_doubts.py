"""Gold tuples that good annotators miss, and what it would change to remove each of them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import BooleanField, ExpressionWrapper, F, Q

from annotation.bws.annotators.gold_doubt import UNANSWERED, GoldDoubt, golds_doubted
from annotation.bws.annotators.gold_gate import TRIALS_PER_GOLD, GateState, gold_gate
from annotation.models import Campaign, Judgement, Participation


@dataclass(frozen=True)
class GoldAnswered:
    """One person's answer to a gold tuple. right: of the two trials. judgement: its number, in order of arrival."""

    person: int
    gold: int
    right: int
    judgement: int


@dataclass(frozen=True)
class GoldCounts:
    """A person's trials on the gold tuples in use; `since` are those that the gate reads: after a reinstatement."""

    trials: int = 0
    right: int = 0
    trials_since: int = 0
    right_since: int = 0


@dataclass(frozen=True)
class GoldRemoval:
    """What would change. share: of right trials of all people, before and after; None where no answer is left.

    reinstated: stopped by the gold rule, and not any more. stopped: the gold rule would stop them.
    """

    gold: int
    doubt: GoldDoubt
    share_before: float
    share_after: float | None
    reinstated: list[str]
    stopped: list[str]


def gold_answers(campaign: Campaign) -> list[GoldAnswered]:
    """All answers to the gold tuples in use, in order of arrival. One query."""
    own = Judgement.objects.filter(
        participation__campaign=campaign,
        status=Judgement.Status.GOLD,
        tuple__gold_answer__withdrawn=False,
    )
    rows = own.annotate(
        best_right=_same("best_slot"),
        worst_right=_same("worst_slot"),
    ).values_list("participation", "tuple", "best_right", "worst_right", "pk")
    # Where somebody found a gold tuple too close to call, nothing is the same.
    return [
        GoldAnswered(person, gold, int(bool(best)) + int(bool(worst)), pk)
        for person, gold, best, worst, pk in rows
    ]


def _same(slot: str) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(Q(**{slot: F(f"tuple__gold_answer__{slot}")}), output_field=BooleanField())


def gold_counts(
    answers: Iterable[GoldAnswered], person: Participation, *, without: Collection[int] = ()
) -> GoldCounts:
    """The person's trials, as if the gold tuples `without` were removed."""
    own = [answer for answer in answers if answer.person == person.pk and answer.gold not in without]
    since = [answer for answer in own if answer.judgement > person.forgiven_until]
    return GoldCounts(
        trials=TRIALS_PER_GOLD * len(own),
        right=sum(answer.right for answer in own),
        trials_since=TRIALS_PER_GOLD * len(since),
        right_since=sum(answer.right for answer in since),
    )


def gate_stops(counts: GoldCounts, campaign: Campaign) -> bool:
    gate = gold_gate(
        trials=counts.trials_since,
        right=counts.right_since,
        minimum=campaign.gold_minimum,
        threshold=campaign.gold_threshold,
    )
    return gate.state is GateState.STOPPED


def golds_to_remove(campaign: Campaign) -> list[GoldRemoval]:
    """The gold tuples that good annotators miss, each with what its removal alone would change. Two queries."""
    answers = gold_answers(campaign)
    people, golds = ({getattr(answer, name) for answer in answers} for name in ("person", "gold"))
    rows = {pk: row for row, pk in enumerate(sorted(people))}
    columns = {pk: column for column, pk in enumerate(sorted(golds))}
    right = np.full((len(rows), len(columns)), UNANSWERED)
    for answer in answers:
        right[rows[answer.person], columns[answer.gold]] = answer.right
    doubts = golds_doubted(right, threshold=campaign.gold_threshold)
    if not doubts:
        return []
    judged = list(campaign.participations.select_related("user").filter(pk__in=people).order_by("pk"))
    by_column = sorted(golds)
    removals = []
    for doubt in doubts:
        gold = by_column[doubt.gold]
        after = {person.pk: gold_counts(answers, person, without={gold}) for person in judged}
        removal = GoldRemoval(
            gold=gold,
            doubt=doubt,
            share_before=_share([answer.right for answer in answers]) or 0.0,
            share_after=_share([answer.right for answer in answers if answer.gold != gold]),
            reinstated=[
                str(person.user)
                for person in judged
                if person.stopped_by_gold and not gate_stops(after[person.pk], campaign)
            ],
            stopped=[
                str(person.user)
                for person in judged
                if person.state == Participation.State.ACTIVE and gate_stops(after[person.pk], campaign)
            ],
        )
        removals.append(removal)
    return removals


def _share(right: list[int]) -> float | None:
    return sum(right) / (TRIALS_PER_GOLD * len(right)) if right else None
