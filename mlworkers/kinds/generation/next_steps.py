"""The links that the page of a run shows once it succeeded: generation."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.models import Dataset
from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.models import Instructions, Run


def previewed(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Generate pairs with these settings")
    return reader.form("generate_pairs", run.dataset, label, look="primary", again=run.pk)


def generating_links(reader: Reader, dataset: Dataset, shown: Instructions | None) -> Sequence[Link]:
    """shown: the instructions that the new run would use."""
    if shown is None:
        return []
    return reader.form("generate_pairs", dataset, _("Generate pairs with these"), instructions=shown.pk)
