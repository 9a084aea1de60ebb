"""Gold tuples: the list with how people did, adding by hand, suggestions, reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.campaigns.cost import gate_of_campaign
from annotation.campaigns.gold import (
    GoldSuggestion,
    gold_add,
    gold_change,
    gold_fill,
    gold_remove,
    gold_suggest,
)
from annotation.campaigns.head import campaign_head
from annotation.campaigns.selectors import pairs_fitting, pairs_of
from annotation.forms.gold import (
    GoldFilterForm,
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
from curation.models import Pair
from curation.people.access import AuthedRequest
from curation.views.said import success_say

ROWS_PER_PAGE = 50
ROLES = ("best", "worst", "between")


@require_GET
def gold_list(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The attention checks that the address asks for."""
    campaign = campaign_for(request.user, campaign_pk, may="read")
    form = GoldFilterForm(request.GET)
    asked = form.cleaned_data if form.is_valid() else {"show": "", "search": ""}
    every = golds_of(campaign)
    removals = {removal.gold: removal for removal in golds_to_remove(campaign)}
    in_use = [gold for gold in every if not gold.gold_answer.withdrawn]
    shown = {
        "": in_use,
        "unanswered": [gold for gold in in_use if not gold.asked],
        "missed": [gold for gold in in_use if gold.pk in removals],
        "removed": [gold for gold in every if gold.gold_answer.withdrawn],
    }[asked["show"]]
    rows = [gold for gold in shown if _holds(gold, asked["search"])]
    for gold in rows:
        slots = (gold.gold_answer.best_slot, gold.gold_answer.worst_slot)
        gold.best, gold.worst = (gold.cards[slot] for slot in slots)
        gold.others = [card for card in gold.cards if card.slot not in slots]
    changeable = campaign.state != Campaign.State.CLOSED
    context = campaign_head(request.user, campaign, "gold") | {
        "form": form,
        "golds": every,
        "page": Paginator(rows, ROWS_PER_PAGE).get_page(page_number(request)),
        "address": f"{urlencode(asked)}&",
        "doubted": [(gold, removals[gold.pk]) for gold in every if gold.pk in removals],
        "changeable": changeable,
        "gate": gate_of_campaign(campaign) if in_use or changeable else None,
    }
    return render(request, "annotation/campaigns/gold.html", context)


def _holds(gold: Any, words: str) -> bool:
    """Whether a sentence of it or its reason holds the words."""
    texts = [text for card in gold.cards for text in (card.a.text, card.b.text)]
    return any(words.casefold() in text.casefold() for text in (*texts, gold.gold_answer.why))


@dataclass(frozen=True)
class GoldChoice:
    """What is chosen of a new check so far."""

    best: Pair | None = None
    worst: Pair | None = None
    between: tuple[Pair, ...] = ()

    @classmethod
    def of(cls, campaign: Campaign, asked: QueryDict) -> "GoldChoice":
        """The pairs that an address or a form names."""
        numbers = {role: [number_from(text) for text in asked.getlist(role)] for role in ROLES}
        wanted = [number for listed in numbers.values() for number in listed if number is not None]
        known = pairs_fitting(campaign.dataset, {}).select_related("a", "b").in_bulk(wanted)
        best, worst, between = (
            [known[number] for number in dict.fromkeys(numbers[role]) if number in known] for role in ROLES
        )
        return cls(best[0] if best else None, worst[0] if worst else None, tuple(between))

    def changed(self, campaign: Campaign, sent: QueryDict) -> "GoldChoice":
        """After a pair was given a role, which takes the one away that it had, or was taken out."""
        now = GoldChoice.of(campaign, sent)
        moved = {pair.pk for _, pair in now.roles()} | {number_from(text) for text in sent.getlist("out")}

        def kept(pair: Pair | None) -> Pair | None:
            return pair if pair and pair.pk not in moved else None

        between = (*(pair for pair in self.between if kept(pair)), *now.between)
        best, worst = now.best or kept(self.best), now.worst or kept(self.worst)
        return GoldChoice(best, worst, between[: campaign.tuple_size - 2])

    def roles(self) -> list[tuple[str, Pair]]:
        chosen = (("best", self.best), ("worst", self.worst), *(("between", pair) for pair in self.between))
        return [(role, pair) for role, pair in chosen if pair]


@require_http_methods(["GET", "POST"])
def gold_new(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Two clicks make a check: the best pair and the worst one. Others that lie between may be chosen before.

    The address keeps what is chosen, so that the page works with the back button and without scripts.
    """
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    chosen, search = GoldChoice.of(campaign, request.GET), request.GET.get("search", "")
    if request.method == "POST":
        chosen = chosen.changed(campaign, request.POST)
        if (
            chosen.best
            and chosen.worst
            and _made(request, campaign, chosen.best, chosen.worst, chosen.between)
        ):
            chosen = GoldChoice()
    roles = [(role, pair.pk) for role, pair in chosen.roles()]
    query = urlencode([*roles, ("search", search)])
    if request.method == "POST":
        return redirect(f"{request.path}?{query}")
    context = campaign_head(request.user, campaign, "gold") | {
        "chosen": chosen,
        "roles": roles,
        "room": campaign.tuple_size - 2 - len(chosen.between),
        "search": search,
        "page": pairs_of(campaign, search=search, page=page_number(request)),
        "address": f"{query}&",
    }
    return render(request, "annotation/campaigns/gold_new.html", context)


def _made(
    request: AuthedRequest, campaign: Campaign, best: Pair, worst: Pair, between: Sequence[Pair]
) -> bool:
    """Add the check, and say so; or say why it is not added."""
    try:
        pairs = gold_fill(campaign=campaign, best=best, worst=worst, between=between)
        gold = gold_add(campaign=campaign, pairs=pairs, best=best, worst=worst, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
        return False
    said = _("Attention check %(number)d is added.") % {"number": gold.number}
    address = reverse("annotation:gold_edit", args=[campaign.pk, gold.pk])
    success_say(request, said, then=_("Read it and write its reason"), address=address)
    return True


@require_http_methods(["GET", "POST"])
def gold_suggest_view(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    campaign = campaign_for(request.user, campaign_pk, may="curate")
    form = SuggestForm(campaign, request.GET or SuggestForm.first(campaign))
    suggestions: list[GoldSuggestion] = []
    problem = ""  # why there are none
    if form.is_valid():
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
        if kept:
            said = ngettext(
                "%(number)d attention check is added.", "%(number)d attention checks are added.", kept
            )
            _say(request, campaign, said % {"number": kept})
            return redirect("annotation:gold", campaign.pk)
        problem = _("None is ticked, so nothing was added.")
    context = campaign_head(request.user, campaign, "gold") | {
        "form": form,
        "problem": problem,
        "formset": formset,
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
            said = _("Attention check %(number)d is removed.") % {"number": gold.number}
            address = f"{reverse('annotation:gold', args=[campaign.pk])}?show=removed"
            success_say(request, _with_people(said, again), then=_("Restore it"), address=address)
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
