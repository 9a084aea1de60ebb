"""The links that the page of a run shows once it succeeded: imports and exports."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.models import ImportBatch
from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.steps import file_links, pairs_links
from mlworkers.models import Run


def checked(run: Run, reader: Reader) -> Sequence[Link]:
    """The page of the upload, which is gone once it was imported or discarded."""
    if run.dataset is None:
        return []
    number = run.plan.get("batch")
    if (
        reader.may(run.dataset, "curate")
        and ImportBatch.objects.filter(pk=number, dataset=run.dataset).exists()
    ):
        address = reverse("curation:import_batch", args=[run.dataset.slug, number])
        return [Link(_("See the rows, and import them"), address, look="primary")]
    label = _("Import a file")
    return reader.work("curation:import", run.dataset, label, look="primary")


def imported(run: Run, reader: Reader) -> Sequence[Link]:
    links = pairs_links(run, look="primary")
    if run.dataset is not None and reader.may(run.dataset, "curate"):
        campaign = f"{reverse('annotation:campaign_new')}?dataset={run.dataset.slug}"
        links.append(Link(_("Start a campaign with them"), campaign, look="button"))
    return links


def sentences_imported(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Sample pairs from the sentences")
    return reader.work("curation:compose", run.dataset, label, look="primary")


def exported(run: Run, _reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return file_links(run)
    again = Link(_("Export again"), reverse("curation:export", args=[run.dataset.slug]))
    return [*file_links(run), again]
