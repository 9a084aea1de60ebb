"""The links that the page of a run shows once it succeeded: scores of realism and consistency."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.results.reports import Link
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run


def realism_scored(run: Run, reader: Reader) -> Sequence[Link]:
    label = _("Compare the wording of sentences with high and low p_D")
    return reader.form("analyse_language", run.dataset, label)


def consistency_scored(run: Run, reader: Reader) -> Sequence[Link]:
    return reader.form("compare_weightings", run.dataset, _("Compare encoders trained with and without p_y"))
