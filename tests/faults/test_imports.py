"""The database goes away while many rows are imported: the import ends by itself, each pair once."""

import time

import pytest

from tests.faults.imports import ended, import_begun, imported
from tests.faults.site import Site

pytestmark = [pytest.mark.postgres_server, pytest.mark.redis_server]
ROWS = 30_000
COUNTED = """
SELECT rows, rejected FROM curation_importbatch batch
JOIN curation_dataset dataset ON dataset.id = batch.dataset_id WHERE dataset.slug = '{}'
"""


def restarted(site: Site) -> None:
    site.cluster.crash()
    time.sleep(1)
    site.cluster.start()


def disconnected(site: Site) -> None:
    """The server is back at once: whoever asks again is answered."""
    site.cluster.drop_connections(site.database)


@pytest.mark.parametrize("fault", [restarted, disconnected], ids=lambda fault: fault.__name__)
def test_an_import_ends_by_itself_though_the_database_went_away(site: Site, fault) -> None:
    slug = fault.__name__
    run = import_begun(site, slug, rows=ROWS)

    written, _different = imported(site, slug)
    fault(site)  # which may undo the last parts: nobody waits for the disk while they are written
    state, attempt, lost, message = ended(site, run)

    assert 0 < written < ROWS, "the import was over before the database went away"
    assert (state, attempt, lost) == ("succeeded", 2, 1), message
    assert imported(site, slug) == (ROWS, ROWS)
    assert site.row(COUNTED.format(slug)) == (ROWS, 0)
