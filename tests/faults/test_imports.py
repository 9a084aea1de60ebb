"""A large import goes on by itself, whatever its worker, the database or Redis go through."""

import random
import time

import pytest

pytestmark = [pytest.mark.postgres, pytest.mark.redis]

ROWS = 40_000
UPLOAD = """
import json
from django.conf import settings
from django.core.files import File
from curation.exchange.importing import ImportOptions
from curation.datasets.services import dataset_create
from curation.exchange.uploads import import_check, import_upload
from mlworkers.runs.services import run_start
with (settings.SEMBLANCE_HOME / "pairs.tsv").open("rb") as file:
    dataset = dataset_create(slug="large", name="Large")
    batch = import_upload(dataset=dataset, files=[File(file, "pairs.tsv")], by=None)
import_check(batch=batch, options=ImportOptions(scale=(0, 5)))
print(json.dumps(run_start(kind="import_pairs", plan={"dataset": "large", "batch": batch.pk}, by=None).pk))
"""
RUN = "SELECT state, done, attempt FROM mlworkers_run WHERE id = {}"


def begun(site) -> int:
    """An import that is in its middle."""
    lines = [f"A dog runs past house {n}.\tA cat sleeps on roof {n}.\t{n % 6}" for n in range(ROWS)]
    (site.home / "pairs.tsv").write_text("\n".join(["sentence1\tsentence2\tscore", *lines]))
    run = site.python(UPLOAD)
    site.eventually(RUN.format(run), lambda rows: rows[0][0] == "running" and rows[0][1] > 0)
    return run


@pytest.mark.parametrize("fault", ["connections_ended", "redis_emptied", "worker_killed"])
def test_an_import_that_is_interrupted_ends_with_every_row_once(site, fault: str) -> None:
    run, rng = begun(site), random.Random(7)

    for _time in range(2):
        getattr(site, fault)(rng)
        time.sleep(0.5)
    ended = site.eventually(RUN.format(run), lambda rows: rows[0][0] not in {"queued", "running"})

    assert ended[0][0] == "succeeded", site.log("worker")
    assert site.row("SELECT count(*), count(DISTINCT external_id) FROM curation_pair") == (ROWS, ROWS)
    assert site.row("SELECT count(*), sum(value) FROM curation_pairscore") == (
        ROWS,
        sum(n % 6 for n in range(ROWS)),
    )


def test_a_run_that_was_queued_when_redis_lost_everything_is_carried_out(site) -> None:
    site.kill("worker")
    site.python(
        "from curation.datasets.services import dataset_create\n"
        "dataset_create(slug='small', name='Small')\n"
        "from mlworkers.runs.services import run_start\n"
        "run_start(kind='export_dataset', plan={'dataset': 'small'}, by=None)\nprint(1)"
    )
    site.redis_emptied(random.Random(7))
    site.start("worker")

    states = site.eventually(
        "SELECT state FROM mlworkers_run", lambda rows: rows[0][0] not in {"queued", "running"}
    )

    assert states[0][0] in {
        "succeeded",
        "failed",
    }  # an export of no pairs says so: what matters is that it was tried
