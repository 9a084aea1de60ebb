"""The links that the page of a run shows once it succeeded: scores of realism and consistency."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.results.reports import Link, Look
from mlworkers.kinds.comparisons.next_steps import weightings_links
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.steps import pairs_links
from mlworkers.models import Run


def realism_links(run: Run, reader: Reader, *, look: Look = "") -> Sequence[Link]:
    """Of a run that wrote sentences: their p_D, and the review, which shows them by it."""
    score, review = _("Score their human-likeness (p_D)"), _("Review the sentences")
    return [
        *reader.form("score_realism", run.dataset, score, look=look, run=run.pk),
        *reader.work("curation:review", run.dataset, review, look="button"),
    ]


def realism_scored(run: Run, reader: Reader) -> Sequence[Link]:
    review = _("Review the sentences that seem least human")
    weightings = _("Compare encoders trained with and without p_D")
    wording = _("Compare the wording of sentences with high and low p_D")
    return [
        *reader.work("curation:review", run.dataset, review, look="primary"),
        *pairs_links(run, look="button"),
        *weightings_links(run, reader, weightings),
        *reader.form("analyse_language", run.dataset, wording),
    ]


def consistency_scored(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Compare encoders trained with and without p_y")
    return [*weightings_links(run, reader, label, look="primary"), *pairs_links(run)]
