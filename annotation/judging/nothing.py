"""The page for people who get no tuple: why, and what comes next."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.judging.assignment import NOTHING_LEFT
from annotation.judging.choosing import Nothing
from annotation.judging.screen import progress_text, undoable, words
from annotation.models import Participation
from curation.datasets.people import members_of
from curation.models import Dataset, Role


def nothing_context(participation: Participation, nothing: Nothing) -> dict[str, Any]:
    may_undo = nothing in NOTHING_LEFT | {Nothing.CHOOSING}
    return {
        "campaign": participation.campaign,
        "participation": participation,
        "words": words(participation),
        "over": _nothing_page(participation, nothing),
        "progress": progress_text(participation),
        "undo": undoable(participation) if may_undo else "",
    }


def _nothing_page(participation: Participation, nothing: Nothing) -> dict[str, Any]:
    titles = {
        Nothing.JUDGED: _("Everything here is judged"),
        Nothing.YOURS: _("You have judged all that you can here"),
        Nothing.LEASED: _("Nothing to judge at this moment"),
        Nothing.CHOOSING: _("Nothing to judge at this moment"),
        Nothing.DRAFT: _("This campaign is not open yet"),
        Nothing.PAUSED: _("This campaign is paused"),
        Nothing.ARCHIVED: _("This dataset is archived"),
        Nothing.CLOSED: _("This campaign is closed"),
        Nothing.STOPPED: _("Your part in this campaign has ended"),
    }
    stopped = nothing is Nothing.STOPPED
    return {
        "title": titles[nothing],
        "sentence": _("You get no more pairs to judge here.") if stopped else str(nothing.label),
        "next": _after_stop(participation.campaign.dataset) if stopped else [_after(nothing)],
        "reason": participation.reason if stopped else "",
        "again": nothing in {Nothing.LEASED, Nothing.CHOOSING, Nothing.PAUSED},
    }


def _after(nothing: Nothing) -> str:
    if nothing in {Nothing.JUDGED, Nothing.YOURS}:
        return _("If another judgement is required, this page shows the next pairs when you come back.")
    if nothing is Nothing.LEASED:
        return _("Pairs that others leave open come back within half an hour.")
    return _("Your judgements are saved. You find them under your campaigns.")


def _after_stop(dataset: Dataset) -> list[str]:
    kept = _(
        "Your judgements are kept. Whether they count for the scores is a question of method. "
        "It decides nothing about pay."
    )
    mistake = _(
        "If you think this is a mistake, tell %(owners)s: "
        "an owner sees your judgements and can let you continue."
    )
    owners = ", ".join(str(member.user) for member in members_of(dataset) if member.role == Role.OWNER)
    return [kept, mistake % {"owners": owners}] if owners else [kept]
