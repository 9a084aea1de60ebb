"""What the dashboard says of the tuples that a campaign waits for, and what it offers to do about them."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.access import campaign_may
from annotation.dashboard import Dashboard
from annotation.models import Campaign, Flag, Participation
from annotation.waiting import Waiting, WaitingTuple, tuples_waiting
from curation.forms.people import InvitationForm
from curation.models import Role, User

NAMED = 3


@dataclass(frozen=True)
class WaitingLine:
    sentence: str
    skips: list[str]
    address: str


def waiting_context(user: User, campaign: Campaign, dashboard: Dashboard) -> dict[str, Any]:
    """What the page of an open campaign says and offers; nothing before the first judgement or when it is not open."""
    if campaign.state != Campaign.State.OPEN:
        return {}
    waiting = tuples_waiting(campaign) if dashboard.judged else None
    context: dict[str, Any] = {"invitation_form": _invitation(user, campaign)}
    if waiting is None:
        return context
    return context | {
        "waiting": [_line(campaign, row) for row in waiting.rows],
        "waiting_others": _others(waiting),
        "waiting_judge": _judge_address(user, campaign, waiting),
    }


def _invitation(user: User, campaign: Campaign) -> InvitationForm | None:
    """The form of invitations, filled in: one person who judges, for two weeks."""
    if not campaign_may(user, campaign, may="own"):
        return None
    note = _("For the campaign %(name)s") % {"name": campaign.name}
    longest = InvitationForm.base_fields["note"].max_length  # type: ignore[attr-defined]
    return InvitationForm(initial={"role": Role.ANNOTATOR, "note": note[:longest]}, auto_id=False)


def _line(campaign: Campaign, row: WaitingTuple) -> WaitingLine:
    return WaitingLine(
        sentence=_sentence(row),
        skips=[_skip(flag) for flag in row.skips],
        address=f"{reverse('annotation:judgements', args=[campaign.pk])}?tuple={row.number}",
    )


def _sentence(row: WaitingTuple) -> str:
    needs = ngettext(
        "Tuple %(tuple)d needs one more judgement",
        "Tuple %(tuple)d needs %(missing)d more judgements",
        row.missing,
    ) % {"tuple": row.number, "missing": row.missing}
    words = {"needs": needs, "people": _named(row.able)}
    if not row.able:
        return _("%(needs)s; everyone in the campaign has answered or skipped it.") % words
    if len(row.able) < row.missing:
        return _("%(needs)s, and only %(people)s can still judge it.") % words
    return _("%(needs)s; %(people)s can still judge it.") % words


def _named(people: list[User]) -> str:
    names = [str(person) for person in people[:NAMED]]
    if more := len(people) - len(names):
        names.append(ngettext("%(n)d other", "%(n)d others", more) % {"n": more})
    return get_text_list(names, _("and"))


def _skip(flag: Flag) -> str:
    words = {"person": flag.participation.user, "reason": flag.get_reason_display(), "note": flag.note}
    if flag.note:
        return _("%(person)s skipped it: %(reason)s (“%(note)s”).") % words
    return _("%(person)s skipped it: %(reason)s.") % words


def _others(waiting: Waiting) -> str:
    if not waiting.others:
        return ""
    sentence = ngettext(
        "%(n)d other tuple waits as well; %(missing)d judgements are missing in all.",
        "%(n)d other tuples wait as well; %(missing)d judgements are missing in all.",
        waiting.others,
    )
    return sentence % {"n": waiting.others, "missing": waiting.missing}


def _judge_address(user: User, campaign: Campaign, waiting: Waiting) -> str:
    """Where the person can judge the first of the tuples that they can, if there is one."""
    if not campaign_may(user, campaign, may="annotate"):
        return ""
    mine = Participation.objects.filter(campaign=campaign, user=user).first()
    if mine is not None and mine.state != Participation.State.ACTIVE:
        return ""
    for row in waiting.rows:
        if mine is None or user in row.able:
            return f"{reverse('annotation:judge', args=[campaign.pk])}?tuple={row.number}"
    return ""
