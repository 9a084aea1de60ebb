"""What the addresses of a dataset share."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from curation.models import Dataset
from curation.people.access import dataset_allow, dataset_for

# Of an address that answers with a CSV file (`curation.views.tables`).
SPREADSHEET = OpenApiParameter(
    "spreadsheet",
    OpenApiTypes.INT,
    enum=[1],
    description="1: nothing in a CSV file is a formula to a spreadsheet.",
)


class InDataset:
    """A view of something in the dataset that the address names.

    may: what one must be allowed to do with the dataset to read here; changing: to send something.
    """

    may = "read"
    changing = "curate"
    request: Any
    kwargs: dict[str, Any]

    def dataset(self) -> Dataset:
        """Raises Http404 for a stranger and PermissionDenied for a member who may not."""
        dataset = dataset_for(self.request.user, self.kwargs["slug"], may=self.may)
        if self.request.method not in {"GET", "HEAD", "OPTIONS"}:
            dataset_allow(self.request.user, dataset, may=self.changing)
        return dataset


class FilesOnly(BaseContentNegotiation):
    """Of a view that answers with a file, whatever kinds of answers a program says it accepts."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        return next(iter(parsers))

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type
