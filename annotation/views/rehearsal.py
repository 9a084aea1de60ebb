"""The judging screen with nothing behind it, for practice and for the preview of a campaign."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.shortcuts import render

from annotation.cards import Card
from annotation.forms.judging import FlagForm
from annotation.judging.rehearsal import rehearsal_context
from annotation.models import Campaign, Participation
from curation.people.access import AuthedRequest


def rehearsal_page(
    request: AuthedRequest,
    campaign: Campaign,
    tuples: Sequence[Sequence[Card]],
    *,
    number: int,
    name: str,
    leave: str,
) -> HttpResponse:
    """The screen of one of the tuples, and after it the others.

    number: of the tuple to begin with, from 1. name: what the page is, in a word. leave: the address to go back to.
    """
    nobody = Participation(campaign=campaign, user=request.user)
    context = rehearsal_context(nobody, tuples, number=max(number, 1) - 1, name=name, leave=leave) | {
        "skip_form": FlagForm(nobody, auto_id="skip_%s"),
        "flag_form": FlagForm(nobody, auto_id="flag_%s", comments=True),
        "guidelines_open": request.GET.get("guidelines") == "open",
    }
    return render(request, "annotation/judging/judge.html", context)
