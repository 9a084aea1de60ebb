"""A person answers a campaign's quiz."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from annotation.campaigns.quiz import Graded, quiz_graded
from annotation.judging.settling import participation_lock
from annotation.models import Participation, QuizResult


@transaction.atomic
def quiz_answer(
    *, participation: Participation, chosen: Mapping[int, int | None], at: datetime
) -> list[Graded]:
    """Grade the answers, keep the first try, and let the person judge once all are right.

    chosen: the place of an option by the number of the question.
    """
    person = participation_lock(participation)
    graded = quiz_graded(list(person.campaign.quiz.all()), chosen)
    result, first = QuizResult.objects.get_or_create(
        participation=person,
        defaults={
            "right": sum(each.is_right for each in graded),
            "asked": len(graded),
            "answers": {str(each.question.number): each.chosen for each in graded},
        },
    )
    if not first and person.quiz_passed_at is None:
        result.tries += 1
        result.save(update_fields=["tries"])
    if all(each.is_right for each in graded) and person.quiz_passed_at is None:
        person.quiz_passed_at = at
        person.save(update_fields=["quiz_passed_at"])
    return graded
