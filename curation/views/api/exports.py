"""Exports for programs: /api/v1/datasets/<slug>/export/, with the choices of the page."""

from pathlib import Path
from tempfile import TemporaryDirectory

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.views import APIView

from curation.exchange.exporting import pairs_export
from curation.forms.exchange import ExportForm
from curation.pairs.inclusion import UNNAMED, Inclusion
from curation.views.api.base import FilesOnly, InDataset
from curation.views.api.bodies import body_of, form_filled

OF_RUNS = ("dataset", "launch")
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
        parameters=[ChoicesSerializer],
        responses={(200, kind): OpenApiTypes.BINARY for kind in KINDS.values()},
    )
    def get(self, request: Request, slug: str) -> FileResponse:
        """The active pairs with their scores as a file.

        It is written whole before it is sent, so that an answer of 200 is the whole file. A very large one is better
        made by a run of kind export_dataset, for which nobody waits.
        """
        dataset = self.dataset()
        sent = {"generated_pairs": UNNAMED.value, **request.query_params.dict()}
        asked = form_filled(sent, lambda data: ExportForm(dataset, data)).cleaned_data
        name = f"{slug}.{asked['format']}"
        with TemporaryDirectory(prefix="export-") as folder:
            outcome = pairs_export(
                dataset=dataset,
                path=Path(folder) / name,
                format=asked["format"],
                score_set=asked["score_set"] or None,
                plain=asked["plain"],
                standard_errors=asked["standard_errors"],
                neutralise=asked["spreadsheet"],
                generated_pairs=Inclusion(asked["generated_pairs"]),
            )
            file = outcome.path.open("rb")  # it can be read after its folder is gone
        return FileResponse(file, as_attachment=True, filename=name, content_type=KINDS[asked["format"]])
