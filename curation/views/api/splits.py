"""Splits for programs: /api/v1/datasets/<slug>/splits/. What there is, a preview of a drawing, applying it, undo."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.selectors import score_shown_first
from curation.datasets.splits import (
    Drawing,
    splits_apply,
    splits_now,
    splits_preview,
    splits_require_few,
    splits_undo,
)
from curation.forms.splits import DrawingForm
from curation.models import SplitChange
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

DrawingSerializer = body_of(
    DrawingForm(),
    "Drawing",
    state=serializers.CharField(
        required=False,
        help_text="The state from the preview. If pairs have changed since, nothing is applied.",
    ),
    leaks=leaks_in_body(),
)


class SplitRowSerializer(serializers.Serializer[Any]):
    """The active pairs of a split; mean and sd are of their scores in the set `scores`."""

    split = serializers.CharField()
    pairs = serializers.IntegerField()
    share = serializers.FloatField()
    mean = serializers.FloatField(allow_null=True)
    sd = serializers.FloatField(allow_null=True)
    counts = serializers.ListField(
        child=serializers.IntegerField(), help_text="The number of scores in each bin of `edges`."
    )


class LeakSerializer(serializers.Serializer[Any]):
    """Of the `of` pairs of `split`, so many `pairs` share a sentence with a pair of `other`."""

    split = serializers.CharField()
    other = serializers.CharField()
    pairs = serializers.IntegerField()
    of = serializers.IntegerField()
    own = serializers.IntegerField(
        help_text="The number of `pairs` that leak because of a split that was drawn or set here."
    )


class SplitsSerializer(serializers.Serializer[Any]):
    scores = serializers.CharField(allow_null=True, help_text="The name of the score set of mean and sd.")
    edges = serializers.ListField(
        child=serializers.FloatField(), help_text="The edges of the bins of the scores."
    )
    splits = SplitRowSerializer(source="rows", many=True)
    leaks = LeakSerializer(many=True)


class SplitsDrawnSerializer(SplitsSerializer):
    state = serializers.CharField()
    changed = serializers.IntegerField(help_text="Pairs whose split would change.")
    largest = serializers.IntegerField(help_text="Pairs of the largest group that is connected by sentences.")
    divided = serializers.IntegerField(help_text="Pairs that would be divided.")


class SplitChangeSerializer(serializers.ModelSerializer[SplitChange]):
    created_by = serializers.StringRelatedField[Any](allow_null=True)

    class Meta:
        model = SplitChange
        fields = ["id", "parameters", "pairs", "created_by", "created_at", "undone_at"]


class OfDrawing(InDataset):
    def drawing(self) -> Drawing:
        sent: Any = self.request.data
        drawing = form_filled(sent, DrawingForm, also=[STATE, LEAKS]).drawing
        if drawing is None:
            raise Http404  # a valid form has one
        return drawing


class Splits(OfDrawing, APIView):
    @extend_schema(responses=SplitsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The splits of the active pairs, and which of them share sentences."""
        dataset = self.dataset()
        splits_require_few(dataset)
        shown = score_shown_first(dataset)
        found = splits_now(dataset, shown)
        facts = {"scores": shown and shown.name, **vars(found)}
        return Response(SplitsSerializer(facts).data)

    @extend_schema(request=DrawingSerializer, responses={201: SplitChangeSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Draw splits that share no sentence, and give them to the pairs."""
        user: Any = request.user
        dataset = self.dataset()
        splits_require_few(dataset)
        drawing = self.drawing()
        given = state_sent(request)
        state = splits_preview(dataset, drawing).state if given is None else given
        change = splits_apply(
            dataset=dataset, drawing=drawing, state=state, by=user, leaks=leaks_asked(request)
        )
        return Response(SplitChangeSerializer(change).data, 201)


class SplitsPreview(OfDrawing, APIView):
    @extend_schema(request=DrawingSerializer, responses=SplitsDrawnSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Preview a division into splits. Nothing is changed."""
        dataset = self.dataset()
        splits_require_few(dataset)
        shown = score_shown_first(dataset)
        drawn = splits_preview(dataset, self.drawing(), shown)
        facts = {name: getattr(drawn, name) for name in ("state", "changed", "largest", "divided")}
        found = {"scores": shown and shown.name, **vars(drawn.splits)}
        return Response(SplitsDrawnSerializer({**facts, **found}).data)


class SplitsUndo(InDataset, APIView):
    @extend_schema(request=None, responses=SplitChangeSerializer)
    def post(self, request: Request, slug: str, change_pk: int) -> Response:
        """Undo a division into splits."""
        user: Any = request.user
        change = get_object_or_404(self.dataset().split_changes, pk=change_pk)
        splits_undo(change=change, by=user)
        change.refresh_from_db()
        return Response(SplitChangeSerializer(change).data)
