"""Real processes on a PostgreSQL and a Redis that the tests start, kill and restart."""

from collections.abc import Iterator

import pytest

from tests.faults.disks import SmallDisk
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
def disk_of_files(tmp_path_factory) -> Iterator[SmallDisk]:
    """The one of the site's folder."""
    disk = SmallDisk(tmp_path_factory.mktemp("faults") / "home", 24)
    yield disk
    disk.remove()


@pytest.fixture(scope="session")
def disk_of_rows(cluster) -> Iterator[SmallDisk]:
    """The one of the tables of the site's database; the server's log has another."""
    disk = SmallDisk(cluster.folder / "tables", 1024, owner=cluster.user)
    yield disk
    disk.remove()


@pytest.fixture(scope="session")
def site_of_all(cluster, redis, disk_of_files, disk_of_rows) -> Iterator[Site]:
    """One site for all tests, because its programs take long to start. People and a campaign are there."""
    cluster.database_make("site", place=disk_of_rows.place)
    site = Site(disk_of_files.place, cluster, redis, database="site")
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
