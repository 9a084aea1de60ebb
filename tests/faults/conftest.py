"""Faults are made on a site of its own, on PostgreSQL and a Redis that the test starts.

The short form is part of CI. `make faults` runs the long one, by the variables FAULTS_JUDGEMENTS, FAULTS_ANNOTATORS,
FAULTS_KILLS, FAULTS_SEED and FAULTS_THINK.
"""

import shutil
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.faults.site import Site
from tests.integration.mlworkers.installation import database_of_its_own


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    if shutil.which("redis-server") is None:
        pytest.skip("there is no redis-server to start")
    with database_of_its_own(f"faults_{uuid4().hex[:8]}") as url:
        site = Site(tmp_path, url)
        try:
            for name in ("redis", "web", "worker", "beat"):
                site.start(name)
            site.wait_until_it_answers()
            yield site
        finally:
            site.stop()
