"""How far people choose as they chose before, where tuples were shown to them again."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from annotation.bws.annotators.agreement import intra_annotator_agreement
from annotation.bws.annotators.gold_gate import GoldGate, gold_gate, share_bounds, stop_probability
from annotation.bws.judgements import Judgements
from annotation.models import Campaign, Judgement, Participation

CONFIDENCE = 0.95
MOST_GOLDS_SHOWN = 60  # more golds stop hardly anybody else
FEWEST_OF_100 = 0.005  # of people who are stopped: a smaller share rounds to none of 100, and one less to all
ABOVE = 0.15  # as far above the threshold is somebody whom the gate should keep


@dataclass(frozen=True)
class RepeatAgreement:
    """choices: best and worst of each repeat are two. same: how many of them were as before.

    Best and worst of one repeat are taken for independent, as those of gold tuples are.
    """

    choices: int
    same: int

    @property
    def share(self) -> float:
        return self.same / self.choices

    @property
    def lower(self) -> float:
        """One-sided 95 % bound of the true share, as `upper` is."""
        return share_bounds(self.same, self.choices, CONFIDENCE)[0]

    @property
    def upper(self) -> float:
        return share_bounds(self.same, self.choices, CONFIDENCE)[1]


def repeated_judgements(campaign: Campaign) -> QuerySet[Judgement]:
    """Answers to repeats in order of arrival, with `first_best` and `first_worst`, the slots of the first answer;
    None in a tie.

    An answer that was taken back since leaves its repeat with nothing to be held against, and is left out.
    """
    first = Judgement.objects.filter(
        tuple=OuterRef("tuple__repeats"), participation=OuterRef("participation")
    )
    again = Judgement.objects.filter(
        Exists(first), participation__campaign=campaign, status=Judgement.Status.REPEAT
    ).annotate(
        first_best=Subquery(first.values("best_slot")), first_worst=Subquery(first.values("worst_slot"))
    )
    return again.order_by("pk")


def repeat_agreement_by_person(campaign: Campaign) -> dict[int, RepeatAgreement]:
    """The intra-annotator agreement of everybody who answered a repeat, by participation. One query."""
    columns = ("participation", "first_best", "first_worst", "best_slot", "worst_slot")
    found = repeated_judgements(campaign).values_list(*columns)
    ties_marked = [[-1 if value is None else value for value in row] for row in found]
    rows = np.array(ties_marked, dtype=np.int64).reshape(-1, 5)
    if not len(rows):
        return {}
    size = campaign.tuple_size
    # Each repeat and its first showing are a tuple by themselves: what else shares its pairs is not a repeat.
    items = np.arange(len(rows) * size).reshape(-1, size)
    judged = Judgements.from_slots(
        np.vstack([items, items]),
        np.concatenate([rows[:, 1], rows[:, 3]]),
        np.concatenate([rows[:, 2], rows[:, 4]]),
        item_count=items.size,
        annotators=np.tile(rows[:, 0], 2),
    )
    agreement = intra_annotator_agreement(judged)
    people = zip(
        agreement.annotators.tolist(), agreement.compared.tolist(), agreement.shares.tolist(), strict=True
    )
    return {person: RepeatAgreement(choices, round(share * choices)) for person, choices, share in people}


def repeat_agreement_of_all(people: Iterable[RepeatAgreement]) -> RepeatAgreement | None:
    """That of people together, each choice with the same weight; None where nothing was repeated."""
    people = list(people)
    choices = sum(person.choices for person in people)
    return RepeatAgreement(choices, sum(person.same for person in people)) if choices else None


def gate_of(person: Participation) -> GoldGate:
    """What the gate says of the person's gold trials since they joined or were reinstated."""
    return gold_gate(
        trials=person.trials_since,
        right=person.right_since,
        minimum=person.campaign.gold_minimum,
        threshold=person.campaign.gold_threshold,
    )


def gate_sentence(*, golds: int, size: int, minimum: int, threshold: float) -> str:
    """How often the gate stops somebody who guesses, who is at the threshold and who is well above it.

    golds: how many gold tuples a person answers at most. size: items in a tuple.
    """
    golds = min(golds, MOST_GOLDS_SHOWN)
    rates = {"guess": 1 / size, "at": threshold, "above": min(1.0, threshold + ABOVE)}
    stopped = {
        name: stop_probability(rate, golds=golds, minimum=minimum, threshold=threshold)
        for name, rate in rates.items()
    }
    return _(
        "The exclusion rule stops people who fail too many attention checks. Of 100 people who answer %(golds)d "
        "checks, it stops %(guess)s if all guess, %(at)s if all choose right %(threshold).0f %% of the time, "
        "and %(above)s if all choose right %(high).0f %% of the time."
    ) % {
        "golds": golds,
        "threshold": 100 * threshold,
        "high": 100 * rates["above"],
        **{name: _people_of_100(share) for name, share in stopped.items()},
    }


def _people_of_100(share: float) -> str:
    if share > 1 - FEWEST_OF_100:
        return _("nearly all")
    return _("about %(n).0f") % {"n": 100 * share} if share >= FEWEST_OF_100 else _("fewer than one")
