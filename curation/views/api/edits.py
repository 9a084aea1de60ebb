"""Edits of many pairs for programs: /api/v1/datasets/<slug>/edits/. A preview, the edit, the edits there were, undo."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.edits import (
    FIELDS,
    MOST_CHOSEN,
    Edit,
    edit_apply,
    edit_leaks,
    edit_preview,
    edit_undo,
    edits_of,
)
from curation.datasets.selectors import PairFilter
from curation.models import AuditEntry, Dataset
from curation.serializers import NumberInBody, PairFilterSerializer
from curation.views.api.base import InDataset
from curation.views.api.bodies import leaks_asked, leaks_in_body
from curation.views.api.splits import LeakSerializer


class EditSerializer(serializers.Serializer[Any]):
    """One value for pairs: for those of the numbers in `pairs`, or for all that `filter` finds ({} finds all)."""

    field = serializers.ChoiceField(choices=FIELDS)
    value = serializers.CharField(allow_blank=True, help_text="A status, or the name of the split or source.")
    pairs = serializers.ListField(child=NumberInBody(), required=False, max_length=MOST_CHOSEN)
    filter = PairFilterSerializer(required=False)
    state = serializers.CharField(
        required=False,
        help_text="The state from the preview. If pairs have changed since, nothing is edited.",
    )

    leaks = leaks_in_body()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("pairs" in attrs) == ("filter" in attrs):
            raise serializers.ValidationError({"pairs": [_("Give the numbers of pairs, or a filter.")]})
        return attrs


class BeforeSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    pairs = serializers.IntegerField()


class EditPreviewSerializer(serializers.Serializer[Any]):
    """What an edit would change. found: pairs that are meant; reviewed: those whose status a review decides.

    leaks_before, leaks: what splits share now and afterwards; null where the edit changes nothing about that, or the
    dataset has too many pairs to count that while a program waits.
    """

    state = serializers.CharField()
    found = serializers.IntegerField()
    changed = serializers.IntegerField()
    reviewed = serializers.IntegerField()
    before = BeforeSerializer(many=True, help_text="The most frequent values of the changed pairs.")
    leaks_before = LeakSerializer(many=True, allow_null=True)
    leaks = LeakSerializer(many=True, allow_null=True)


class EditedSerializer(serializers.ModelSerializer[AuditEntry]):
    """An edit. `details` has the new values and the filter, `undone_at` the time of its undo."""

    by = serializers.CharField(source="by.username", default="")
    undone_at = serializers.DateTimeField(source="undone_by.at", default=None, allow_null=True)

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "by", "via", "pairs", "details", "undone_at"]


class OfEdit(InDataset):
    def edit(self, dataset: Dataset) -> tuple[Edit, str | None]:
        """The edit that was sent, and the state of its preview."""
        asked = EditSerializer(data=self.request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
        filter, pairs = PairFilter(), None
        if "filter" in given:
            filter = PairFilterSerializer.wanted_of(given["filter"])
            if filter.score_set is not None:
                get_object_or_404(dataset.score_sets, pk=filter.score_set)
        else:
            pairs = tuple(sorted(set(given["pairs"])))
        return Edit(given["field"], given["value"], filter, pairs), given.get("state")


class Edits(OfEdit, ListAPIView[AuditEntry]):
    """The edits of the dataset's pairs, the newest first."""

    serializer_class = EditedSerializer
    queryset = AuditEntry.objects.none()

    def get_queryset(self) -> QuerySet[AuditEntry]:
        return edits_of(self.dataset())

    @extend_schema(request=EditSerializer, responses={201: EditedSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Give pairs a split, a source or a status."""
        user: Any = request.user
        dataset = self.dataset()
        edit, state = self.edit(dataset)
        entry = edit_apply(dataset=dataset, edit=edit, by=user, state=state, leaks=leaks_asked(request))
        return Response(EditedSerializer(entry).data, 201)


class EditPreview(OfEdit, APIView):
    @extend_schema(request=EditSerializer, responses=EditPreviewSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """What an edit would change. Nothing is changed."""
        dataset = self.dataset()
        edit, _state = self.edit(dataset)
        found, leaks = edit_preview(dataset, edit), edit_leaks(dataset, edit)
        before = [{"value": value, "pairs": n} for value, n in found.before]
        counts = {name: getattr(found, name) for name in ("state", "found", "changed", "reviewed")}
        shared = {"leaks_before": leaks and leaks.before, "leaks": leaks and leaks.after}
        return Response(EditPreviewSerializer({**counts, **shared, "before": before}).data)


class EditUndo(InDataset, APIView):
    @extend_schema(request=None, responses=EditedSerializer)
    def post(self, request: Request, slug: str, entry_pk: int) -> Response:
        """Undo an edit of pairs that nobody has changed since."""
        user: Any = request.user
        dataset = self.dataset()
        edit_undo(entry=get_object_or_404(edits_of(dataset), pk=entry_pk), by=user)
        return Response(EditedSerializer(get_object_or_404(edits_of(dataset), pk=entry_pk)).data)
