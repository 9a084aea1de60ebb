"""Composing pairs for programs: /api/v1/datasets/<slug>/compose/, with the settings of the page."""

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.generics import RetrieveDestroyAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from curation.datasets.composing import (
    Preview,
    composition_add,
    composition_preview,
    composition_require_few,
    composition_undo,
    pool_of,
)
from curation.datasets.composing_chart import dice_counts
from curation.exchange.claiming import imports_of
from curation.exchange.pool import pool_clear
from curation.exchange.receiving import BodyFile
from curation.exchange.refusals import NothingImportedError
from curation.exchange.sentence_uploads import sentences_add_at_once, sentences_upload
from curation.exchange.uploads import import_discard, import_errors_offered, import_is_closed
from curation.forms.composing import CompositionForm, SentencesForm
from curation.foundation.errors import UserError
from curation.models import Composition, Dataset, ImportBatch
from curation.serializers import RejectedRowSerializer
from curation.views.api.base import SPREADSHEET, FilesOnly, InDataset
from curation.views.api.bodies import STATE, body_of, form_filled, state_sent
from curation.views.api.imports import AsRunSerializer, GuessSerializer
from curation.views.exchange import rejected_rows_answer

SettingsSerializer = body_of(
    CompositionForm(names=[]),
    "CompositionSettings",
    state=serializers.CharField(
        required=False,
        help_text="The state from the preview. If the single sentences have changed since, nothing is added.",
    ),
)
SentencesSerializer = body_of(SentencesForm, "Sentences", filename=serializers.CharField(max_length=255))


class CompositionSerializer(serializers.ModelSerializer[Composition]):
    created_by = serializers.StringRelatedField[Any](allow_null=True)

    class Meta:
        model = Composition
        fields = ["id", "parameters", "pairs", "created_by", "created_at", "undone_at"]


class SourceSerializer(serializers.Serializer[Any]):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of that name, not the attribute
    sentences = serializers.IntegerField()


class PoolSerializer(serializers.Serializer[Any]):
    """The sentences from which pairs are composed, and the compositions there were, the newest first."""

    sentences = serializers.IntegerField()
    sources = SourceSerializer(many=True)
    labels = serializers.ListField(child=serializers.CharField())
    compositions = CompositionSerializer(many=True)


class ExampleSerializer(serializers.Serializer[Any]):
    a = serializers.CharField()
    b = serializers.CharField()
    dice = serializers.FloatField()


class DiceSerializer(serializers.Serializer[Any]):
    """A bar of the histogram: `random` is the number of as many random pairs."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    pairs = serializers.IntegerField()
    random = serializers.FloatField()


class CompositionPreviewSerializer(serializers.Serializer[Any]):
    """What would be drawn. usable: sentences that could be; short, long and copies: those left out, by reason."""

    state = serializers.CharField()
    pairs = serializers.IntegerField()
    usable = serializers.IntegerField()
    short = serializers.IntegerField()
    long = serializers.IntegerField()
    copies = serializers.IntegerField()
    dice = DiceSerializer(many=True)
    examples = ExampleSerializer(many=True)


class SentenceFileSerializer(serializers.ModelSerializer[ImportBatch]):
    """A file of sentences and what became of it."""

    known = serializers.IntegerField(
        source="unchanged", help_text="Single sentences that the dataset had before."
    )
    problem = serializers.SerializerMethodField(help_text="Why nothing was added.")
    rejections = serializers.SerializerMethodField(help_text="The first rejected rows.")
    rejected_rows = serializers.SerializerMethodField(help_text="The address of the rejected rows as CSV.")
    warnings = serializers.SerializerMethodField()
    guesses = serializers.SerializerMethodField(
        help_text="What Semblance decided because the request did not say it, and why."
    )
    as_run = serializers.SerializerMethodField(
        help_text="The body to send to /api/v1/runs/ if the file is too large to wait for."
    )

    class Meta:
        model = ImportBatch
        fields = [
            "id", "file_name", "state", "rows", "added", "known", "rejected", "problem", "rejections", "rejected_rows",
            "warnings", "guesses", "as_run", "created_at",
        ]  # fmt: skip

    def get_problem(self, batch: ImportBatch) -> str:
        problem: str = batch.report.get("error", "")
        return problem

    @extend_schema_field(RejectedRowSerializer(many=True))
    def get_rejections(self, batch: ImportBatch) -> list[dict[str, Any]]:
        rejections: list[dict[str, Any]] = batch.report.get("errors", [])
        return rejections

    def get_warnings(self, batch: ImportBatch) -> list[str]:
        warnings: list[str] = batch.report.get("warnings", [])
        return warnings

    @extend_schema_field(GuessSerializer(many=True))
    def get_guesses(self, batch: ImportBatch) -> list[dict[str, str]]:
        guesses: list[dict[str, str]] = batch.report.get("guesses", [])
        return guesses

    def get_rejected_rows(self, batch: ImportBatch) -> str | None:
        if not import_errors_offered(batch):
            return None
        names = {"slug": batch.dataset.slug, "batch_pk": batch.pk}
        return reverse("api_sentences_rejected", kwargs=names, request=self.context.get("request"))

    @extend_schema_field(AsRunSerializer(allow_null=True))
    def get_as_run(self, batch: ImportBatch) -> dict[str, Any] | None:
        if import_is_closed(batch):
            return None
        return {"kind": "import_sentences", "plan": {"dataset": batch.dataset.slug, "batch": batch.pk}}


class Composing(InDataset):
    may = "curate"

    def form(self, dataset: Dataset) -> CompositionForm:
        """The settings that were sent. Raises UserError where the pool is too large for a request."""
        composition_require_few(dataset)
        names = list(pool_of(dataset).labels)
        sent: Any = self.request.data
        return form_filled(sent, lambda data: CompositionForm(data, names=names), also=[STATE])


class Compose(Composing, APIView):
    @extend_schema(responses=PoolSerializer)
    def get(self, request: Request, slug: str) -> Response:
        dataset = self.dataset()
        pool = pool_of(dataset)
        sources = [{"source": source, "sentences": n} for source, n in pool.sources]
        compositions = dataset.compositions.select_related("created_by")
        facts = {**asdict(pool), "sources": sources, "compositions": compositions}
        return Response(PoolSerializer(facts).data)

    @extend_schema(request=SettingsSerializer, responses={201: CompositionSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Draw pairs and add them to the dataset."""
        user: Any = request.user
        dataset = self.dataset()
        form = self.form(dataset)
        if form.settings is None:
            raise Http404  # a valid form has them
        state = state_sent(request)
        made = composition_add(
            dataset=dataset,
            settings=form.settings,
            labels=form.labels,
            synonyms=form.chosen_synonyms,
            state=state,
            by=user,
        )
        return Response(CompositionSerializer(made).data, 201)


class ComposePreview(Composing, APIView):
    @extend_schema(request=SettingsSerializer, responses=CompositionPreviewSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """What these settings would draw. Nothing is added."""
        dataset = self.dataset()
        form = self.form(dataset)
        if form.settings is None:
            raise Http404
        preview = composition_preview(dataset, form.settings, form.labels, form.chosen_synonyms)
        return Response(CompositionPreviewSerializer(preview_shown(preview)).data)


def preview_shown(preview: Preview) -> dict[str, Any]:
    drawn = preview.drawn
    counts = {name: getattr(drawn, name) for name in ("usable", "short", "long", "copies")}
    names = ("low", "high", "pairs", "random")
    bars = [dict(zip(names, bar, strict=True)) for bar in dice_counts(drawn)]
    about = {"state": preview.state, "pairs": len(drawn.dice), "dice": bars, "examples": preview.examples}
    return {**counts, **about}


class ComposeUndo(InDataset, APIView):
    may = "curate"

    @extend_schema(request=None, responses=CompositionSerializer)
    def post(self, request: Request, slug: str, composition_pk: int) -> Response:
        """Undo a sample: remove its pairs, if nothing uses them yet."""
        user: Any = request.user
        composition = get_object_or_404(self.dataset().compositions, pk=composition_pk)
        composition_undo(composition=composition, by=user)
        composition.refresh_from_db()
        return Response(CompositionSerializer(composition).data)


class OfSentences(InDataset):
    may = "curate"

    def batch(self) -> ImportBatch:
        return get_object_or_404(self.batches(), pk=self.kwargs["batch_pk"])

    def batches(self) -> QuerySet[ImportBatch]:
        return imports_of(self.dataset(), now(), kind=ImportBatch.Kind.SENTENCES)

    def answered(self, batch: ImportBatch, *, status: int = 200) -> Response:
        """The file as it is now."""
        about = {"request": self.request}
        return Response(SentenceFileSerializer(self.batches().get(pk=batch.pk), context=about).data, status)


class SentencesAdd(OfSentences, APIView):
    @extend_schema(
        parameters=[SentencesSerializer],
        request={"application/octet-stream": OpenApiTypes.BINARY},
        responses={200: SentenceFileSerializer, 202: SentenceFileSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add the sentences of a file, the body of the request, as single sentences.

        202: the file is too large to wait for, and `as_run` is the run that adds them. A file of which nothing was
        added because rows were rejected says so in `problem`.
        """
        user: Any = request.user
        dataset = self.dataset()
        name = request.query_params.get("filename")
        if not name:
            raise serializers.ValidationError(
                {"filename": [serializers.Field.default_error_messages["required"]]}
            )
        file = BodyFile(request._request, name[:255])
        sent = request.query_params.dict()
        form = form_filled(sent, lambda data: SentencesForm(data, {"file": file}), also=["filename"])
        batch = sentences_upload(dataset=dataset, file=file, options=form.options(), by=user)
        try:
            outcome = sentences_add_at_once(batch=batch, by=user)
        except NothingImportedError:  # the batch keeps it, with the rejected rows
            return self.answered(batch)
        except UserError:
            import_discard(batch=batch)
            raise
        return self.answered(batch, status=202 if outcome is None else 200)


class SentencesDetail(OfSentences, RetrieveDestroyAPIView[ImportBatch]):
    """A file of sentences. DELETE discards one whose sentences were not added."""

    serializer_class = SentenceFileSerializer
    queryset = ImportBatch.objects.none()

    def get_object(self) -> ImportBatch:
        return self.batch()

    def perform_destroy(self, instance: ImportBatch) -> None:
        import_discard(batch=instance)


class SentencesRejected(OfSentences, APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(parameters=[SPREADSHEET], responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, batch_pk: int) -> StreamingHttpResponse:
        """The rejected rows as CSV, with the columns of the file and the reasons. Correct it and send it again."""
        return rejected_rows_answer(request._request, self.batch())


class SentencesClear(InDataset, APIView):
    may = "curate"

    @extend_schema(request=None, responses=PoolSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Remove the single sentences. Sentences that are in pairs stay in the dataset."""
        user: Any = request.user
        dataset = self.dataset()
        pool_clear(dataset=dataset, by=user)
        facts = {"sentences": 0, "sources": [], "labels": [], "compositions": dataset.compositions.all()}
        return Response(PoolSerializer(facts).data)
