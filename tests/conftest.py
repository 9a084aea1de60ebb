"""Fixtures that every kind of test shares. People have roles: owner, curator, annotator, stranger."""

import gc
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import hypothesis
import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.db import IntegrityError, connection, transaction
from django.test import TransactionTestCase
from pytest_django.plugin import DjangoDbBlocker
from redis import Redis

from annotation.campaigns import watching
from curation.foundation import heartbeats
from semblance.backups.rows import MADE_BY_MIGRATING, label_of, rows_remove
from tests import services_needed, template_databases
from tests.factories import DatasetFactory, MembershipFactory, UserFactory

# A busy machine makes an example slow, not wrong. Fewer examples than by default: every run draws others, but for
# those of `.ci/run`, whose failures are those of the change (`--hypothesis-profile fixed`).
hypothesis.settings.register_profile("semblance", deadline=None, max_examples=40)
hypothesis.settings.register_profile("fixed", deadline=None, max_examples=40, derandomize=True)
hypothesis.settings.load_profile("semblance")

LOCAL_CACHE = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    services_needed.pytest_terminal_summary(terminalreporter)
    for report in terminalreporter.stats.get("rerun", []):
        crash = getattr(report.longrepr, "reprcrash", None)
        why = " ".join(str(crash or report.longrepr).split())[:1000]
        terminalreporter.write_line(f"Failed once and was tried again: {report.nodeid}: {why}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is slow to prepare come first: who has nothing left to do takes tests from the end."""
    services_needed.pytest_collection_modifyitems(items)
    for item in items:
        # Chromium on a busy machine has a second attempt, which the summary tells.
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    slow = {"nursery", "undisturbed"}
    items.sort(key=lambda item: slow.isdisjoint(getattr(item, "fixturenames", ())))


def pytest_collection_finish() -> None:
    """What collecting loaded stays to the end: runs, which look for garbage when they end, need not look through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def loaded_things_stay() -> Iterator[None]:
    """So does what the tests of a module loaded, such as a library."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Path:
    """A folder of all processes of this test run."""
    return template_databases.shared_folder(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def tables(shared) -> str:
    """What every database of this test run is a copy of."""
    return template_databases.tables_template(shared)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment, django_db_modify_db_settings, django_db_blocker, tables, tmp_path_factory
) -> Iterator[None]:
    """Django's own way would carry out every migration in every process.

    On SQLite the test database is a file, as an installation's is. In memory, the threads of a live server would share
    one cache, whose locks fail at once instead of waiting. It need not survive a power cut, so nothing waits for the
    disk.
    """
    own = connection.settings_dict
    before = own["NAME"]
    with ExitStack() as stack:
        if connection.vendor == "sqlite":
            own["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"
            own["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")
            template_databases.file_copied(tables, own["NAME"])
        else:
            # With the number of the process of pytest-xdist, or the name of the job.
            name = connection.creation._get_test_db_name() + os.environ.get("SEMBLANCE_TESTS_NAME", "")
            stack.enter_context(template_databases.database_of_its_own(name, template=tables))
            own["NAME"] = name
        yield
        with django_db_blocker.unblock():
            connection.close()
        own["NAME"] = before


def committed_rows_remove() -> None:
    """Empty those tables in which a test left rows.

    Django's `flush` truncates a hundred tables, which on PostgreSQL makes and removes hundreds of files, and then
    writes again what `migrate` wrote at its end; that stays here.
    """
    tables = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and label_of(model) not in MADE_BY_MIGRATING
    ]
    asked = (
        f"SELECT {place} WHERE EXISTS (SELECT 1 FROM {connection.ops.quote_name(model._meta.db_table)})"  # noqa: S608
        for place, model in enumerate(tables)
    )
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(asked))
            written = [tables[place] for (place,) in cursor.fetchall()]
        rows_remove(written, connection.alias)


def committed_rows_end(_case: TransactionTestCase) -> None:
    try:
        committed_rows_remove()
    except IntegrityError:  # a thread that was ending has committed a row that names one which went
        committed_rows_remove()


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> None:
    TransactionTestCase._fixture_teardown = committed_rows_end


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The process that began last to end: those of xdist have ended when it is asked. `.ci/jobs` does it by itself."""
    if not {"PYTEST_XDIST_WORKER", "SEMBLANCE_TESTS_SHARED"} & set(os.environ) and (
        factory := getattr(session.config, "_tmp_path_factory", None)
    ):
        template_databases.databases_drop(factory.getbasetemp())


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """A slow hash is what keeps passwords safe, and what no test needs."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session", autouse=True)
def static_files_when_asked_for() -> None:
    """A server lists its static files once, when it starts, and each client of a test would list them again."""
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk() -> None:
    """Nobody cuts the power of a test."""
    os.fsync = lambda _file: None


@pytest.fixture(scope="session", autouse=True)
def patient_requests() -> None:
    """On a busy machine the design of a few pairs takes a second, and a request would leave it to a worker."""
    watching.SECONDS_AT_ONCE = 60.0


@pytest.fixture(autouse=True)
def home(tmp_path_factory, settings) -> Path:
    """An installation's folder of the test's own."""
    settings.SEMBLANCE_HOME = tmp_path_factory.mktemp("home")
    settings.MODEL_ROOTS = [settings.SEMBLANCE_HOME]
    return settings.SEMBLANCE_HOME


class SilentPulse(heartbeats.Pulse):
    def _go_on(self) -> None:
        self._ended.wait()


@pytest.fixture(autouse=True)
def no_heartbeat_from_outside(request, monkeypatch) -> None:
    """A heartbeat has a connection of its own, which sees nothing of a test that is rolled back."""
    marker = request.node.get_closest_marker("django_db")
    own_rows = (marker and marker.kwargs.get("transaction")) or "transactional_db" in request.fixturenames
    if not own_rows:
        monkeypatch.setattr(heartbeats, "Pulse", SilentPulse)


@pytest.fixture(autouse=True)
def own_cache(settings) -> None:
    """A cache of the test's own.

    One Redis serves every process of a test run, whose databases number their rows alike: what one test kept of its
    campaign 7 must not answer for another's. A cache in memory begins empty: once it is full it drops entries of this
    test for those of others.
    """
    prefix = f"{settings.REDIS_PREFIX}-{uuid4().hex}"
    cache = settings.CACHES.get("default", LOCAL_CACHE)
    settings.CACHES = {"default": {**cache, "KEY_PREFIX": prefix}}
    if cache["BACKEND"] == LOCAL_CACHE["BACKEND"]:
        caches["default"].clear()


@pytest.fixture(scope="session", autouse=True)
def clean_redis() -> Iterator[None]:
    """What this process and its installations left in Redis goes with them."""
    yield
    if settings.REDIS_URL:
        redis = Redis.from_url(settings.REDIS_URL)
        for key in redis.scan_iter(f"{settings.REDIS_PREFIX}*", count=1000):
            redis.delete(key)


@pytest.fixture(scope="session")
def real_data() -> Path:
    return Path(os.environ["SEMBLANCE_REAL_DATA"]).resolve()


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A real disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("nothing may be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def rolled_back(blocker: DjangoDbBlocker) -> Iterator[None]:
    """For a fixture of a whole module: its rows are there for every test, each of which is undone before the next."""
    with blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def dataset(db):
    return DatasetFactory()


def member(dataset, role: str):
    return MembershipFactory(dataset=dataset, role=role, user__username=role).user


@pytest.fixture
def owner(dataset):
    return member(dataset, "owner")


@pytest.fixture
def curator(dataset):
    return member(dataset, "curator")


@pytest.fixture
def annotator(dataset):
    return member(dataset, "annotator")


@pytest.fixture
def stranger(db):
    return UserFactory(username="stranger")


@pytest.fixture
def staff(db):
    return UserFactory(username="staff", is_staff=True)


@pytest.fixture
def admin(db):
    return UserFactory(username="admin", is_staff=True, is_superuser=True)
