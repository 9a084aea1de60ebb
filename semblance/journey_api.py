"""The next step of a dataset, for programs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.people.access import dataset_for
from semblance.journey import Step, standing_of, step_of


class NextStepSerializer(serializers.Serializer[Any]):
    step = serializers.ChoiceField(choices=[step.value for step in Step])
    campaign = serializers.IntegerField(
        allow_null=True, help_text="The number of the newest campaign, if there is one."
    )


class NextStep(APIView):
    """The next step of a dataset, as the head of its pages says."""

    @extend_schema(responses=NextStepSerializer)
    def get(self, request: Request, slug: str) -> Response:
        user: Any = request.user
        dataset = dataset_for(user, slug, may="read")
        standing, campaign = standing_of(dataset, pairs=dataset.pairs.count())
        return Response({"step": step_of(standing).value, "campaign": campaign})
