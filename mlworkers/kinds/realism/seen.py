"""The sentences of the human scores that the classifiers of p_y learned from."""

from curation.foundation.errors import UserError
from curation.models import Snapshot
from mlworkers.models import Run
from mlworkers.pipelines.seen import seen_texts
from mlworkers.pipelines.snapshots import table_of
from mlworkers.science.encoders.rows import RowsError, training_rows
from mlworkers.science.encoders.seen import NOTHING_KNOWN, Seen


def consistency_scored(run: Run) -> Seen:
    """Unknown where the snapshot of the human scores is gone."""
    plan, result = run.plan, run.result
    if not plan.get("human_scores"):
        return NOTHING_KNOWN
    slug = plan.get("human_dataset") or plan.get("dataset", "")
    number = result.get("human_snapshot", result.get("snapshot"))
    snapshot = Snapshot.objects.filter(dataset__slug=slug, number=number).first()
    if snapshot is None:
        return seen_texts(run, None)
    split = str(plan.get("human_split", ""))
    try:
        table = table_of(snapshot)
        rows = table.rows(str(plan["human_scores"]), split=split or None)
        return seen_texts(run, training_rows(rows, held_out=table.held_out(split)).rows.sentences)
    except (UserError, RowsError):
        return seen_texts(run, None)
