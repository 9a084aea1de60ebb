"""The quiz of a campaign for programs that judge."""

from django.utils.timezone import now
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.judging.choosing import quiz_is_due
from annotation.judging.quiz import quiz_answer
from annotation.serializers import GradedSerializer, QuizAnswersSerializer, QuizSerializer
from annotation.views.api.participation import participation_of
from curation.foundation.numbers import number_from


class Quiz(APIView):
    judging = ("GET", "POST")

    @extend_schema(responses=QuizSerializer)
    def get(self, request: Request, campaign_pk: int) -> Response:
        """The questions that people answer before their first tuple."""
        person = participation_of(request, campaign_pk)
        shown = {"due": quiz_is_due(person), "questions": person.campaign.quiz.all()}
        return Response(QuizSerializer(shown).data)

    @extend_schema(request=QuizAnswersSerializer, responses=GradedSerializer(many=True))
    def post(self, request: Request, campaign_pk: int) -> Response:
        """Answer the questions. Once all are right, you get tuples; until then, answer again."""
        person = participation_of(request, campaign_pk)
        asked = QuizAnswersSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        answers = asked.validated_data["answers"].items()
        chosen = {number: option for name, option in answers if (number := number_from(name)) is not None}
        graded = quiz_answer(participation=person, chosen=chosen, at=now())
        return Response(GradedSerializer(graded, many=True).data)
