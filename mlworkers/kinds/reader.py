"""The person who reads a page of results."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from curation.models import Dataset
from curation.results.reports import Link, Look
from mlworkers.models import Run


class Reader(NamedTuple):
    """may_start: whether to offer the form of a kind of run for a dataset. may: whether they have a right to it. runs:
    those that the person sees. asked: the query of the page's address.
    """

    may_start: Callable[[str, Dataset], bool]
    may: Callable[[Dataset, str], bool]
    runs: QuerySet[Run]
    asked: Mapping[str, str]

    def form(
        self, kind: str, dataset: Dataset | None, label: str, *, look: Look = "", **values: str | int
    ) -> list[Link]:
        """A link to the form of that kind of run with these values; none where the reader may not start it."""
        if dataset is None or not self.may_start(kind, dataset):
            return []
        query = urlencode({"dataset": dataset.slug, **values})
        return [Link(label, f"{reverse('mlworkers:run_start', args=[kind])}?{query}", look=look)]

    def work(
        self, page: str, dataset: Dataset | None, label: str, *, look: Look = "", **query: str
    ) -> list[Link]:
        """A link to a page on which curators of the dataset work; none for others."""
        if dataset is None or not self.may(dataset, "curate"):
            return []
        address = reverse(page, args=[dataset.slug])
        return [Link(label, f"{address}?{urlencode(query)}" if query else address, look=look)]
