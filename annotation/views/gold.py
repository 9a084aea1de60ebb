"""Gold tuples: the list with how people did, adding by hand, suggestions, reasons."""

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.cost import gate_of_campaign
from annotation.campaigns.gold import GoldSuggestion, gold_add, gold_change, gold_remove, gold_suggest
from annotation.campaigns.head import campaign_head
from annotation.campaigns.selectors import pairs_of
from annotation.forms.gold import (
    GoldForm,
    KeepFormSet,
    SuggestForm,
    WhyForm,
    answer_of,
    reason_drafted,
)
from annotation.judging.gold_removal import GateAgain, gold_restore, gold_withdraw
from annotation.models import Campaign, Tuple
from annotation.results.gold_doubts import golds_to_remove
from annotation.results.selectors import golds_of
from annotation.views.saying import campaign_say
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_from, page_number
from curation.people.access import AuthedRequest


@require_GET
def gold_list(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="read")
    every = golds_of(campaign)
    golds = [gold for gold in every if not gold.gold_answer.withdrawn]
    removals = {removal.gold: removal for removal in golds_to_remove(campaign)}
    context = campaign_head(request.user, campaign, "gold") | {
        "golds": golds,
        "doubted": [(gold, removals[gold.pk]) for gold in golds if gold.pk in removals],
        "removed": [gold for gold in every if gold.gold_answer.withdrawn],
        "scored": campaign.dataset.score_sets.exists(),
        "changeable": campaign.state != Campaign.State.CLOSED,
        "gate": gate_of_campaign(campaign) if golds else None,
    }
    return render(request, "annotation/campaigns/gold.html", context)


@require_http_methods(["GET", "POST"])
def gold_new(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Pairs are taken one by one; the address keeps which, so that the page works with the back button."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    # The pairs that the address names, in that order, at most as many as a tuple holds.
    listed = request.GET.get("pairs", "").split(",")
    numbers = [number for text in listed if (number := number_from(text)) is not None]
    known = campaign.dataset.pairs.select_related("a", "b").in_bulk(numbers)
    pairs = [known[number] for number in dict.fromkeys(numbers) if number in known][: campaign.tuple_size]
    form = GoldForm(campaign, pairs, request.POST or None)
    if form.is_valid():
        try:
            gold_add(campaign=campaign, pairs=pairs, by=request.user, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, str(error))
        else:
            _say(request, campaign, _("The attention check is added."))
            return redirect("annotation:gold", campaign.pk)
    search = request.GET.get("search", "")
    address = QueryDict(mutable=True)
    address.update({"pairs": _joined(pairs), "search": search})
    context = campaign_head(request.user, campaign, "gold") | {
        "form": form,
        "chosen": [(pair, _joined(other for other in pairs if other != pair)) for pair in pairs],
        "complete": len(pairs) == campaign.tuple_size,
        "pairs": _joined(pairs),
        "taken": {pair.pk for pair in pairs},
        "search": search,
        "page": pairs_of(campaign, search=search, page=page_number(request)),
        "address": f"{address.urlencode()}&",
    }
    return render(request, "annotation/campaigns/gold_new.html", context)


def _joined(pairs: object) -> str:
    return ",".join(str(pair.pk) for pair in pairs)  # type: ignore[attr-defined]


@require_http_methods(["GET", "POST"])
def gold_suggest_view(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = SuggestForm(campaign, request.GET or None)
    suggestions: list[GoldSuggestion] = []
    problem = ""  # why there are none
    if form.is_bound and form.is_valid():
        try:
            found = gold_suggest(campaign=campaign, **form.cleaned_data)
            suggestions = sorted(found, key=lambda suggestion: -suggestion.margin)
        except UserError as error:
            problem = str(error)
    initial = [
        {"answer": answer_of(suggestion), "why": reason_drafted(suggestion)} for suggestion in suggestions
    ]
    formset = KeepFormSet(request.POST or None, initial=initial)
    if request.method == "POST" and formset.is_valid():
        by_answer = {answer_of(suggestion): suggestion for suggestion in suggestions}
        kept = 0
        for cleaned in (each.cleaned_data for each in formset.forms):
            suggestion = by_answer.get(cleaned["answer"])
            if suggestion is None or not cleaned["keep"]:
                continue
            gold_add(
                campaign=campaign,
                pairs=suggestion.pairs,
                best=suggestion.best,
                worst=suggestion.worst,
                why=cleaned["why"],
                by=request.user,
            )
            kept += 1
        said = ngettext(
            "%(number)d attention check is added.", "%(number)d attention checks are added.", kept
        )
        _say(request, campaign, said % {"number": kept})
        return redirect("annotation:gold", campaign.pk)
    context = campaign_head(request.user, campaign, "gold") | {
        "form": form,
        "problem": problem,
        "formset": formset,
        "scored": campaign.dataset.score_sets.exists(),
        "suggestions": list(zip(suggestions, formset.forms, strict=False)),
    }
    return render(request, "annotation/campaigns/gold_suggest.html", context)


@require_http_methods(["GET", "POST"])
def gold_edit(request: AuthedRequest, campaign_pk: int, tuple_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    gold = _gold(campaign, tuple_pk)
    form = WhyForm(request.POST or None, initial={"why": gold.gold_answer.why})
    if form.is_valid():
        gold_change(gold=gold, why=form.cleaned_data["why"], by=request.user)
        return redirect("annotation:gold", campaign.pk)
    context = campaign_head(request.user, campaign, "gold") | {
        "form": form,
        "row": next(row for row in golds_of(campaign) if row == gold),
    }
    return render(request, "annotation/campaigns/gold_edit.html", context)


@require_POST
def gold_remove_view(request: AuthedRequest, campaign_pk: int, tuple_pk: int) -> HttpResponse:
    """One that nobody has seen is deleted; any other is taken out of use, and the gold rule decides again."""
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    gold = _gold(campaign, tuple_pk)
    try:
        if not gold.leases.exists():
            gold_remove(gold=gold, by=request.user)
            _say(request, campaign, _("Attention check %(number)d is removed.") % {"number": gold.number})
        else:
            again = gold_withdraw(gold=gold, by=request.user)
            said = _(
                "Attention check %(number)d is removed. To undo this, restore it at the end of this page."
            )
            _say(request, campaign, _with_people(said % {"number": gold.number}, again))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:gold", campaign.pk)


@require_POST
def gold_restore_view(request: AuthedRequest, campaign_pk: int, tuple_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    gold = _gold(campaign, tuple_pk)
    try:
        again = gold_restore(gold=gold, by=request.user)
        said = _("Attention check %(number)d is back in use.") % {"number": gold.number}
        _say(request, campaign, _with_people(said, again))
    except UserError as error:
        messages.error(request, str(error))
    return redirect("annotation:gold", campaign.pk)


def _say(request: AuthedRequest, campaign: Campaign, sentence: str) -> None:
    opens = campaign.state == Campaign.State.DRAFT
    campaign_say(request, campaign, sentence, then=_("Open the campaign") if opens else "")


def _with_people(sentence: str, again: GateAgain) -> str:
    """With whom the gold rule treats otherwise now."""
    sentences = [sentence]
    if again.reinstated:
        names = ", ".join(str(person.user) for person in again.reinstated)
        sentences.append(
            _("The exclusion rule lets these people continue, and their judgements count again: %(names)s.")
            % {"names": names}
        )
    if again.stopped:
        names = ", ".join(str(person.user) for person in again.stopped)
        sentences.append(
            _("The exclusion rule stops these people, and their judgements do not count: %(names)s.")
            % {"names": names}
        )
    return " ".join(sentences)


def _gold(campaign: Campaign, tuple_pk: int) -> Tuple:
    golds = campaign.tuples.filter(is_gold=True).select_related("gold_answer", "campaign")
    gold: Tuple = get_object_or_404(golds, pk=tuple_pk)
    return gold
