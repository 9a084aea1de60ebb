"""An import of many rows, begun by a program of the owner's."""

import time
from typing import Any

from tests.faults.servers import PATIENCE
from tests.faults.site import Site

RUN = "SELECT state, attempt, lost, message, done FROM mlworkers_run WHERE id = {}"
IMPORTED = """
SELECT count(*), count(DISTINCT external_id) FROM curation_pair pair
JOIN curation_dataset dataset ON dataset.id = pair.dataset_id WHERE dataset.slug = '{}'
"""


def imported(site: Site, slug: str) -> tuple[int, int]:
    """How many pairs the dataset has, and how many different ones."""
    pairs, different = site.row(IMPORTED.format(slug))
    return pairs, different


def dataset_with_upload(site: Site, slug: str, *, rows: int, words: int = 1) -> int:
    """The number of an upload of so many pairs into a new dataset, which was checked. words: longer sentences."""
    lines = [f"A dog runs past{' house' * words} {n}.,A cat sleeps on roof {n}.,{n % 6}" for n in range(rows)]
    data = "\n".join(["sentence1,sentence2,score", *lines]).encode()
    status, answer = site.ask("datasets/", {"slug": slug, "name": slug})
    assert status == 201, answer
    status, batch = site.ask(f"datasets/{slug}/imports/?filename=pairs.csv", data=data)
    assert status == 201, batch
    status, answer = site.ask(f"datasets/{slug}/imports/{batch['id']}/check/", {"low": 0, "high": 5})
    assert status == 200, answer
    if not answer["checked"]:  # a large file is checked by a run
        check = site.run_start(answer["as_run"]["kind"], **answer["as_run"]["plan"])
        assert ended(site, check)[0] == "succeeded"
    number: int = batch["id"]
    return number


def import_begun(site: Site, slug: str, *, rows: int, words: int = 1) -> int:
    """The number of a run that has written some of so many pairs of a new dataset."""
    batch = dataset_with_upload(site, slug, rows=rows, words=words)
    run = site.run_start("import_pairs", dataset=slug, batch=batch)
    site.eventually(
        f"{RUN.format(run)} AND state IN ('queued', 'running')",
        lambda found: not found or imported(site, slug)[0] > 0,
    )
    return run


def ended(site: Site, run: int) -> tuple[Any, ...]:
    """The run's state at its end, how often it was begun and its worker was lost, and its sentence.

    As long as it gets on, nobody loses patience.
    """
    query, seen, until = RUN.format(run), None, 0.0
    while True:
        row = site.row(query)
        if row[0] not in {"queued", "running"}:
            return row[:4]
        if row != seen:
            seen, until = row, time.monotonic() + PATIENCE
        assert time.monotonic() < until, (row, site.run_log(run), site.worker_log())
        time.sleep(0.1)
