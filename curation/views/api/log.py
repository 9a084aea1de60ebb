"""The audit log for programs of owners and staff: /api/v1/datasets/<slug>/log/, and as a file."""

from dataclasses import fields

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.views import APIView

from curation.models import AuditEntry, Dataset
from curation.people.access import audit_all_allow
from curation.people.audit import AuditFilter, audit_counts, audit_found, audit_people
from curation.serializers import QuerySerializer
from curation.views.api.base import FilesOnly, InDataset
from curation.views.audit import FORMATS, log_file


class AuditFilterSerializer(QuerySerializer):
    """The query parameters of the log; each may be left out."""

    search = serializers.CharField(
        required=False,
        help_text="Text in the subject of the entry, in the name of its annotator, or in the id of its pair.",
    )
    by = serializers.CharField(required=False, help_text="The name of the person.")
    via = serializers.ChoiceField(required=False, choices=AuditEntry.Via.choices)
    action = serializers.ChoiceField(required=False, choices=AuditEntry.Action.choices)
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)

    def wanted(self, dataset: Dataset | None) -> AuditFilter:
        names = {field.name for field in fields(AuditFilter)}
        given = {name: value for name, value in self.validated_data.items() if name in names}
        if "by" in given:
            person = next((one for one in audit_people(dataset) if one.username == given["by"]), None)
            if person is None:
                raise serializers.ValidationError(
                    {"by": [_("Nobody of this name has changed anything here.")]}
                )
            given["by"] = person.pk
        return AuditFilter(**given)


class AuditFileSerializer(AuditFilterSerializer):
    """The query parameters of a file of the log; each may be left out."""

    spreadsheet = serializers.ChoiceField(
        required=False, choices=["1"], help_text="1: nothing in a CSV file is a formula to a spreadsheet."
    )


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """A change. token: the beginning of the token that a program used; counts: what an import did."""

    by = serializers.CharField(source="by.username", default="")
    pair = serializers.CharField(source="pair.external_id", default="")
    subject = serializers.CharField(
        source="about", read_only=True, help_text=AuditEntry._meta.get_field("subject").help_text
    )
    counts = serializers.SerializerMethodField()

    class Meta:
        model = AuditEntry
        fields = [
            "id",
            "at",
            "by",
            "via",
            "token",
            "action",
            "subject",
            "pair",
            "pairs",
            "details",
            "counts",
            "undoes",
        ]

    def get_counts(self, entry: AuditEntry) -> dict[str, int]:
        return dict(audit_counts(entry))


@extend_schema_view(get=extend_schema(parameters=[AuditFilterSerializer]))
class AuditLog(InDataset, ListAPIView[AuditEntry]):
    """Who changed what, the newest first."""

    may = "audit"
    serializer_class = AuditSerializer
    queryset = AuditEntry.objects.none()

    def get_queryset(self) -> QuerySet[AuditEntry]:
        dataset = self.dataset()
        asked = AuditFilterSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        return audit_found(dataset, asked.wanted(dataset)).order_by("-pk")

    def rows_after(self, entries: QuerySet[AuditEntry], number: int) -> QuerySet[AuditEntry]:
        return entries.filter(pk__lt=number)


FILE = extend_schema(
    parameters=[
        AuditFileSerializer,
        OpenApiParameter("file_format", OpenApiTypes.STR, OpenApiParameter.PATH, enum=FORMATS),
    ],
    responses={(200, kind): OpenApiTypes.BINARY for kind in ("text/csv", "application/jsonl")},
)


class AuditFile(InDataset, APIView):
    may = "audit"
    content_negotiation_class = FilesOnly

    @FILE
    def get(self, request: Request, slug: str, file_format: str) -> StreamingHttpResponse:
        """The entries that the filters find as a file, the newest first. The download is an entry of the log."""
        dataset = self.dataset()
        return log_file(request, dataset, _asked(request).wanted(dataset), file_format)


class AuditFileOfAll(APIView):
    content_negotiation_class = FilesOnly

    @FILE
    def get(self, request: Request, file_format: str) -> StreamingHttpResponse:
        """The same of all datasets, for staff. The log of each dataset in the file says so."""
        audit_all_allow(request.user)
        return log_file(request, None, _asked(request).wanted(None), file_format)


def _asked(request: Request) -> AuditFileSerializer:
    asked = AuditFileSerializer(data=request.query_params)
    asked.is_valid(raise_exception=True)
    return asked
