"""Choosing among pairs for programs: /api/v1/datasets/<slug>/compose/pairs/, with the settings of the page."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.choosing import Choice, choice_apply, choice_preview
from curation.forms.composing import ChoiceForm
from curation.models import Dataset
from curation.views.api.base import InDataset
from curation.views.api.bodies import (
    LEAKS,
    STATE,
    body_of,
    form_filled,
    leaks_asked,
    leaks_in_body,
    state_sent,
)
from curation.views.api.composing import CompositionPreviewSerializer, preview_shown
from curation.views.api.edits import EditedSerializer
from curation.views.api.splits import LeakSerializer

ChoiceSerializer = body_of(
    ChoiceForm(score_sets=[], sources=[], splits=[]),
    "ChoiceSettings",
    leaks=leaks_in_body(),
    state=serializers.CharField(
        required=False,
        help_text="The state from the preview. If the pairs have changed since, nothing is changed.",
    ),
)


class StratumSerializer(serializers.Serializer[Any]):
    """A stratum. `available` pairs can be chosen, `asked` were requested, and `drawn` are chosen."""

    name = serializers.CharField()
    available = serializers.IntegerField(allow_null=True)
    asked = serializers.IntegerField()
    drawn = serializers.IntegerField()


class ChoicePreviewSerializer(CompositionPreviewSerializer):
    """What would be chosen. usable: pairs that could be; short, long and copies: those left out, by reason.

    leaks_before, leaks: what splits share now and afterwards; null where no split is set, or the dataset is too large
    to count that while a program waits.
    """

    strata = StratumSerializer(many=True, help_text="Bins of the score, buckets, or the window.")
    leaks_before = LeakSerializer(many=True, allow_null=True)
    leaks = LeakSerializer(many=True, allow_null=True)


class Choosing(InDataset):
    may = "curate"

    def choice(self, dataset: Dataset) -> Choice:
        sent: Any = self.request.data
        form = form_filled(sent, lambda data: ChoiceForm.of(dataset, data), also=[STATE, LEAKS])
        if form.choice is None:
            raise Http404  # a valid form has one
        return form.choice


class Choose(Choosing, APIView):
    @extend_schema(request=ChoiceSerializer, responses={201: EditedSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Choose pairs, and exclude the others or give the chosen ones a split: an edit, which can be undone."""
        user: Any = request.user
        dataset = self.dataset()
        choice = self.choice(dataset)
        entry = choice_apply(
            dataset=dataset, choice=choice, state=state_sent(request), by=user, leaks=leaks_asked(request)
        )
        return Response(EditedSerializer(entry).data, 201)


class ChoosePreview(Choosing, APIView):
    @extend_schema(request=ChoiceSerializer, responses=ChoicePreviewSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Which pairs these settings would choose. Nothing is changed."""
        dataset = self.dataset()
        preview = choice_preview(dataset, self.choice(dataset))
        shared = preview.leaks
        shown = preview_shown(preview) | {
            "strata": preview.drawn.sample.strata,
            "leaks_before": shared and shared.before,
            "leaks": shared and shared.after,
        }
        return Response(ChoicePreviewSerializer(shown).data)
