"""Some rows that a generation would write, and how long all of them would take. Nothing is added to the dataset."""

from dataclasses import replace
from math import ceil
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.generation.estimates import requests_in_words
from mlworkers.kinds.generation.generating import first_sentences_chosen, sources_to_continue
from mlworkers.kinds.generation.shard_writers import ShardWriter, rows_read, writer_for
from mlworkers.pipelines.human_sentences import held_out_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.synthesis.estimates import estimate_of, longest_sources
from mlworkers.science.synthesis.first_sentences import orders_of, plan_of_first
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.postprocessing import postprocessed
from mlworkers.science.synthesis.rows import Source

ROWS = 10
COPIES = 2  # of each row on disk: in its shard while the run goes on, and in the file of all rows


def preview_generation(plan: GenerationPlan, job: Job) -> Outcome:
    """Write the first sample of the first sources, for every label: about ten rows.

    The draws of a row follow from the plan's seed, its source, label and sample, so a run of the same plan writes these
    rows too (an endpoint may answer otherwise).
    """
    dataset = job.dataset_of(plan.dataset)
    any_writer = writer_for(plan, job.report)
    any_writer.prepare()
    sources = _sources(plan, dataset, job, any_writer)
    shown = sources[: ceil(ROWS / len(plan.label_list))]
    part = replace(plan, samples=1, sampled=0, most_rows=0, shard_sources=len(shown))
    writer = any_writer.of(part, shown)
    path = job.folder / "rows.jsonl"
    writer.write(0, path, job.report)
    size = path.stat().st_size
    written, refused = rows_read([path])
    if not written:
        raise UserError(refused[0])
    rows = postprocessed(written, shown, part, held_out=held_out_of(dataset, plan.split)).rows
    usable = sum(row.dropped is None for row in rows)
    count = plan.sources if plan.writes_first_sentences else len(sources)
    total = count * len(plan.label_list) * plan.samples
    texts = {source.id: source.text for source in shown}
    result: dict[str, Any] = {
        "rows": [
            {
                "source": texts[row.source],
                "label": row.label,
                "text": row.text or row.raw.strip()[:200],
                "dropped": "" if row.dropped is None else str(row.dropped),
            }
            for row in rows
        ],
        "usable": usable,
        "written": len(written),
        "rows_of_the_run": total,
        "most_seconds": total * writer.seconds / writer.rows,
        "bytes": COPIES * size * total // (len(written) + len(refused)),
    }
    if plan.endpoint_model:
        estimate = estimate_of(
            longest_sources(plan) if plan.writes_first_sentences else [source.text for source in sources],
            plan,
        )
        result["endpoint"] = requests_in_words(estimate)
    words = {"usable": intcomma(usable), "written": intcomma(len(written)), "total": intcomma(total)}
    message = _("%(usable)s of %(written)s rows are usable; the run would write %(total)s")
    return Outcome(message % words, result)


def _sources(plan: GenerationPlan, dataset: Dataset, job: Job, any_writer: ShardWriter) -> list[Source]:
    """Those that the run would continue; where it writes them, the first of them."""
    if not plan.writes_first_sentences:
        return [Source(*source) for source in sources_to_continue(plan, dataset)["sources"]]
    orders = orders_of(plan)[: ceil(ROWS / len(plan.label_list))]
    writer = any_writer.of(replace(plan_of_first(plan), shard_sources=len(orders)), orders)
    path = job.folder / "first.jsonl"
    writer.write(0, path, job.report)
    chosen = first_sentences_chosen(plan, dataset, rows_read([path]))
    return [Source(*source) for source in chosen["sources"]]
