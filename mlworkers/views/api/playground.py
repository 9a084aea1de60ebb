"""A paraphraser's playground for programs: a sentence and two tags, answered by the playground's worker."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from mlworkers.access import models_visible, paraphraser_for, runs_allow
from mlworkers.forms.playground import TrialForm
from mlworkers.kinds.paraphrases.access import trial_for
from mlworkers.serializers import AskedSentenceSerializer, TrialSerializer
from mlworkers.views.playground import trial_start


class ParaphraserTrial(APIView):
    @extend_schema(request=AskedSentenceSerializer, responses={202: TrialSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Ask a paraphraser for paraphrases of a sentence. The answer has their address, where they soon are."""
        user: Any = request.user
        runs_allow(user)
        artifact = paraphraser_for(user, pk)
        asked = AskedSentenceSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = {name: str(value) for name, value in asked.validated_data.items()}
        form = TrialForm(values, artifact=artifact, models=models_visible(user), by=user)
        if not form.is_valid():
            raise ValidationError(
                {name: [str(each) for each in errors] for name, errors in form.errors.items()}
            )
        run = trial_start(artifact, form, user)
        return Response(TrialSerializer(run, context={"request": request}).data, 202)


class TrialAnswer(APIView):
    @extend_schema(responses=TrialSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The paraphrases of a sentence, each with its measured similarity and BLEU; only you see what you asked."""
        user: Any = request.user
        return Response(TrialSerializer(trial_for(user, pk), context={"request": request}).data)
