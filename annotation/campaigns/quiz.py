"""The quiz of a campaign: questions about the guidelines that people answer before their first tuple.

It teaches and decides about nobody: who errs reads why and answers again, as often as they like.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock, campaign_record, campaign_require
from annotation.models import Campaign, QuizQuestion
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.audit import Action

OPTIONS = (2, 8)
MOST_QUESTIONS = 20
RIGHT = "*"  # before the right option of those that an owner writes


@dataclass(frozen=True)
class Options:
    """What can be chosen, and the place of what is right."""

    texts: tuple[str, ...]
    right: int


def options_read(text: str) -> Options:
    """One option a line; the right one begins with a star. Raises ValueError with one sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    right = [place for place, line in enumerate(lines) if line.startswith(RIGHT)]
    texts = tuple(line.removeprefix(RIGHT).strip() for line in lines)
    if not OPTIONS[0] <= len(lines) <= OPTIONS[1]:
        sentence = _("Write %(low)d to %(high)d options, one a line; there are %(number)d.")
        raise ValueError(sentence % {"low": OPTIONS[0], "high": OPTIONS[1], "number": len(lines)})
    if len(right) != 1:
        sentence = _("Put a star (*) before the one right option; %(number)d lines have one.")
        raise ValueError(sentence % {"number": len(right)})
    if not all(texts) or len(set(texts)) < len(texts):
        raise ValueError(_("Each option needs a text, and no two may have the same."))
    return Options(texts, right[0])


@transaction.atomic
def question_add(
    *, campaign: Campaign, text: str, options: Options, why: str = "", by: User | None = None
) -> QuizQuestion:
    """Add a question at the end of the quiz. People who have got a tuple already are not asked it."""
    campaign = campaign_lock(campaign)
    campaign_require(campaign, *Campaign.State)
    if campaign.quiz.count() >= MOST_QUESTIONS:
        raise UserError(_("A quiz has at most %(most)d questions; remove one first."), most=MOST_QUESTIONS)
    last = campaign.quiz.aggregate(last=Max("number", default=0))["last"]
    question = QuizQuestion.objects.create(
        campaign=campaign,
        number=last + 1,
        text=text.strip(),
        options=list(options.texts),
        right=options.right,
        why=why.strip(),
    )
    _changed(campaign, by)
    return question


@transaction.atomic
def question_remove(*, question: QuizQuestion, by: User | None = None) -> None:
    campaign = campaign_lock(question.campaign)
    campaign_require(campaign, *Campaign.State)
    question.delete()
    _changed(campaign, by)


def quiz_copy(campaign: Campaign, to: Campaign, *, by: User | None) -> None:
    """The questions of a campaign for a draft made from it."""
    for each in campaign.quiz.all():
        options = Options(tuple(each.options), each.right)
        question_add(campaign=to, text=each.text, options=options, why=each.why, by=by)


def _changed(campaign: Campaign, by: User | None) -> None:
    campaign.has_quiz = campaign.quiz.exists()
    campaign.save(update_fields=["has_quiz"])
    campaign_record(campaign, Action.GUIDELINES_SAVED, by=by)


@dataclass(frozen=True)
class Graded:
    """A question as somebody answered it. chosen: the place of the option; None without an answer."""

    question: QuizQuestion
    chosen: int | None

    @property
    def is_right(self) -> bool:
        return self.chosen == self.question.right


def quiz_graded(questions: Sequence[QuizQuestion], chosen: Mapping[int, int | None]) -> list[Graded]:
    """chosen: the place of an option by the number of the question."""
    return [Graded(question, chosen.get(question.number)) for question in questions]
