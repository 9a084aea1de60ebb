"""Real processes on a PostgreSQL and a Redis that the tests start, kill and restart."""

from collections.abc import Iterator

import pytest

from tests.faults.servers import PostgreSQL, RedisServer
from tests.faults.site import Site


@pytest.fixture(scope="session")
def cluster() -> Iterator[PostgreSQL]:
    cluster = PostgreSQL()
    yield cluster
    cluster.remove()


@pytest.fixture(scope="session")
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def site_of_all(cluster, redis, tmp_path_factory) -> Iterator[Site]:
    """One site for all tests, because its programs take long to start. People and a campaign are there."""
    cluster.database_make("site")
    home = tmp_path_factory.mktemp("faults") / "home"
    home.mkdir()
    site = Site(home, cluster, redis, database="site")
    try:
        site.prepare()
        yield site
    finally:
        site.stop()


@pytest.fixture
def site(site_of_all) -> Site:
    """With all its programs, whatever the test before has killed."""
    site_of_all.start_what_is_missing()
    site_of_all.wait()
    return site_of_all
