"""Pairs of a corpus's sentences, added to a dataset: a surrogate learns from their similarities."""

from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.exchange.harvested import HarvestedRow, harvested_pairs_add, near_keys_of
from curation.foundation.errors import UserError, errors_shown
from curation.pairs.segmenting import words_rule
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.harvest_plan import HarvestPlan
from mlworkers.science.contexts.harvesting import Harvest, counted


def harvest_pairs(plan: HarvestPlan, job: Job) -> Outcome:
    """Find pairs of sentences in a corpus, in the ways of the plan, and add them to the dataset.

    A sentence of which the dataset has a near copy is not used. What the dataset has is noted once, so that a successor
    finds the same pairs. Raises UserError for an index that is damaged, and where no pair can be made.
    """
    dataset = job.dataset_of(plan.dataset)
    folder = corpus_named(plan.corpus, dataset)
    corpus, index = Corpus(folder), BigramIndex(folder)
    with errors_shown(CorpusError):
        index.check()
    # The dataset's sentences as they are now, whatever is added before a successor takes the run over.
    known = job.drawn_once("known.json", lambda: {"keys": sorted(set(near_keys_of(dataset)))})["keys"]
    found = Harvest(corpus, index, plan, known).pairs(job.report)
    if not found:
        raise UserError(
            _(
                "No two sentences of the corpus can be put together: they are too short or too long, or the dataset "
                "has all of them. Change the number of words, or choose another corpus."
            )
        )
    ways, splits = counted(found)
    rows = [HarvestedRow(each.first, each.second, each.way.value, each.split) for each in found]

    def publish() -> dict[str, Any]:
        harvested_pairs_add(dataset=dataset, run_ref=job.run_id, rows=rows, by=started_by(job))
        return {}

    missing = plan.pairs - len(found)
    words = {"pairs": intcomma(len(found)), "train": intcomma(splits["harvested-train"])}
    message = _("%(pairs)s pairs added, %(train)s of them to train on") % words
    if missing:
        message += _("; %(missing)s fewer than asked for") % {"missing": intcomma(missing)}
    result = {
        "pairs": len(found),
        "missing": missing,
        "by_way": ways,
        "by_split": splits,
        "words_rule": words_rule(),
    }
    return Outcome(message, result, publish=publish)
