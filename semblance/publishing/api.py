"""Publishing for programs: the folder of a snapshot as a zip, and its methods section, as on the page *Publish*."""

from tempfile import TemporaryFile
from typing import Any

from django.http import FileResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.files.publishing.texts import methods_files
from curation.models import Snapshot
from curation.serializers import QuerySerializer
from curation.views.api.base import FilesOnly, InDataset
from curation.views.api.bodies import form_filled
from semblance.publishing.collecting import publication_of, scores_held
from semblance.publishing.folder import dataset_publish_zip, folder_name, small_snapshot
from semblance.publishing.forms import FolderForm


class FolderQuerySerializer(QuerySerializer):
    """The choices of the page; each may be left out."""

    score_set = serializers.CharField(
        required=False, help_text="The name of the scores of the main table. Empty: the first."
    )
    authors = serializers.CharField(required=False, help_text="The people to cite, one name per line.")


class MethodsQuerySerializer(QuerySerializer):
    score_set = serializers.CharField(
        required=False, help_text="The name of the main scores. Empty: the first."
    )


class MethodsSerializer(serializers.Serializer[Any]):
    """The text of each file by its name: METHODS.md, methods.tex and references.bib."""

    files = serializers.DictField(child=serializers.CharField())


class OfPublication(InDataset):
    may = "oversee"

    def snapshot(self, number: int, *, command: str) -> Snapshot:
        return small_snapshot(self.dataset(), number, command=command)


class PublishedFolder(OfPublication, APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(
        parameters=[FolderQuerySerializer], responses={(200, "application/zip"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, slug: str, number: int) -> HttpResponseBase:
        """A folder that is ready for a data hub, as a zip.

        It has Parquet files, README, data statement, Croissant, citation, methods section, and a manifest with
        checksums.
        """
        snapshot = self.snapshot(number, command="publish_dataset")
        if not scores_held(snapshot):
            publication_of(
                snapshot
            )  # says why there is nothing to publish, which a form without choices does not
        form = form_filled(request.query_params.dict(), lambda data: FolderForm(data, snapshot=snapshot))
        file = TemporaryFile()  # noqa: SIM115 - the response closes it
        try:
            dataset_publish_zip(snapshot=snapshot, file=file, **form.asked)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return FileResponse(file, as_attachment=True, filename=f"{folder_name(snapshot)}.zip")


class Methods(OfPublication, APIView):
    @extend_schema(parameters=[MethodsQuerySerializer], responses=MethodsSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """The methods section of a snapshot in Markdown and LaTeX, with its references."""
        snapshot = self.snapshot(number, command="methods_section")
        asked = MethodsQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found = publication_of(snapshot, score_set=asked.validated_data.get("score_set", ""))
        return Response({"files": methods_files(found.publication)})
