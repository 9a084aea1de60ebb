"""An annotator's screen: as a page, and as the JSON that the page's script reads.

Nothing here tells a gold tuple before it is answered: a tuple goes by its lease, a pair by its screen
position.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Count, QuerySet, Subquery
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.studies.costs import seconds_at_size
from annotation.cards import Card, cards_of
from annotation.judging.assignment import tuple_claim, tuples_fetch
from annotation.judging.choosing import NoTupleReason
from annotation.judging.gold import EXPECTED_SEEN, GoldFeedback, gold_feedback
from annotation.models import Campaign, Judgement, JudgementRevision, Lease, Participation, Sitting
from curation.foundation.statements import built_once

SITTING = 40  # screens: about a quarter of an hour, after which a break is offered
LONG_SENTENCE = 150  # characters


@dataclass(frozen=True)
class TupleScreen:
    """A tuple to judge. `best` and `worst` are screen positions: the choice to start from; or a tie."""

    lease_pk: int
    cards: list[Card]
    client_id: UUID | None
    best: int | None = None
    worst: int | None = None
    tie: bool = False

    @property
    def long(self) -> bool:
        """Whether the sentences need smaller letters for four cards to fit a laptop's screen."""
        return any(len(text) > LONG_SENTENCE for card in self.cards for text in (card.a.text, card.b.text))


def shown_again(
    lease: Lease, *, best: int | None = None, worst: int | None = None, tie: bool = False
) -> TupleScreen:
    """The tuple of a lease, with a choice already made."""
    return TupleScreen(lease.pk, cards_of([lease])[lease.pk], uuid4(), best, worst, tie)


def shown_now(participation: Participation, lease: Lease) -> TupleScreen:
    """The tuple on the screen; one that came back by an undo keeps the choice that was taken back."""
    return shown_again(lease, **_choice_before(participation, lease))


def _choice_before(participation: Participation, lease: Lease) -> dict[str, Any]:
    """The answer that was taken back: screen positions, or a tie."""
    undone = answer_undone(participation, lease.tuple_id)
    if undone is None:
        return {}
    best, worst = undone
    if best is None or worst is None:
        return {"tie": True}
    return {"best": lease.order_shown.index(best), "worst": lease.order_shown.index(worst)}


def answered_of(judgement: Judgement, feedback: GoldFeedback) -> dict[str, Any]:
    """A gold tuple answered otherwise than expected. Places on the screen from 0, numbers from 1."""
    position = judgement.order_shown.index
    best, worst = position(feedback.best_slot), position(feedback.worst_slot)
    return {
        "cards": cards_of([judgement])[judgement.pk],
        "best": None if judgement.best_slot is None else position(judgement.best_slot),
        "worst": None if judgement.worst_slot is None else position(judgement.worst_slot),
        "tie": judgement.is_tie,
        "expected_best": best,
        "expected_worst": worst,
        "expected_best_number": best + 1,
        "expected_worst_number": worst + 1,
        "why": feedback.why,
        "undo_off": str(EXPECTED_SEEN),
    }


def addresses_of(campaign: Campaign) -> dict[str, str]:
    """Where answers and undos go, where what follows is asked, the page when nothing is left, and where to leave to."""
    names = {
        "answer": "judgement_create",
        "screen": "judge_screen",
        "undo": "judgement_undo",
        "page": "judge",
    }
    addresses = {key: reverse(f"annotation:{name}", args=[campaign.pk]) for key, name in names.items()}
    return addresses | {"leave": reverse("annotation:mine")}


def progress_text(judged: int) -> str:
    """How far this sitting is; never a share of the campaign, which would only hurry people."""
    return ngettext("%(number)d answered in this session", "%(number)d answered in this session", judged) % {
        "number": judged
    }


def sitting_of(campaign: Campaign, judged: int) -> dict[str, int]:
    """How many screens a sitting has, about how many minutes they take, and how many are done of this one."""
    return {
        "screens": SITTING,
        "minutes": sitting_minutes(campaign),
        "done": _sitting_done(judged),
    }


def sitting_minutes(campaign: Campaign) -> int:
    return round(SITTING * seconds_at_size(campaign.tuple_size) / 60)


def _sitting_done(judged: int) -> int:
    """Of the sitting that the person is in: after a break that nobody took, the next one begins."""
    return SITTING if judged and judged % SITTING == 0 else judged % SITTING


def sitting_is_over(done: int) -> bool:
    """Whether the last answer was the sitting's last. done: of the sitting, as `screen_json` says it."""
    return done == SITTING


def undo_offered(participation: Participation) -> dict[str, str]:
    """undo: the client_id of the judgement that an undo would take back, or nothing. undo_off: why it cannot."""
    last = _last.first(participation.pk)
    if last is None:
        return {"undo": "", "undo_off": ""}
    feedback = gold_feedback(last) if last.status == Judgement.Status.GOLD else None
    if feedback is not None and not feedback.right:
        return {"undo": "", "undo_off": str(EXPECTED_SEEN)}
    return {"undo": str(last.client_id), "undo_off": ""}


@built_once
def _last(person: int) -> QuerySet[Judgement]:
    shown = Judgement.objects.only("client_id", "status", "tuple_id", "best_slot", "worst_slot")
    return shown.filter(participation=person).order_by("-pk")[:1]


def screen_json(
    request: HttpRequest,
    participation: Participation,
    at: datetime,
    *,
    held: list[Lease] | None = None,
) -> dict[str, Any]:
    """The tuple on the screen and those after it, ready for the script. held: what `tuples_fetch` gave just before.

    The script names in a header the leases whose tuples it has; their cards are not drawn again.
    """
    if held is None:
        held = tuples_fetch(participation=participation, at=at)
    if not held:
        first = tuple_claim(participation=participation, at=at)
        held = [] if isinstance(first, NoTupleReason) else [first]
    known = set(request.headers.get("Judging-Has", "").split(","))
    cards = cards_of(lease for lease in held if str(lease.pk) not in known)
    tuples: list[dict[str, Any]] = []
    for place, lease in enumerate(held):
        tuples.append({"lease": lease.pk})
        if lease.pk in cards:
            choice = {} if place else _choice_before(participation, lease)
            shown = TupleScreen(lease.pk, cards[lease.pk], uuid4(), **choice)
            context = {"campaign": participation.campaign, "shown": shown}
            tuples[-1]["html"] = render_to_string("annotation/judging/_tuple.html", context)
    judged = sitting_judged(participation)
    return {
        "token": get_token(request),
        "tuple": tuples[0] if tuples else None,
        "ahead": tuples[1:],
        "over": not held,
        **undo_offered(participation),
        "progress": progress_text(judged),
        "sitting": _sitting_done(judged),
        "note": "",
    }


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
        "early": _("That came too early: read the expected answer, then continue."),
        "tie": _("Too close to call."),
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
            "You may not annotate in this campaign any more. Your unsent judgements stay on this device; "
            "ask an owner."
        ),
        "logged_out": _(
            "You were logged out. Your judgements wait on this device and are sent after you log in."
        ),
        "not_recorded": _("No connection, so nothing was recorded. Try again in a moment."),
        "not_recorded_failing": _(
            "This site has a problem at the moment, so nothing was recorded. Try again in a few minutes."
        ),
        "keys_short": _("Write one character for each of the {number} pairs, or leave the field empty."),
        "keys_twice": _("Each key can do one thing; choose another letter."),
        "log_in": _("Log in"),
        "unkept": _("This browser cannot keep them: leave the page open until they are sent."),
        "login_address": reverse("login"),
    }


def sitting_judged(participation: Participation) -> int:
    """How many tuples the person judged since they sat down."""
    counted = _judged_in_sitting.first(participation.pk)
    return counted[0] if counted else 0


@built_once
def _judged_in_sitting(person: int) -> QuerySet[Judgement, tuple[int]]:
    last = Sitting.objects.filter(participation=person).order_by("-pk").values("pk")[:1]
    judged = Judgement.objects.filter(sitting=Subquery(last)).order_by().values("sitting")
    return judged.annotate(number=Count("pk")).values_list("number")


def last_judgement(participation: Participation) -> Judgement | None:
    return participation.judgements.select_related("tuple").order_by("-pk").first()


def answer_undone(participation: Participation, tuple_id: int) -> tuple[int | None, int | None] | None:
    """The best and the worst slot of the answer to this tuple that the person took back last; None in a tie."""
    revision = _revision.first(participation.pk, tuple_id)
    return (revision.answer["best_slot"], revision.answer["worst_slot"]) if revision else None


@built_once
def _revision(person: int, tuple_id: int) -> QuerySet[JudgementRevision]:
    return JudgementRevision.objects.filter(participation=person, tuple=tuple_id).order_by("-pk")[:1]
