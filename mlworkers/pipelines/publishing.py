"""Scores that a run publishes when it ends (`jobs.Outcome.publish`)."""

from collections.abc import Callable
from typing import Any

from curation.datasets.services import score_set_publish
from curation.models import Dataset
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job


def scores_to_publish(job: Job, dataset: Dataset, *, name: str, **about: Any) -> Callable[[], dict[str, Any]]:
    """What publishes the run's scores as a score set of that name. about: as `score_set_publish` takes it."""

    def publish() -> dict[str, Any]:
        made = score_set_publish(dataset=dataset, name=name, run_ref=job.run_id, by=started_by(job), **about)
        return {"score_set": made.name}

    return publish
