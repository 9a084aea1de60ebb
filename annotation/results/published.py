"""What a published dataset tells of the campaigns behind its scores: facts, tuples and judgements, without names."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from django.db.models import Count, Max, Min

from annotation.models import Campaign, Judgement, TupleItem
from annotation.results.record import annotator_codes, annotators_named, campaign_judgements, judgement_rows
from curation.files.publishing.facts import Collection, Table
from curation.files.tables import Column, Row
from curation.pairs.judged_by import PEOPLE, SIMULATED

TOO_FEW_RIGHT = "too few right answers to attention checks"


def campaigns_by_pk(pks: Iterable[int]) -> list[Campaign]:
    return list(Campaign.objects.filter(pk__in=set(pks)).order_by("pk"))


def collection_facts(campaign: Campaign) -> Collection:
    """What was asked and collected. A constant number of queries."""
    judgements = Judgement.objects.filter(participation__campaign=campaign)
    by_status = dict(judgements.order_by().values_list("status").annotate(n=Count("pk")))
    times = judgements.aggregate(first=Min("submitted_at"), last=Max("submitted_at"))
    members = TupleItem.objects.for_scores(campaign)
    shown = members.aggregate(items=Count("pk"), pairs=Count("pair", distinct=True))
    people = campaign.participations.filter(judgements__isnull=False).distinct()
    guideline = campaign.guidelines.first()
    named = annotators_named(campaign)
    # Count the people excluded for each reason. A reason that names anybody of the campaign is not told, and the
    # gold rule is one reason, whatever each person's figures were.
    full_names = people.values_list("user__username", "user__first_name", "user__last_name")
    names = {name.casefold() for person in full_names for name in person if name}
    excluded = people.filter(excluded=True)
    reasons = (
        TOO_FEW_RIGHT
        if person.stopped_by_gold
        else "reason not published"
        if not person.reason or names & set(re.findall(r"[\w.@+-]+", person.reason.casefold()))
        else person.reason
        for person in excluded
    )
    return Collection(
        name=campaign.name,
        question=campaign.question,
        guidelines=guideline.text if guideline else "",
        imported=campaign.is_imported,
        tuple_size=campaign.tuple_size,
        pairs=shown["pairs"],
        tuples=campaign.tuples.for_scores().count(),
        tuples_per_item=shown["items"] / shown["pairs"] if shown["pairs"] else 0.0,
        judgements_per_tuple=campaign.judgements_per_tuple,
        judgements=by_status.get(Judgement.Status.COLLECTED, 0),
        extra=by_status.get(Judgement.Status.EXTRA, 0),
        excluded=by_status.get(Judgement.Status.EXCLUDED, 0),
        annotators=people.count() if named else None,
        simulated=people.filter(user__simulated=True).count(),
        excluded_annotators=people.filter(excluded=True).count(),
        exclusions=dict(Counter(reasons).most_common()),
        gold_tuples=campaign.tuples.gold_in_use().count(),
        gold_threshold=campaign.gold_threshold,
        began=_day(times["first"]),
        ended=_day(times["last"]),
    )


def _day(moment: Any) -> date | None:
    return None if moment is None else moment.date()


def campaign_tables(campaigns: Sequence[Campaign], ids: Mapping[int, str]) -> dict[str, Table]:
    """The configurations `tuples` and `judgements` of all the campaigns; {} for no campaign.

    ids: of the pairs that are published, by primary key. A pair that is not, because it was rejected or left out since,
    is called by its number, so that its tuples can still be counted.
    """
    if not campaigns:
        return {}
    size = max(campaign.tuple_size for campaign in campaigns)
    items = [Column(f"item{place}") for place in range(1, size + 1)]
    tuples = (Column("campaign"), Column("tuple", "integer"), Column("phase"), Column("round", "integer"))
    before = (Column("campaign"), Column("judgement", "integer"), Column("tuple", "integer"), Column("phase"))
    after = (
        *map(Column, ("best", "worst", "status")),
        Column("guideline", "integer"),
        Column("seconds", "number"),
    )
    return {
        "tuples": Table((*tuples, Column("required", "integer"), *items), _tuples(campaigns, ids, size)),
        "judgements": Table(
            (*before, Column("annotator"), Column("judged_by"), *items, *after),
            _judgements(campaigns, ids, size),
        ),
    }


class _Names(dict[int, str]):
    """The ids of pairs; those that are not published are called by their numbers."""

    def __missing__(self, pair: int) -> str:
        return f"not published: {pair}"


def _tuples(campaigns: Sequence[Campaign], ids: Mapping[int, str], size: int) -> Iterator[Row]:
    names = _Names(ids)
    facts = ("tuple__number", "tuple__phase", "tuple__round", "tuple__required")
    for campaign in campaigns:
        members = TupleItem.objects.for_scores(campaign).order_by("tuple__number", "slot")
        shown: list[str] = []
        before: tuple[object, ...] = ()
        for *row, pair in members.values_list(*facts, "pair").iterator(chunk_size=2000):
            if shown and tuple(row) != before:
                yield (campaign.name, *before, *_filled(shown, size))
                shown = []
            before = tuple(row)
            shown.append(names[pair])
        if shown:
            yield (campaign.name, *before, *_filled(shown, size))


def _judgements(campaigns: Sequence[Campaign], ids: Mapping[int, str], size: int) -> Iterator[Row]:
    names = _Names(ids)
    for campaign in campaigns:
        codes = annotator_codes(campaign)
        programs = campaign.participations.filter(user__simulated=True).values_list("pk", flat=True)
        simulated = {codes[person] for person in programs}
        for number, of_tuple, phase, annotator, *rest in judgement_rows(
            campaign_judgements(campaign), names, codes
        ):
            shown, answer = rest[: campaign.tuple_size], rest[campaign.tuple_size :]
            judged_by = SIMULATED if annotator in simulated else PEOPLE
            yield (
                campaign.name,
                number,
                of_tuple,
                phase,
                annotator,
                judged_by,
                *_filled(shown, size),
                *answer,
            )


def _filled(shown: Sequence[object], size: int) -> list[object]:
    """The items of a tuple that may be smaller than others."""
    return [*shown, *[None] * (size - len(shown))]
