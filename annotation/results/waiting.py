"""The tuples that a campaign waits for: which, for how many judgements, and who can still give them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.access import campaign_may
from annotation.models import Campaign, Flag, Judgement, Lease, Participation, Tuple
from annotation.results.dashboard import Dashboard
from curation.foundation.roles import Role
from curation.models import User
from curation.people.members import members_of

SHOWN = 5
NAMED = 3
NEAR_THE_END = 0.05  # of the tuples: where no more are open, each of them deserves a line
DONE = (Lease.State.ANSWERED, Lease.State.SKIPPED)


@dataclass(frozen=True)
class WaitingTuple:
    """missing: judgements. skips: who skipped it, and why. able: people who can still judge it."""

    number: int
    missing: int
    skips: list[Flag]
    able: list[User]


@dataclass(frozen=True)
class TuplesWaiting:
    """rows: the first of the tuples. others: how many more there are. missing: judgements of all of them. most: the
    most that are missing of one.
    """

    rows: list[WaitingTuple]
    others: int
    missing: int
    most: int

    @property
    def for_nobody_here(self) -> bool:
        """Whether all that can be said of each is that somebody else has to judge it."""
        return len(self.rows) > 1 and not any(row.able or row.skips for row in self.rows)

    @property
    def people(self) -> int:
        """How many more annotators the campaign needs, as far as its first tuples say; at least one."""
        if self.for_nobody_here:
            return self.most
        return max(1, *(row.missing - len(row.able) for row in self.rows))


def tuples_waiting(campaign: Campaign) -> TuplesWaiting | None:
    """The open tuples that everyone at work here has answered or skipped, and all that are open near the end.

    None where there is none; what is on somebody's screen does not wait. A constant number of queries.
    """
    is_open = Q(collected__lt=F("required") - F("leased"))
    tuples = campaign.tuples.for_scores()
    counts = tuples.aggregate(
        number=Count("pk"), open=Count("pk", filter=is_open), most=Max("required", default=0)
    )
    if not counts["open"]:
        return None
    waiting: QuerySet[Tuple] = tuples.filter(is_open)
    if counts["open"] > max(SHOWN, NEAR_THE_END * counts["number"]):
        waiting = _left_by_all(campaign, waiting, most=counts["most"])
    rows = list(waiting.order_by("number")[:SHOWN])
    if not rows:
        return None
    lacking = F("required") - F("collected")
    total = waiting.aggregate(number=Count("pk"), missing=Sum(lacking), most=Max(lacking))
    skips: dict[int, list[Flag]] = defaultdict(list)
    flags = Flag.objects.filter(tuple__in=rows, kind=Flag.Kind.SKIP)
    for flag in flags.select_related("participation__user"):
        skips[flag.tuple_id].append(flag)
    done: dict[int, set[int]] = defaultdict(set)
    leases = Lease.objects.filter(tuple__in=rows, state__in=DONE)
    for tuple_id, person in leases.values_list("tuple", "participation__user"):
        done[tuple_id].add(person)

    # Who may be expected to judge: those in the campaign who were not stopped, and annotators who have not begun.
    joined = list(campaign.participations.select_related("user").order_by("pk"))
    known = {person.user_id for person in joined}
    going_on = [
        person.user for person in joined if person.state == Participation.State.ACTIVE and not person.rates
    ]
    annotators = members_of(campaign.dataset).filter(role=Role.ANNOTATOR)
    people = going_on + [member.user for member in annotators if member.user_id not in known]

    shown = [
        WaitingTuple(
            each.number,
            each.required - each.collected,
            skips[each.pk],
            [person for person in people if person.pk not in done[each.pk]],
        )
        for each in rows
    ]
    return TuplesWaiting(shown, total["number"] - len(rows), total["missing"], total["most"])


def _left_by_all(campaign: Campaign, tuples: QuerySet[Tuple], *, most: int) -> QuerySet[Tuple]:
    """Those that each person at work has answered or skipped: all of them if nothing else is left, or those skipped.

    Before, a tuple that all have answered only says that more people are still to come.
    """
    judged = Judgement.objects.filter(participation=OuterRef("pk"))
    at_work = campaign.participations.filter(Exists(judged), state=Participation.State.ACTIVE)
    people = at_work.count()
    skipped = Flag.objects.filter(tuple=OuterRef("pk"), kind=Flag.Kind.SKIP)
    skips = Flag.objects.filter(tuple__campaign=campaign, kind=Flag.Kind.SKIP).count()
    if not people or people > most + skips:  # so many cannot all have had one and the same tuple
        return tuples.none()
    leases = Lease.objects.filter(tuple=OuterRef("pk"), participation__in=at_work, state__in=DONE)
    done = leases.order_by().values("tuple").annotate(number=Count("pk")).values("number")
    answered = tuples.annotate(done=Coalesce(Subquery(done), 0))
    left = answered.filter(done__gte=people)
    return left.filter(Exists(skipped)) if answered.filter(done__lt=people).exists() else left


def waiting_context(user: User, campaign: Campaign, dashboard: Dashboard) -> dict[str, Any]:
    """What the page of an open campaign says and offers; nothing before the first judgement or when it is not open."""
    if campaign.state != Campaign.State.OPEN:
        return {}
    waiting = tuples_waiting(campaign) if dashboard.collected else None
    if waiting is None:
        return {}
    if waiting.for_nobody_here:
        # All tuples in one sentence, with what to do.
        sentence = ngettext(
            "%(tuples)d tuples need %(missing)d more judgements, and everyone in the campaign has answered or skipped "
            "them. Invite another annotator.",
            "%(tuples)d tuples need %(missing)d more judgements, and everyone in the campaign has answered or skipped "
            "them. Invite %(people)d more annotators.",
            waiting.most,
        ) % {
            "tuples": len(waiting.rows) + waiting.others,
            "missing": waiting.missing,
            "people": waiting.most,
        }
        return {
            "waiting": [{"sentence": sentence, "skips": [], "address": ""}],
            "waiting_people": waiting.people,
            "waiting_judge": "",
        }
    others = ngettext(
        "%(n)d other tuple waits as well; %(missing)d judgements are missing in all.",
        "%(n)d other tuples wait as well; %(missing)d judgements are missing in all.",
        waiting.others,
    ) % {"n": waiting.others, "missing": waiting.missing}
    address = reverse("annotation:judgements", args=[campaign.pk])
    return {
        "waiting": [
            {
                "sentence": _sentence(row),
                "skips": [_skip(flag) for flag in row.skips],
                "address": f"{address}?tuple={row.number}",
            }
            for row in waiting.rows
        ],
        "waiting_people": waiting.people,
        "waiting_others": others if waiting.others else "",
        "waiting_judge": _judge_address(user, campaign, waiting),
    }


def _sentence(row: WaitingTuple) -> str:
    needs = ngettext(
        "Tuple %(tuple)d needs one more judgement",
        "Tuple %(tuple)d needs %(missing)d more judgements",
        row.missing,
    ) % {"tuple": row.number, "missing": row.missing}
    names = [str(person) for person in row.able[:NAMED]]
    if more := len(row.able) - len(names):
        names.append(ngettext("%(n)d other", "%(n)d others", more) % {"n": more})
    words = {"needs": needs, "people": get_text_list(names, _("and"))}
    if not row.able:
        return _("%(needs)s; everyone in the campaign has answered or skipped it.") % words
    if len(row.able) < row.missing:
        return _("%(needs)s, and only %(people)s can still annotate it.") % words
    return _("%(needs)s; %(people)s can still annotate it.") % words


def _skip(flag: Flag) -> str:
    words = {"person": flag.participation.user, "reason": flag.get_reason_display(), "note": flag.note}
    if flag.note:
        return _("%(person)s skipped it: %(reason)s (“%(note)s”).") % words
    return _("%(person)s skipped it: %(reason)s.") % words


def _judge_address(user: User, campaign: Campaign, waiting: TuplesWaiting) -> str:
    """Where the person can judge the first of the tuples that they can, if there is one."""
    if not campaign_may(user, campaign, may="annotate"):
        return ""
    mine = Participation.objects.filter(campaign=campaign, user=user).first()
    if mine is not None and (mine.state != Participation.State.ACTIVE or mine.rates):
        return ""
    for row in waiting.rows:
        if mine is None or user in row.able:
            return f"{reverse('annotation:judge', args=[campaign.pk])}?tuple={row.number}"
    return ""
