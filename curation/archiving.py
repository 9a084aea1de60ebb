"""An archived dataset is read-only. The one place that says so; access asks it for pages, services for all else."""

from django.utils.translation import gettext as _

from curation.errors import UserError
from curation.models import Dataset


class ArchivedError(UserError):
    """The dataset is archived. A page answers 403, so that what waits in a browser waits until it is brought back."""

    status = 403


def dataset_require_active(dataset: Dataset) -> None:
    """Raise ArchivedError for an archived dataset; `dataset` is as fresh as the caller has it."""
    if dataset.archived:
        raise ArchivedError(
            _(
                "“%(dataset)s” is archived, so nothing in it can be changed. "
                "An owner can bring it back in its settings."
            )
            % {"dataset": dataset}
        )
