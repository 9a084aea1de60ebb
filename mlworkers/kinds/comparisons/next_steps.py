"""The links that the page of a run shows once it succeeded: comparisons."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run


def searched(run: Run, reader: Reader) -> Sequence[Link]:
    if not run.result.get("trials"):
        return []
    label = _("Compare weightings with these settings")
    return reader.form("compare_weightings", run.dataset, label, look="primary", search=run.pk)
