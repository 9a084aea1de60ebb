"""Norming sessions: a curator starts one, begins its discussion and closes it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock, campaign_record, campaign_require
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.cards import cards_by_tuple
from annotation.models import Campaign, NormingItem, NormingSession, NormingTuple
from curation.foundation.errors import UserError
from curation.models import Pair, User
from curation.people.access import dataset_require_active
from curation.people.audit import Action

MOST_TUPLES = 20
MOST_PEOPLE = 100
TUPLES_PER_PAIR = 4  # of the campaign, looked through for each pair that is drawn


@transaction.atomic
def norming_start(
    *,
    campaign: Campaign,
    people: int,
    drawn: int = 5,
    chosen: Sequence[int] = (),
    by: User | None = None,
) -> NormingSession:
    """A session for `people` annotators, with copies of the campaign's tuples of the numbers `chosen`, or with `drawn`
    tuples made of pairs of different tuples, so that nobody sees a tuple early.

    Raises UserError where the campaign has no such tuples or asks nobody, or a session is not closed yet.
    """
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.OPEN, Campaign.State.PAUSED)
    if campaign.norming.exclude(state=NormingSession.State.CLOSED).exists():
        raise UserError(_("Close the calibration session that is under way before you start another one."))
    if not 2 <= people <= MOST_PEOPLE:
        raise UserError(_("A calibration session is for 2 to %(most)d people."), most=MOST_PEOPLE)
    wanted = len(set(chosen)) or drawn
    if not 1 <= wanted <= MOST_TUPLES:
        raise UserError(_("A calibration session has 1 to %(most)d tuples."), most=MOST_TUPLES)
    number = campaign.norming.aggregate(last=Max("number", default=0))["last"] + 1
    if chosen:
        rows = dict(campaign.tuples.for_scores().filter(number__in=chosen).values_list("number", "pk"))
        for each in chosen:
            if each not in rows:
                raise UserError(_("The campaign has no tuple %(number)d; choose another one."), number=each)
        cards = cards_by_tuple(rows.values())
        tuples = [[card.pair for card in cards[rows[each]]] for each in dict.fromkeys(chosen)]
    else:
        tuples = _drawn(campaign, drawn, number)
    session = NormingSession.objects.create(campaign=campaign, number=number, people=people)
    for place, pairs in enumerate(tuples, 1):
        row = NormingTuple.objects.create(session=session, number=place)
        NormingItem.objects.bulk_create(
            NormingItem(tuple=row, slot=slot, pair=pair) for slot, pair in enumerate(pairs)
        )
    campaign_record(campaign, Action.NORMING_STARTED, by=by, norming=number, tuples=len(tuples))
    return session


@dataclass
class _Group:
    """A tuple that is being made: its pairs, from which tuples they are, and their sentences."""

    pairs: list[Pair] = field(default_factory=list)
    origins: set[int] = field(default_factory=set)
    sentences: set[int] = field(default_factory=set)

    def takes(self, origin: int, pair: Pair, *, apart: bool) -> bool:
        known = apart and origin in self.origins
        return not known and not {pair.a_id, pair.b_id} & self.sentences

    def add(self, origin: int, pair: Pair) -> None:
        self.pairs.append(pair)
        self.origins.add(origin)
        self.sentences |= {pair.a_id, pair.b_id}


def _drawn(campaign: Campaign, count: int, number: int) -> list[list[Pair]]:
    """Tuples of pairs of different tuples, where there are enough; no pair twice, and no sentence twice in one."""
    size, rng = campaign.tuple_size, campaign_rng(campaign, Stream.NORMING_TUPLES, number)
    numbers = list(campaign.tuples.for_scores().order_by("number").values_list("pk", flat=True))
    looked_at = [numbers[index] for index in rng.permutation(len(numbers))[: count * size * TUPLES_PER_PAIR]]
    groups: list[_Group] = [_Group() for _count in range(count)]
    used: set[int] = set()
    # The pairs of these tuples, each with its tuple: the first pair of every tuple, then the second.
    cards = cards_by_tuple(looked_at)
    slots = range(max(map(len, cards.values()), default=0))
    offered = [(pk, cards[pk][slot].pair) for slot in slots for pk in looked_at if slot < len(cards[pk])]
    for apart in (True, False):  # in a small campaign two pairs may be of one tuple
        for origin, pair in offered:
            open_groups = (
                group
                for group in groups
                if len(group.pairs) < size and group.takes(origin, pair, apart=apart)
            )
            if pair.pk not in used and (group := next(open_groups, None)) is not None:
                group.add(origin, pair)
                used.add(pair.pk)
    full = [group.pairs for group in groups if len(group.pairs) == size]
    if len(full) < count:
        raise UserError(
            _("The campaign has pairs for %(number)d tuples of a calibration session; ask for fewer."),
            number=len(full),
        )
    return full


@transaction.atomic
def discussion_begin(*, session: NormingSession, at: datetime, by: User | None = None) -> NormingSession:
    """Show everybody how all judged. `by` is None where the last person finished."""
    return _move(session, NormingSession.State.DISCUSSING, NormingSession.State.JUDGING, at=at, by=by)


@transaction.atomic
def norming_close(*, session: NormingSession, at: datetime, by: User | None = None) -> NormingSession:
    """Take no more judgements and comments, and show what people chose after the discussion."""
    both = (NormingSession.State.JUDGING, NormingSession.State.DISCUSSING)
    return _move(session, NormingSession.State.CLOSED, *both, at=at, by=by)


def _move(
    session: NormingSession,
    to: NormingSession.State,
    *expected: NormingSession.State,
    at: datetime,
    by: User | None,
) -> NormingSession:
    session = norming_lock(session)
    dataset_require_active(session.campaign.dataset)
    if session.state not in expected:
        raise UserError(_("The calibration session has moved on. Load the page again."))
    session.state = to
    if to == NormingSession.State.DISCUSSING:
        session.discussed_at = at
    else:
        session.closed_at = at
    session.save(update_fields=["state", "discussed_at", "closed_at"])
    campaign_record(
        session.campaign, Action.NORMING_MOVED, by=by, rule=by is None, norming=session.number, state=to.value
    )
    return session


def norming_lock(session: NormingSession) -> NormingSession:
    """The session's row as it is now, locked until the transaction ends."""
    locked = NormingSession.objects.select_for_update(of=("self",), no_key=True)
    return locked.select_related("campaign__dataset").get(pk=session.pk)
