"""Snapshots for programs: /api/v1/datasets/<slug>/snapshots/. Made, described, compared, fetched."""

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.pairs_table import PairChoices
from curation.exchange.exporting import snapshot_create, snapshot_file
from curation.exchange.snapshots import changes_listed, leaks_of_snapshot, snapshots_difference
from curation.forms.exchange import SnapshotForm
from curation.models import Snapshot
from curation.pairs.inclusion import UNNAMED
from curation.views.api.base import FilesOnly, InDataset
from curation.views.api.bodies import LEAKS, body_of, form_filled, leaks_asked, leaks_in_body
from curation.views.api.splits import LeakSerializer

PARQUET = "application/vnd.apache.parquet"
KeptSerializer = body_of(SnapshotForm, "Kept", leaks=leaks_in_body())


class SnapshotSerializer(serializers.ModelSerializer[Snapshot]):
    created_by = serializers.StringRelatedField[Any](allow_null=True)

    class Meta:
        model = Snapshot
        fields = ["number", "filter", "rows", "sha256", "run_ref", "created_by", "created_at"]


class SnapshotDetailSerializer(SnapshotSerializer):
    """`leaks`: every two splits of which one shares sentences with the other; null where the snapshot has too many
    pairs to count them while a program waits.
    """

    leaks = serializers.SerializerMethodField()

    class Meta(SnapshotSerializer.Meta):
        fields = [*SnapshotSerializer.Meta.fields, "leaks"]

    @extend_schema_field(LeakSerializer(many=True, allow_null=True))
    def get_leaks(self, snapshot: Snapshot) -> Any:
        found = leaks_of_snapshot(snapshot)
        return None if found is None else LeakSerializer(found, many=True).data


class ChangeSerializer(serializers.Serializer[Any]):
    """What became of a pair: "added", "removed", or the column that changed, with its values."""

    pair = serializers.IntegerField()
    id = serializers.CharField(source="external_id")
    sentence1 = serializers.CharField()
    sentence2 = serializers.CharField()
    what = serializers.CharField()
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class MoveSerializer(serializers.Serializer[Any]):
    before = serializers.CharField()
    after = serializers.CharField()
    pairs = serializers.IntegerField()


class DifferenceSerializer(serializers.Serializer[Any]):
    """What changed from the snapshot `since`, an older or a newer one; `changes` are the first thousand."""

    since = serializers.IntegerField()
    number = serializers.IntegerField()
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    both = serializers.IntegerField(help_text="Pairs that are in both.")
    unchanged = serializers.IntegerField()
    changed = serializers.DictField(
        child=serializers.IntegerField(), help_text="The number of changed pairs by column."
    )
    moves = MoveSerializer(many=True, help_text="Pairs that went from one split to another.")
    columns_added = serializers.ListField(child=serializers.CharField())
    columns_removed = serializers.ListField(child=serializers.CharField())
    changes = ChangeSerializer(many=True)


class Snapshots(InDataset, ListAPIView[Snapshot]):
    """The dataset's snapshots, the newest first."""

    serializer_class = SnapshotSerializer
    queryset = Snapshot.objects.none()

    row_number = "number"

    def get_queryset(self) -> QuerySet[Snapshot]:
        return self.dataset().snapshots.select_related("created_by").order_by("-number")

    def rows_after(self, snapshots: QuerySet[Snapshot], number: int) -> QuerySet[Snapshot]:
        return snapshots.filter(number__lt=number)

    @extend_schema(request=KeptSerializer, responses={201: SnapshotSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Keep the active pairs that the filters find, with their scores, in a file that never changes."""
        user: Any = request.user
        dataset = self.dataset()
        sent: Any = request.data
        if isinstance(sent, dict):
            sent = {"generated_pairs": UNNAMED.value, **sent}
        choices = PairChoices(dataset)
        form = form_filled(
            sent, lambda data: SnapshotForm(data, dataset=dataset, choices=choices), also=[LEAKS]
        )
        made = snapshot_create(dataset=dataset, filter=form.filter(), by=user, leaks=leaks_asked(request))
        return Response(SnapshotSerializer(made).data, 201)


class OfSnapshot(InDataset):
    def snapshot(self, number: int) -> Snapshot:
        return get_object_or_404(self.dataset().snapshots.select_related("created_by"), number=number)


class SnapshotDetail(OfSnapshot, RetrieveAPIView[Snapshot]):
    """One snapshot."""

    serializer_class = SnapshotDetailSerializer
    queryset = Snapshot.objects.none()

    def get_object(self) -> Snapshot:
        return self.snapshot(self.kwargs["number"])


class SnapshotDifference(OfSnapshot, APIView):
    @extend_schema(responses=DifferenceSerializer)
    def get(self, request: Request, slug: str, number: int, since: int) -> Response:
        """What changed from the snapshot `since` to this one."""
        earlier, later = self.snapshot(since), self.snapshot(number)
        difference = snapshots_difference(earlier, later)
        changes = [
            {**change._asdict(), **texts._asdict()}
            for change, texts in changes_listed(earlier, later, list(difference.changes))
        ]
        moves = [
            {"before": before, "after": after, "pairs": n} for (before, after), n in difference.moves.items()
        ]
        facts = {**vars(difference), "since": since, "number": number, "moves": moves, "changes": changes}
        return Response(DifferenceSerializer(facts).data)


class SnapshotFile(OfSnapshot, APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(responses={(200, PARQUET): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, number: int) -> FileResponse:
        """The file, in Parquet."""
        file = snapshot_file(self.snapshot(number)).open("rb")
        name = f"{slug}-{number}.parquet"
        return FileResponse(file, as_attachment=True, filename=name, content_type=PARQUET)
