"""Hidden repeats while people judge: where they stand, which tuple comes again, in which order of cards."""

from functools import partial
from itertools import count

from django.db.models import Exists, OuterRef, Subquery

from annotation.campaigns.seeds import Stream, campaign_rng, turn_is_drawn
from annotation.judging.gold import gold_stands_at
from annotation.models import Flag, Judgement, JudgementRevision, Lease, Participation, Tuple, TupleItem

JUDGED_BETWEEN = 10  # by the person, gold tuples and repeats too: fewer, and an answer may be remembered


def repeat_is_due(person: Participation) -> bool:
    """Whether the next tuple is a repeat: one in every `repeat_every`, at a turn drawn for each of them.

    Where gold comes at the same turn, the repeat comes after it. No query.
    """
    if not person.campaign.repeat_every or gold_stands_at(person, person.handed):
        return False
    turn, every = person.handed, person.campaign.repeat_every
    drawn = partial(turn_is_drawn, person.campaign, Stream.REPEAT_PLACE, person.user_id, every=every)
    while not drawn(turn=turn):
        turn -= 1
        if turn < 0 or not gold_stands_at(person, turn):
            return False
    return True


def repeat_choose(person: Participation) -> Tuple | None:
    """A tuple that the person judged a while ago, drawn from the seed; None where there is none.

    None that was repeated to them before, that they flagged, or whose answer they took back once.
    """
    own = {"tuple": OuterRef("tuple"), "participation": person}
    met = Lease.objects.filter(tuple__repeats=OuterRef("tuple"), participation=person)
    latest = person.judgements.order_by("-pk").values("pk")
    judged = person.judgements.filter(
        ~Exists(met.exclude(state=Lease.State.RELEASED)),
        ~Exists(JudgementRevision.objects.filter(**own)),
        ~Exists(Flag.objects.filter(**own)),
        pk__lte=Subquery(latest[JUDGED_BETWEEN : JUDGED_BETWEEN + 1]),
    ).exclude(status__in=[Judgement.Status.GOLD, Judgement.Status.REPEAT])
    judged_tuples = list(judged.order_by("pk").values_list("tuple", flat=True))
    if not judged_tuples:
        return None
    rng = campaign_rng(person.campaign, Stream.REPEAT_CHOICE, person.user_id, person.handed)
    first = Tuple.objects.get(pk=judged_tuples[int(rng.integers(len(judged_tuples)))])
    # The row under which everybody meets this tuple again is made for the first who does.
    facts = {"campaign_id": first.campaign_id, "number": first.number, "round": first.round}
    repeat, made = Tuple.objects.get_or_create(
        repeats=first, defaults=facts | {"priority": first.priority, "required": 0}
    )
    if made:
        TupleItem.objects.bulk_create(
            TupleItem(tuple=repeat, slot=item.slot, pair_id=item.pair_id) for item in first.items.all()
        )
    return repeat


def order_again(person: Participation, repeat: Tuple) -> list[int]:
    """The cards' order of a repeat: slots, drawn per person and tuple, other than at the first showing."""
    first = person.leases.values_list("order_shown", flat=True).get(tuple=repeat.repeats_id)
    rng = campaign_rng(person.campaign, Stream.REPEAT_ORDER, person.user_id, repeat.number)
    drawn = ([int(slot) for slot in rng.permutation(len(first))] for _ in count())
    return next(order for order in drawn if order != first)
