"""The pairs that one run wrote as paraphrases."""

import numpy as np
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet
from mlworkers.models import Run
from mlworkers.plans.fields import GENERATING
from mlworkers.science.encoders.rows import PairTable
from mlworkers.science.paraphrasing.candidates_plan import SAME_MEANING
from mlworkers.science.synthesis.postprocessing import smoothed


def pairs_written(dataset: Dataset, run: int) -> QuerySet[Pair]:
    """The dataset's pairs that the run of that number wrote as paraphrases: of “Generate pairs”, those of the
    label 1, whose target similarity its smoothing changes. Every pair for 0.
    """
    if not run:
        return dataset.pairs.all()
    written = dataset.pairs.filter(run_ref=run)
    if not Run.objects.filter(pk=run, kind=GENERATING).exists():
        return written
    same = Q(pk__in=[])
    for targets in ScoreSet.objects.filter(dataset=dataset, run_ref=run, kind=ScoreSet.Kind.TARGET):
        smoothing = float(targets.parameters.get("smoothing", 0))
        if smoothing < 1:  # with 1, every label has the same target
            same |= Q(score_set=targets, value=smoothed(SAME_MEANING, smoothing))
    return written.filter(pk__in=PairScore.objects.filter(same).values("pair"))


def marked_as_written(table: PairTable, dataset: Dataset, run: int) -> NDArray[np.bool_]:
    """Which of a snapshot's n pairs `pairs_written` has, (n,). Raises UserError where it is none."""
    if not run:
        return np.ones(len(table), dtype=bool)
    written = pairs_written(dataset, run).order_by().values_list("pk", flat=True)
    marked: NDArray[np.bool_] = np.isin(table.column("pair"), list(written))
    if not marked.any():
        sentence = _(
            "The snapshot has no paraphrase that run %(run)s wrote; choose another run, or a new snapshot."
        )
        raise UserError(sentence, run=run)
    return marked
