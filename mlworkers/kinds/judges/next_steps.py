"""The links that the page of a run shows once it succeeded: judging by machines."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run


def judged(run: Run, _reader: Reader) -> Sequence[Link]:
    campaign = run.result.get("campaign")
    if not campaign:
        return []
    address = reverse("annotation:machines", args=[campaign])
    return [Link(_("Compare the model annotator with people"), address, look="primary")]
