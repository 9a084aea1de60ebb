"""The audit log for programs of owners: /api/v1/datasets/<slug>/log/."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView

from curation.datasets.audit import AuditFilter, audit_counts, audit_found, audit_people
from curation.models import AuditEntry, Dataset
from curation.serializers import QuerySerializer
from curation.views.api.base import InDataset


class AuditFilterSerializer(QuerySerializer):
    """The query parameters of the log; each may be left out."""

    search = serializers.CharField(
        required=False,
        help_text="in what the entry is about, in the name of its annotator, or the id of its pair",
    )
    by = serializers.CharField(required=False, help_text="name of the person")
    via = serializers.ChoiceField(required=False, choices=AuditEntry.Via.choices)
    action = serializers.ChoiceField(required=False, choices=AuditEntry.Action.choices)
    since = serializers.DateField(required=False)
    until = serializers.DateField(required=False)

    def wanted(self, dataset: Dataset) -> AuditFilter:
        given = dict(self.validated_data)
        if "by" in given:
            person = next((one for one in audit_people(dataset) if one.username == given["by"]), None)
            if person is None:
                raise serializers.ValidationError({"by": [_("Nobody of this name has changed the dataset.")]})
            given["by"] = person.pk
        return AuditFilter(**given)


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """A change. token: the beginning of the token that a program used; counts: what an import did."""

    by = serializers.CharField(source="by.username", default="")
    pair = serializers.CharField(source="pair.external_id", default="")
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
