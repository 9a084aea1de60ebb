"""The judging screen without anything behind it: a screen for practice, and the preview of a campaign."""

from collections.abc import Sequence
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.cards import Card, cards_by_tuple
from annotation.judging.screen import SITTING, TupleScreen, addresses_of, sitting_minutes, words
from annotation.models import Campaign, Participation
from curation.models import User

FIRST_TUPLES = 60  # of the campaign: practice takes its pairs from these


def practice_cards(campaign: Campaign, user: User) -> list[Card]:
    """Pairs for one screen of practice: of different tuples where that is possible, so that no tuple is seen early.

    Empty where the campaign has no tuples yet. Two queries.
    """
    numbers = campaign.tuples.for_scores().order_by("number").values_list("pk", flat=True)[:FIRST_TUPLES]
    tuples = list(cards_by_tuple(numbers).values())
    if not tuples:
        return []
    rng = campaign_rng(campaign, Stream.PRACTICE, user.pk)
    shuffled = [tuples[index] for index in rng.permutation(len(tuples))]
    # The first card of each tuple, unless one of its sentences was seen before.
    apart: list[Card] = []
    seen: set[int] = set()
    for cards in shuffled:
        sentences = {cards[0].pair.a_id, cards[0].pair.b_id}
        if not sentences & seen:
            seen |= sentences
            apart.append(cards[0])
    chosen = apart[: campaign.tuple_size] if len(apart) >= campaign.tuple_size else shuffled[0]
    return [Card(place, place, card.pair) for place, card in enumerate(chosen)]


def rehearsal_context(
    nobody: Participation, tuples: Sequence[Sequence[Card]], *, number: int, name: str, leave: str
) -> dict[str, Any]:
    """What the judging screen shows where nothing is stored.

    nobody: a participation that is not stored. number: of the tuple to begin with, from 0. name: what the page is, in a
    word. leave: the address to go back to.
    """
    campaign = nobody.campaign
    screens = [TupleScreen(lease, list(cards), None) for lease, cards in enumerate(tuples, start=1)]
    unstored = _("Nothing is stored here.")
    return {
        "participation": nobody,
        "campaign": campaign,
        "shown": screens[number],
        "rehearsal": {"name": name, "next": number + 2},
        "addresses": addresses_of(campaign)
        | {"answer": "", "page": f"?tuple={len(screens) + 1}", "leave": leave},
        "rehearsed": {
            "tuples": [
                {
                    "lease": shown.lease_pk,
                    "html": render_to_string(
                        "annotation/judging/_tuple.html", {"campaign": campaign, "shown": shown}
                    ),
                }
                for shown in screens[number:]
            ],
            "progress": f"{name}. {unstored}",
            "unstored": unstored,
        },
        "guideline": campaign.guidelines.first(),
        "progress": f"{name}. {unstored}",
        "sitting": {"screens": SITTING, "minutes": sitting_minutes(campaign), "done": 0},
        "undo": "",
        "undo_off": "",
        "words": words(nobody) | {"saved": ""},
    }
