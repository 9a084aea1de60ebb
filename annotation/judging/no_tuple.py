"""The page for people who get no tuple: why, and what comes next."""

from typing import Any

from django.utils.translation import gettext as _

from annotation.judging.assignment import NOTHING_LEFT
from annotation.judging.choosing import NoTupleReason
from annotation.judging.screen import progress_text, sitting_judged, undo_offered, words
from annotation.models import Participation
from curation.foundation.roles import Role
from curation.people.members import members_of


def no_tuple_context(participation: Participation, reason: NoTupleReason) -> dict[str, Any]:
    """What the template needs: title, reason, next steps, progress and, where it is possible, the undo button."""
    may_undo = reason in NOTHING_LEFT | {NoTupleReason.CHOOSING, NoTupleReason.QUOTA}
    titles = {
        NoTupleReason.JUDGED: _("Everything here is annotated"),
        NoTupleReason.YOURS: _("You have answered all questions that you can here"),
        NoTupleReason.LEASED: _("Nothing to annotate at this moment"),
        NoTupleReason.CHOOSING: _("Nothing to annotate at this moment"),
        NoTupleReason.QUOTA: _("You have answered all questions that you were asked"),
        NoTupleReason.DRAFT: _("This campaign is not open yet"),
        NoTupleReason.PAUSED: _("This campaign is paused"),
        NoTupleReason.ARCHIVED: _("This dataset is archived"),
        NoTupleReason.CLOSED: _("This campaign is closed"),
        NoTupleReason.STOPPED: _("Your part in this campaign has ended"),
        NoTupleReason.QUIZ: _("Before you start"),
        NoTupleReason.RATES: _("You rate pairs in this campaign"),
    }
    stopped = reason is NoTupleReason.STOPPED
    sentence = _("Thank you for your work.") if reason is NoTupleReason.QUOTA else str(reason.label)
    following = [_after(reason)]
    if stopped:
        sentence = _("You get no more questions here.")
        following = [
            _(
                "Your judgements are kept. Whether they count for the scores is a question of method. "
                "It decides nothing about pay."
            )
        ]
        members = members_of(participation.campaign.dataset)
        owners = ", ".join(str(member.user) for member in members if member.role == Role.OWNER)
        if owners:
            mistake = _(
                "If you think this is a mistake, tell %(owners)s: "
                "an owner sees your judgements and can let you continue."
            )
            following.append(mistake % {"owners": owners})
    return {
        "campaign": participation.campaign,
        "participation": participation,
        "words": words(participation),
        "over": {
            "title": titles[reason],
            "sentence": sentence,
            "next": following,
            "reason": participation.reason if stopped else "",
            "rates": reason is NoTupleReason.RATES,
            "again": reason in {NoTupleReason.LEASED, NoTupleReason.CHOOSING, NoTupleReason.PAUSED},
        },
        "progress": progress_text(sitting_judged(participation)),
        **(undo_offered(participation) if may_undo else {}),
    }


def _after(reason: NoTupleReason) -> str:
    if reason in {NoTupleReason.JUDGED, NoTupleReason.YOURS}:
        return _("If another judgement is required, this page shows the next pairs when you come back.")
    if reason is NoTupleReason.RATES:
        return _("So nobody rates pairs that they have compared before.")
    if reason is NoTupleReason.LEASED:
        return _("Pairs that others leave open come back within half an hour.")
    return _("Your judgements are saved. You find them under your campaigns.")
