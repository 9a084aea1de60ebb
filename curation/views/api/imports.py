"""Imports for programs: /api/v1/datasets/<slug>/imports/. A file is sent, checked, and then imported."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.generics import ListAPIView, RetrieveDestroyAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from curation.exchange.claiming import imports_of
from curation.exchange.importing import AT_ONCE_ROWS
from curation.exchange.receiving import BodyFile
from curation.exchange.refusals import NothingImportedError
from curation.exchange.uploads import (
    import_apply_at_once,
    import_check_at_once,
    import_discard,
    import_errors_offered,
    import_is_closed,
    import_preview,
    import_require_free,
    import_upload,
    run_kind_of,
)
from curation.files.encoding import OFFERED
from curation.forms.exchange import ImportForm, ReadingForm
from curation.foundation.errors import UserError
from curation.models import ImportBatch
from curation.serializers import QuerySerializer
from curation.views.api.base import SPREADSHEET, FilesOnly, InDataset
from curation.views.api.bodies import body_of, form_filled
from curation.views.exchange import rejected_rows_answer

READING = ("header", "delimiter", "encoding")
Body = OpenApiTypes.BINARY


class FileNameSerializer(QuerySerializer):
    filename = serializers.CharField(
        max_length=255, help_text="The name of the file. Its ending gives the format, its stem the source."
    )


class GuessSerializer(serializers.Serializer[Any]):
    what = serializers.CharField(
        help_text="The field of a column, or a property of the file such as its delimiter."
    )
    taken = serializers.CharField(help_text="The column or the value. Empty where nothing was used.")
    reason = serializers.CharField()


class PreviewSerializer(serializers.Serializer[Any]):
    """The beginning of a file, before it is imported."""

    format = serializers.CharField()
    encoding = serializers.CharField()
    header = serializers.BooleanField(help_text="Whether the first row names the columns.")
    delimiter = serializers.CharField()
    columns = serializers.ListField(child=serializers.CharField())
    guess = serializers.DictField(
        child=serializers.CharField(allow_null=True), help_text="The recognised column of each field."
    )
    rows = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    warnings = serializers.ListField(child=serializers.CharField())
    guesses = GuessSerializer(
        many=True, help_text="What Semblance decided because the request did not say it, and why."
    )


class AsRunSerializer(serializers.Serializer[Any]):
    """What starts a run when it is sent to /api/v1/runs/."""

    kind = serializers.CharField()
    plan = serializers.DictField()


CheckSerializer = body_of(
    ImportForm,
    "Check",
    header=serializers.ChoiceField(
        choices=["yes", "no"],
        required=False,
        help_text="Whether the first row names the columns. Empty: guessed.",
    ),
    delimiter=serializers.CharField(
        required=False, help_text="The delimiter between columns. Empty: guessed."
    ),
    encoding=serializers.ChoiceField(
        choices=OFFERED, required=False, help_text="The encoding of the file. Empty: detected."
    ),
)


class ImportSerializer(serializers.ModelSerializer[ImportBatch]):
    """An upload and its result. `report` has the counts and first rows of changes and errors of the last step."""

    checked = serializers.BooleanField(help_text="Whether `report` says what an import would do.")
    updated = serializers.SerializerMethodField()
    problem = serializers.SerializerMethodField(help_text="Why nothing was or could be imported.")
    rejected_rows = serializers.SerializerMethodField(help_text="The address of the rejected rows as CSV.")
    created_by = serializers.StringRelatedField[Any](allow_null=True)
    as_run = serializers.SerializerMethodField(
        help_text="The body to send to /api/v1/runs/ if the next step is a run."
    )

    class Meta:
        model = ImportBatch
        fields = [
            "id", "file_name", "state", "checked", "rows", "added", "updated", "unchanged", "rejected",
            "problem", "rejected_rows", "report", "as_run", "created_by", "created_at",
        ]  # fmt: skip

    def get_updated(self, batch: ImportBatch) -> int:
        updated: int = batch.report.get("updated", 0)
        return updated

    def get_problem(self, batch: ImportBatch) -> str:
        problem: str = batch.report.get("error", "")
        return problem

    def get_rejected_rows(self, batch: ImportBatch) -> str | None:
        if not import_errors_offered(batch):
            return None
        names = {"slug": batch.dataset.slug, "batch_pk": batch.pk}
        return reverse("api_import_rejected", kwargs=names, request=self.context.get("request"))

    @extend_schema_field(AsRunSerializer(allow_null=True))
    def get_as_run(self, batch: ImportBatch) -> dict[str, Any] | None:
        if import_is_closed(batch) or not batch.mapping or (batch.checked and batch.rows <= AT_ONCE_ROWS):
            return None
        return {"kind": run_kind_of(batch), "plan": {"dataset": batch.dataset.slug, "batch": batch.pk}}


class ImportDetailSerializer(ImportSerializer):
    """An upload with the beginning of its file, until it is imported."""

    preview = serializers.SerializerMethodField()

    class Meta(ImportSerializer.Meta):
        fields = [*ImportSerializer.Meta.fields, "preview"]

    @extend_schema_field(PreviewSerializer(allow_null=True))
    def get_preview(self, batch: ImportBatch) -> dict[str, Any] | None:
        if import_is_closed(batch):
            return None
        with suppress(UserError):  # a check says what is wrong with the file
            beginning = import_preview(batch)
            return PreviewSerializer({**vars(beginning), "guess": asdict(beginning.guess)}).data
        return None


class OfDataset(InDataset):
    may = "oversee"

    def imports(self) -> QuerySet[ImportBatch]:
        return imports_of(self.dataset(), now())

    def batch(self) -> ImportBatch:
        return get_object_or_404(self.imports(), pk=self.kwargs["batch_pk"])

    def answered(self, batch: ImportBatch, *, status: int = 200) -> Response:
        """The import as it is now."""
        about = {"request": self.request}
        return Response(ImportDetailSerializer(self.imports().get(pk=batch.pk), context=about).data, status)


class ImportList(OfDataset, ListAPIView[ImportBatch]):
    """The dataset's imports, newest first."""

    serializer_class = ImportSerializer
    queryset = ImportBatch.objects.none()  # the schema reads the types of keys from it

    def get_queryset(self) -> QuerySet[ImportBatch]:
        return self.imports().order_by("-pk")

    def rows_after(self, imports: QuerySet[ImportBatch], number: int) -> QuerySet[ImportBatch]:
        return imports.filter(pk__lt=number)

    @extend_schema(
        parameters=[FileNameSerializer],
        request={"application/octet-stream": Body},
        responses={201: ImportDetailSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Send a file of pairs as the body of the request. Nothing is imported before it is checked and applied."""
        dataset = self.dataset()
        asked = FileNameSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        file = BodyFile(request._request, asked.validated_data["filename"])
        user: Any = request.user
        return self.answered(import_upload(dataset=dataset, files=[file], by=user), status=201)


class ImportDetail(OfDataset, RetrieveDestroyAPIView[ImportBatch]):
    """One import. DELETE discards an upload that nobody imported."""

    serializer_class = ImportDetailSerializer
    queryset = ImportBatch.objects.none()

    def get_object(self) -> ImportBatch:
        return self.batch()

    def perform_destroy(self, instance: ImportBatch) -> None:
        import_discard(batch=instance)


class ImportCheck(OfDataset, APIView):
    @extend_schema(request=CheckSerializer, responses=ImportDetailSerializer)
    def post(self, request: Request, slug: str, batch_pk: int) -> Response:
        """Try the import without writing a row: `report` then says what it would do.

        What is left out is recognised, as on the page. Where the file is too large to wait for, `as_run` is the run
        that checks it.
        """
        batch = self.batch()
        import_require_free(batch)
        if not isinstance(request.data, Mapping):
            raise ParseError(_("Send a JSON object."))
        reading = {name: request.data[name] for name in READING if request.data.get(name) is not None}
        cut = form_filled(reading, ReadingForm).reading
        preview = import_preview(batch, **cut)
        named = request.data.keys()
        form = form_filled(
            request.data, lambda data: ImportForm(data, preview=preview, named=named), also=READING
        )
        with suppress(NothingImportedError):  # the batch keeps it, with the rejected rows
            import_check_at_once(batch=batch, options=form.options())
        return self.answered(batch)


class ImportApply(OfDataset, APIView):
    @extend_schema(request=None, responses=ImportDetailSerializer)
    def post(self, request: Request, slug: str, batch_pk: int) -> Response:
        """Import what was checked. Where the file is too large to wait for, `as_run` is the run that imports it."""
        user: Any = request.user
        batch = self.batch()
        import_apply_at_once(batch=batch, by=user)
        return self.answered(batch)


class ImportRejected(OfDataset, APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(parameters=[SPREADSHEET], responses={(200, "text/csv"): Body})
    def get(self, request: Request, slug: str, batch_pk: int) -> StreamingHttpResponse:
        """The rejected rows as CSV, with the columns of the file and the reasons. Correct it and import it again."""
        return rejected_rows_answer(request._request, self.batch())
