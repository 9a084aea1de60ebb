"""Gold tuples while people judge: when they come, and the feedback about their answers."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy

from annotation.campaigns.seeds import Stream, campaign_rng, turn_is_drawn
from annotation.models import GoldAnswer, Judgement, Lease, Participation, Tuple

# Why a wrong answer to a gold tuple cannot be undone. A right one is undone like any other.
EXPECTED_SEEN = gettext_lazy("The last answer cannot be undone, because you have seen the expected answer.")


@dataclass(frozen=True)
class GoldFeedback:
    """The immediate feedback to a person's answer to a gold tuple. Slots are the design's."""

    best_right: bool
    worst_right: bool
    best_slot: int
    worst_slot: int
    why: str

    @property
    def right(self) -> bool:
        return self.best_right and self.worst_right


def gold_is_due(person: Participation) -> bool:
    """Whether the next tuple is a gold one: one in every `gold_every`, at a turn drawn for each of them."""
    return gold_stands_at(person, person.handed)


def gold_stands_at(person: Participation, turn: int) -> bool:
    """Whether the tuple handed to the person after `turn` others is a gold one, where one is left."""
    every = person.campaign.gold_every
    return turn_is_drawn(person.campaign, Stream.GOLD_PLACE, person.user_id, turn=turn, every=every)


def gold_choose(person: Participation) -> Tuple | None:
    """A gold tuple that the person has neither answered nor skipped nor before them, drawn from the seed."""
    seen = person.leases.exclude(state=Lease.State.RELEASED).values("tuple")
    unseen = person.campaign.tuples.gold_in_use().exclude(pk__in=seen).order_by("number")
    numbers = list(unseen.values_list("number", flat=True))
    if not numbers:
        return None
    rng = campaign_rng(person.campaign, Stream.GOLD_CHOICE, person.user_id, person.handed)
    return unseen.get(number=numbers[int(rng.integers(len(numbers)))])


def gold_feedback(judgement: Judgement) -> GoldFeedback | None:
    """The feedback on a judgement of a gold tuple; None for any other, and for one that was taken out of use."""
    answer = GoldAnswer.objects.filter(tuple=judgement.tuple_id, withdrawn=False).first()
    if answer is None:
        return None
    return GoldFeedback(
        best_right=judgement.best_slot == answer.best_slot,
        worst_right=judgement.worst_slot == answer.worst_slot,
        best_slot=answer.best_slot,
        worst_slot=answer.worst_slot,
        why=answer.why,
    )
