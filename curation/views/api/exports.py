"""Exports for programs: /api/v1/datasets/<slug>/export/, with the choices of the page."""

from tempfile import TemporaryFile
from urllib.parse import quote

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from curation.exchange.exporting import pairs_stream
from curation.forms.exchange import ExportForm
from curation.pairs.inclusion import UNNAMED, Inclusion
from curation.views.api.base import FilesOnly, InDataset
from curation.views.api.bodies import body_of, form_filled

OF_RUNS = ("dataset", "launch")
ROWS, LICENCE = "Export-Rows", "Export-Licence"
KINDS = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
ChoicesSerializer = body_of(ExportForm, "ExportChoices", leave_out=OF_RUNS)


class Export(InDataset, APIView):
    content_negotiation_class = FilesOnly

    @extend_schema(
        parameters=[
            ChoicesSerializer,
            OpenApiParameter(
                ROWS,
                OpenApiTypes.INT,
                OpenApiParameter.HEADER,
                response=[200],
                description="How many pairs the file holds.",
            ),
            OpenApiParameter(
                LICENCE,
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                response=[200],
                description="The licence of the dataset, if it has one, percent-encoded.",
            ),
        ],
        responses={(200, kind): OpenApiTypes.BINARY for kind in KINDS.values()},
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """The active pairs with their scores as a file.

        It is sent while it is written. If it cannot be written to its end, the connection ends before the answer does,
        which a program sees as an error.
        """
        dataset = self.dataset()
        sent = {"generated_pairs": UNNAMED.value, **request.query_params.dict()}
        asked = form_filled(sent, lambda data: ExportForm(dataset, data, counted=False)).cleaned_data
        export = pairs_stream(
            dataset=dataset,
            format=asked["format"],
            score_set=asked["score_set"] or None,
            plain=asked["plain"],
            standard_errors=asked["standard_errors"],
            neutralise=asked["spreadsheet"],
            generated_pairs=Inclusion(asked["generated_pairs"]),
            scored_only=asked["scored_only"],
        )
        if request.method == "HEAD":
            answer: HttpResponseBase = StreamingHttpResponse()
        elif request.META.get("SERVER_PROTOCOL") == "HTTP/1.0":
            # For a client that knows no end but that of the connection: the length of the file tells it where the
            # end is.
            file = TemporaryFile()  # noqa: SIM115 - the answer closes it
            file.writelines(export.blocks)
            file.seek(0)
            answer = FileResponse(file)
        else:
            answer = StreamingHttpResponse(export.blocks)
        answer[ROWS] = str(export.rows)
        if dataset.licence:
            answer[LICENCE] = quote(dataset.licence, safe=" ()+,/:;")
        answer["Content-Type"] = KINDS[asked["format"]]
        name = f"{slug}.{asked['format']}"
        answer["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
        return answer
