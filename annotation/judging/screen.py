"""An annotator's screen: as a page, and as the JSON that the page's script reads.

Nothing here tells a gold tuple before it is answered: a tuple goes by its lease, a pair by its screen
position.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.cards import Card, cards_of
from annotation.judging.assignment import tuple_claim
from annotation.judging.choosing import NoTupleReason
from annotation.judging.gold import GoldFeedback
from annotation.models import Judgement, JudgementRevision, Lease, Participation

JUDGEMENTS_BEFORE_A_BREAK = 50
LONG_SENTENCE = 150  # characters


@dataclass(frozen=True)
class TupleScreen:
    """A tuple to judge. `best` and `worst` are screen positions: the choice to start from."""

    lease_pk: int
    cards: list[Card]
    client_id: UUID | None
    best: int | None = None
    worst: int | None = None

    @property
    def long(self) -> bool:
        """Whether the sentences need smaller letters for four cards to fit a laptop's screen."""
        return any(len(text) > LONG_SENTENCE for card in self.cards for text in (card.a.text, card.b.text))


def shown_again(lease: Lease, *, best: int | None = None, worst: int | None = None) -> TupleScreen:
    """The tuple of a lease, with a choice already made."""
    return TupleScreen(lease.pk, cards_of([lease])[lease.pk], uuid4(), best, worst)


def shown_now(participation: Participation, lease: Lease) -> TupleScreen:
    """The tuple on the screen; one that came back by an undo keeps the choice that was taken back."""
    undone = answer_undone(participation, lease.tuple_id)
    if undone is None:
        return shown_again(lease)
    best, worst = (lease.order_shown.index(slot) for slot in undone)
    return shown_again(lease, best=best, worst=worst)


def answered_of(judgement: Judgement, feedback: GoldFeedback) -> dict[str, Any]:
    """A gold tuple answered otherwise than expected. Places on the screen from 0, numbers from 1."""
    position = judgement.order_shown.index
    best, worst = position(feedback.best_slot), position(feedback.worst_slot)
    return {
        "cards": cards_of([judgement])[judgement.pk],
        "best": position(judgement.best_slot),
        "worst": position(judgement.worst_slot),
        "expected_best": best,
        "expected_worst": worst,
        "expected_best_number": best + 1,
        "expected_worst_number": worst + 1,
        "why": feedback.why,
    }


def progress_text(participation: Participation) -> str:
    """How far this sitting is; never a share of the campaign, which would only hurry people."""
    judged = sitting_judged(participation)
    text = ngettext("%(number)d judged in this sitting", "%(number)d judged in this sitting", judged) % {
        "number": judged
    }
    if judged and judged % JUDGEMENTS_BEFORE_A_BREAK == 0:
        text = f"{text} · {_('a good moment for a break')}"
    return text


def undoable(participation: Participation) -> str:
    """The client_id of the judgement that an undo would take back, or nothing."""
    last = last_judgement(participation)
    return str(last.client_id) if last else ""


def screen_json(
    request: HttpRequest,
    participation: Participation,
    at: datetime,
    *,
    now: Lease | NoTupleReason | None = None,
) -> dict[str, Any]:
    """The tuple on the screen and the one after it, ready for the script. now: the one on the screen, where known."""
    now = now or tuple_claim(participation=participation, at=at)
    ahead = (
        now if isinstance(now, NoTupleReason) else tuple_claim(participation=participation, at=at, ahead=True)
    )
    return {
        "token": get_token(request),
        "tuple": None
        if isinstance(now, NoTupleReason)
        else _drawn(participation, shown_now(participation, now)),
        "ahead": None if isinstance(ahead, NoTupleReason) else _drawn(participation, shown_again(ahead)),
        "over": isinstance(now, NoTupleReason),
        "undo": undoable(participation),
        "progress": progress_text(participation),
        "note": "",
    }


def _drawn(participation: Participation, shown: TupleScreen) -> dict[str, Any]:
    context = {"campaign": participation.campaign, "shown": shown}
    return {"lease": shown.lease_pk, "html": render_to_string("annotation/judging/_tuple.html", context)}


def answered_html(participation: Participation, judgement: Judgement, feedback: GoldFeedback) -> str:
    context = {"campaign": participation.campaign, "answered": answered_of(judgement, feedback)}
    return render_to_string("annotation/judging/_answered.html", context)


def words(participation: Participation) -> dict[str, str]:
    """The sentences that the script says. Names in braces are filled in there."""
    labels = {"best": participation.campaign.best_label, "worst": participation.campaign.worst_label}
    return {
        "best": _("Pair {number}: %(best)s.") % labels,
        "worst": _("Pair {number}: %(worst)s.") % labels,
        "moved": _("Pair {number} changed sides."),
        "choose_best": _("Choose a pair for “%(best)s”.") % labels,
        "choose_worst": _("Choose a pair for “%(worst)s”.") % labels,
        "ready": _("Enter saves."),
        "saved": _("saved {time}"),
        "waiting": _("{number} waiting"),
        "undone": _("The last judgement is back."),
        "fetching": _("Fetching the next pairs."),
        "fetching_offline": _("The next pairs come as soon as there is a connection."),
        "unreachable": _("No connection. Your judgements wait on this device and are sent by themselves."),
        "failing": _(
            "This site has a problem at the moment. Your judgements wait on this device and are sent by themselves."
        ),
        "forbidden": _(
            "You may not judge in this campaign any more. Your unsent judgements stay on this device; ask an owner."
        ),
        "logged_out": _(
            "You were logged out. Your judgements wait on this device and are sent after you log in."
        ),
        "not_recorded": _("No connection, so nothing was recorded. Try again in a moment."),
        "not_recorded_failing": _(
            "This site has a problem at the moment, so nothing was recorded. Try again in a few minutes."
        ),
        "log_in": _("Log in"),
        "unkept": _("This browser cannot keep them: leave the page open until they are sent."),
        "login_address": reverse("login"),
    }


def sitting_judged(participation: Participation) -> int:
    """How many tuples the person judged since they sat down."""
    sitting = participation.sittings.order_by("-pk").first()
    return sitting.judgements.count() if sitting else 0


def last_judgement(participation: Participation) -> Judgement | None:
    return participation.judgements.select_related("tuple").order_by("-pk").first()


def answer_undone(participation: Participation, tuple_id: int) -> tuple[int, int] | None:
    """The best and the worst slot of the answer to this tuple that the person took back last."""
    revision = (
        JudgementRevision.objects.filter(participation=participation, tuple=tuple_id).order_by("-pk").first()
    )
    return (revision.answer["best_slot"], revision.answer["worst_slot"]) if revision else None
