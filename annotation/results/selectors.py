"""Rows of what was judged: judgements, gold tuples, phases. `figures` has what is computed."""

from typing import Any, NamedTuple

from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.cards import CardsPage, cards_by_tuple, cards_of
from annotation.models import (
    Campaign,
    Judgement,
    Lease,
    Participation,
    QuizQuestion,
    QuizResult,
    Tuple,
    TupleItem,
)
from curation.models import ScoreSet, User
from curation.pairs.judged_by import judged_by

ROWS_PER_PAGE = 50
JUDGEMENTS_PER_PAGE = 10  # each shows all pairs of its tuple


def score_sets_of(campaign: Campaign) -> QuerySet[ScoreSet]:
    """The score sets that the campaign published, newest first, without withdrawn ones."""
    return (
        ScoreSet.objects.offered()
        .filter(dataset=campaign.dataset_id, campaign_ref=campaign.pk)
        .order_by("-pk")
    )


def judgements_of(user: User, *, page: int = 1) -> CardsPage:
    """What the person judged, newest first, with its cards."""
    return _judgement_page(Judgement.objects.filter(participation__user=user), page)


def judgements_in(
    campaign: Campaign,
    *,
    participation: Participation | None = None,
    tuple_number: int = 0,
    pair: int = 0,
    page: int = 1,
) -> CardsPage:
    """The judgements behind a campaign's figures, or one person's, or of a tuple of the design; newest first.

    pair: the number of a pair, to find the judgements in which it was shown.

    With a tuple come the answers to its repeats.
    """
    judgements = Judgement.objects.filter(participation__campaign=campaign)
    if tuple_number:
        judgements = judgements.filter(tuple__number=tuple_number, tuple__is_gold=False)
    if pair:
        judgements = judgements.filter(tuple__in=TupleItem.objects.filter(pair=pair).values("tuple"))
    if participation:
        judgements = judgements.filter(participation=participation)
    return _judgement_page(judgements, page)


def _judgement_page(judgements: QuerySet[Judgement], number: int) -> CardsPage:
    selected = judgements.select_related("tuple__campaign", "participation__user").order_by("-pk")
    page: CardsPage = Paginator(selected, JUDGEMENTS_PER_PAGE).get_page(number)
    cards = cards_of(page)
    for judgement in page:
        judgement.cards = cards[judgement.pk]
    return page


class QuizOption(NamedTuple):
    """chosen: how many people chose it at their first try."""

    text: str
    right: bool
    chosen: int


class QuizRow(NamedTuple):
    question: QuizQuestion
    options: list[QuizOption]


class QuizResults(NamedTuple):
    """people: who tried the quiz. passed: of them, who answered everything right in the end."""

    people: int
    passed: int
    questions: list[QuizRow]


def quiz_results(campaign: Campaign) -> QuizResults:
    """The quiz, and how people answered it the first time. Two queries."""
    found = QuizResult.objects.filter(participation__campaign=campaign)
    tried = list(found.values_list("answers", "participation__quiz_passed_at"))
    rows = []
    for question in campaign.quiz.all():
        chosen = [answers.get(str(question.number)) for answers, _passed in tried]
        options = [
            QuizOption(text, place == question.right, chosen.count(place))
            for place, text in enumerate(question.options)
        ]
        rows.append(QuizRow(question, options))
    return QuizResults(len(tried), sum(passed is not None for _answers, passed in tried), rows)


def golds_of(campaign: Campaign) -> list[Any]:
    """The campaign's gold tuples with their `cards`: how many people were shown and answered each (`shown`, `asked`),
    and how often best and worst were right. Two queries.
    """
    golds: list[Any] = list(
        campaign.tuples.filter(is_gold=True)
        .select_related("gold_answer")
        .annotate(
            shown=_number_of(Lease),
            asked=_number_of(Judgement),
            best_right=_number_of(Judgement, best_slot=OuterRef("gold_answer__best_slot")),
            worst_right=_number_of(Judgement, worst_slot=OuterRef("gold_answer__worst_slot")),
        )
        .order_by("number")
    )
    cards = cards_by_tuple(gold.pk for gold in golds)
    for gold in golds:
        gold.cards = cards[gold.pk]
    return golds


def _number_of(model: type[Lease] | type[Judgement], **conditions: Any) -> Coalesce:
    rows = model._default_manager.filter(tuple=OuterRef("pk"), **conditions).order_by().values("tuple")
    return Coalesce(Subquery(rows.annotate(number=Count("pk")).values("number")), 0)


class PhaseSums(NamedTuple):
    """Of one phase: its tuples, the judgements that are required, and those that are collected."""

    tuples: int = 0
    required: int = 0
    collected: int = 0


def phase_sums(campaign: Campaign) -> dict[str, PhaseSums]:
    """How far each phase of the campaign is. One query."""
    rows = campaign.tuples.for_scores().order_by().values("phase")
    sums = rows.values_list("phase", Count("pk"), Sum("required"), Sum("collected"))
    by_phase = {phase: PhaseSums(*numbers) for phase, *numbers in sums}
    return {phase: by_phase.get(phase, PhaseSums()) for phase in Tuple.Phase.values}


def judges_of(campaign: Campaign) -> str:
    """Who gave the judgements that are not excluded, in the words of files: people, a program that simulates them, or
    both; "" where there are none yet.
    """
    judged = Exists(Judgement.objects.filter(participation=OuterRef("pk")))
    people = campaign.participations.filter(judged, excluded=False)
    counts = people.aggregate(annotators=Count("pk"), simulated=Count("pk", filter=Q(user__simulated=True)))
    return judged_by("human", **counts) if counts["annotators"] else ""
