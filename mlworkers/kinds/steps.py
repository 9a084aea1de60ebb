"""Links that the pages of several kinds of run show once a run succeeded."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from curation.results.reports import Link, Look
from mlworkers.kinds.reader import Reader
from mlworkers.models import Artifact, Run
from mlworkers.plans.kind import MODEL_KINDS


def pairs_links(run: Run, *, look: Look = "", **filters: str) -> list[Link]:
    """The dataset's pairs, narrowed by those filters of their page."""
    if run.dataset is None:
        return []
    address = reverse("curation:dataset", args=[run.dataset.slug])
    return [Link(_("View the pairs"), f"{address}?{urlencode(filters)}" if filters else address, look)]


def model_of(run: Run) -> Artifact | None:
    """The first model that the run made and that is still there."""
    return run.artifacts.filter(kind__in=MODEL_KINDS, removed_at=None).order_by("pk").first()


def model_links(run: Run, *, look: Look = "") -> list[Link]:
    made = model_of(run)
    return [Link(_("See the model"), reverse("mlworkers:model_detail", args=[made.pk]), look)] if made else []


def used_links(run: Run, reader: Reader, kind: str, label: str, *, look: Look = "") -> list[Link]:
    """The form of that kind of run with the model that this run made."""
    made = model_of(run)
    return reader.form(kind, run.dataset, label, look=look, model=made.pk) if made else []


def file_links(run: Run) -> Sequence[Link]:
    """A download of each file of the run, the first one as the main button."""
    kept = run.artifacts.filter(removed_at=None).order_by("pk")
    return [
        Link(
            _("Download %(file)s") % {"file": made.name},
            reverse("mlworkers:artifact_download", args=[run.pk, made.pk]),
            look="button" if number else "primary",
            download=True,
        )
        for number, made in enumerate(kept)
    ]
