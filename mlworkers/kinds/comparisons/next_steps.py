"""The links that the page of a run shows once it succeeded: comparisons."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.results.reports import Link, Look
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.steps import model_links
from mlworkers.models import Run


def searched(run: Run, reader: Reader) -> Sequence[Link]:
    if not run.result.get("trials"):
        return reader.form(run.kind, run.dataset, _("Search other settings"), look="primary", again=run.pk)
    label = _("Compare weightings with these settings")
    links = weightings_links(run, reader, label, look="primary", search=run.pk)
    return [*links, *model_links(run, look="button")]


def weightings_links(run: Run, reader: Reader, label: str, *, look: Look = "", **filled: int) -> list[Link]:
    """The form that compares weightings on the run's dataset. filled: settings that it shows."""
    return reader.form("compare_weightings", run.dataset, label, look=look, **filled)
