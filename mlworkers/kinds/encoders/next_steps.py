"""The links that the page of a run shows once it succeeded: encoders."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run


def trained_by_contrast(run: Run, reader: Reader) -> Sequence[Link]:
    return reader.form("evaluate_encoder", run.dataset, _("Evaluate the encoder"))


def composed(run: Run, _reader: Reader) -> Sequence[Link]:
    if run.dataset is None:
        return []
    slug = run.dataset.slug
    return [
        Link(_("View the pairs"), reverse("curation:dataset", args=[slug]), look="primary"),
        Link(_("Undo, or sample other pairs"), reverse("curation:compose", args=[slug])),
    ]


def pairs_scored(run: Run, _reader: Reader) -> Sequence[Link]:
    scores = run.dataset.score_sets.filter(run_ref=run.pk).first() if run.dataset else None
    if run.dataset is None or scores is None:
        return []
    address = reverse("curation:score_sets_compared", args=[run.dataset.slug])
    return [Link(_("Compare these scores with others, pair by pair"), f"{address}?second={scores.pk}")]
