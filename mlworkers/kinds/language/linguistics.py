"""The linguistic analysis of a dataset's pairs, from a snapshot."""

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Pair
from curation.results.estimates import as_stored
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.linguistics.analysis import FEWEST_PAIRS, linguistic_analysis
from mlworkers.science.linguistics.groups import AnalysedPairs
from mlworkers.science.linguistics.plan import LinguisticPlan


def analyse_language(plan: LinguisticPlan, job: Job) -> Outcome:
    """Measure what differs between sentences of people and machines, and between pairs by realism and by target.

    Reads a snapshot and publishes nothing: the families of features with their groups are the run's result. Raises
    UserError where no group has enough pairs.
    """
    dataset = job.dataset_of(plan.dataset)
    snapshot = snapshot_taken(job, dataset, plan.snapshot, generated_pairs=plan.generated_pairs)
    table = table_of(snapshot)
    columns = {
        "numbers": table.column("pair"),
        "a": table.column("a_id"),
        "b": table.column("b_id"),
        "first": table.column("sentence1"),
        "second": table.column("sentence2"),
        "generated": table.column("origin") == Pair.Origin.GENERATED,
    }
    for name, score_set in (("realism", plan.realism), ("target", plan.targets)):
        none = np.full(columns["numbers"].size, np.nan)
        columns[name] = table.scores(score_set) if score_set else none
    if plan.split:
        chosen = table.column("split") == plan.split
        columns = {name: column[chosen] for name, column in columns.items()}
    pairs = AnalysedPairs(**columns)
    families = linguistic_analysis(pairs, share=plan.share, seed=plan.seed, report=job.report)
    if not families:
        sentence = _(
            "There are %(pairs)s pairs to analyse, and no group has %(least)s; choose another split, or import or "
            "generate more pairs first."
        )
        raise UserError(sentence, pairs=intcomma(len(pairs)), least=FEWEST_PAIRS)
    result = {
        "pairs": len(pairs),
        "snapshot": snapshot.number,
        # Lists of rows, so that the run's page leaves them to the page of the analysis.
        "families": [
            {
                **as_stored(family),
                "groups": [{**as_stored(group), "group": str(group.group)} for group in family.groups],
            }
            for family in families
        ],
    }
    return Outcome(_("%(pairs)s pairs analysed") % {"pairs": intcomma(len(pairs))}, result)
