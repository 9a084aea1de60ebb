"""Worked examples in the guidelines: tuples with the expected answer and the reason, which annotators read beforehand.

They are texts and no pairs of the dataset: who has read the answer about a pair can no longer judge it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock
from annotation.campaigns.selectors import pairs_fitting
from annotation.campaigns.services import guideline_save
from annotation.models import Campaign, Guideline, TupleItem
from curation.foundation.errors import UserError
from curation.models import Pair, User
from curation.pairs.text import normalise, sentence_key

MOST_EXAMPLES = 10


@dataclass(frozen=True)
class WorkedExample:
    """One tuple. pairs: the two sentences of each. best, worst: places from 0."""

    pairs: tuple[tuple[str, str], ...]
    best: int
    worst: int
    why: str = ""

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> "WorkedExample":
        return cls(**{**stored, "pairs": tuple((a, b) for a, b in stored["pairs"])})


def examples_of(guideline: Guideline | None) -> list[WorkedExample]:
    """The worked examples of a version of the guidelines, in order."""
    return [WorkedExample.from_dict(stored) for stored in guideline.examples] if guideline else []


@transaction.atomic
def example_add(*, campaign: Campaign, example: WorkedExample, by: User | None = None) -> Guideline | None:
    """A new version of the guidelines, with this example after the others.

    Raises UserError where it is not a tuple of the campaign's size with one answer, or there are enough already.
    """
    campaign = campaign_lock(campaign)
    pairs = tuple((normalise(a), normalise(b)) for a, b in example.pairs)

    if len(pairs) != campaign.tuple_size:
        sentence = _("A worked example of this campaign needs %(size)d pairs; %(pairs)d are given.")
        raise UserError(sentence, size=campaign.tuple_size, pairs=len(pairs))
    if not all(a and b for a, b in pairs):
        raise UserError(_("Each pair of a worked example needs two sentences."))
    if len({(sentence_key(a), sentence_key(b)) for a, b in pairs}) < len(pairs):
        raise UserError(_("Two pairs of the worked example are the same; write another one."))
    places = range(len(pairs))
    if example.best == example.worst or example.best not in places or example.worst not in places:
        raise UserError(_("Choose two different pairs of the worked example as best and worst."))

    newest = campaign.guidelines.first()
    before = examples_of(newest)
    if len(before) >= MOST_EXAMPLES:
        raise UserError(
            _("Guidelines have at most %(most)d worked examples; remove one first."), most=MOST_EXAMPLES
        )
    added = WorkedExample(pairs, example.best, example.worst, example.why.strip())
    return _save(campaign, newest, [*before, added], by)


@transaction.atomic
def example_remove(*, campaign: Campaign, number: int, by: User | None = None) -> Guideline | None:
    """A new version of the guidelines without the example of that number, from 1; earlier versions keep it."""
    campaign = campaign_lock(campaign)
    newest = campaign.guidelines.first()
    before = examples_of(newest)
    if not 1 <= number <= len(before):
        raise UserError(_("There is no worked example %(number)d; load the page again."), number=number)
    return _save(campaign, newest, [*before[: number - 1], *before[number:]], by)


def _save(
    campaign: Campaign, newest: Guideline | None, examples: Sequence[WorkedExample], by: User | None
) -> Guideline | None:
    text = newest.text if newest else ""
    return guideline_save(campaign=campaign, text=text, examples=[asdict(each) for each in examples], by=by)


def pairs_judged_too(campaign: Campaign, example: WorkedExample) -> list[int]:
    """The numbers, from 1, of the example's pairs that people judge in the campaign, or will: they would have read the
    answer. One query for each pair.
    """
    asked = Q(pk__in=TupleItem.objects.filter(tuple__campaign=campaign).values("pair"))
    if not campaign.tuples.exists():
        asked = Q(pk__in=pairs_fitting(campaign.dataset, campaign.pair_filter).values("pk"))
    own = Pair.objects.filter(asked, dataset=campaign.dataset_id)
    keys = [(sentence_key(a), sentence_key(b)) for a, b in example.pairs]
    return [
        number
        for number, (a, b) in enumerate(keys, 1)
        if own.filter(Q(a__key=a, b__key=b) | Q(a__key=b, b__key=a)).exists()
    ]
