"""Settings: what the environment says, what it leaves out, and what `.env.example` says about it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from semblance.health import redis_is_set

pytestmark = pytest.mark.own_site
ROOT = Path(__file__).resolve().parents[3]
PRAGMAS = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    for name in ("synchronous", "journal_mode"):
        cursor.execute(f"PRAGMA {name}")
        print(cursor.fetchone()[0])
print(connection.settings_dict["OPTIONS"]["transaction_mode"], connection.settings_dict["OPTIONS"]["timeout"])
"""


@pytest.fixture
def installed(tmp_path):
    """Runs Python with the settings of an installation that is new but for these variables."""
    services = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS"}
    clean = {name: value for name, value in os.environ.items() if name not in services}
    clean |= {"SEMBLANCE_HOME": str(tmp_path / "home"), "DJANGO_SETTINGS_MODULE": "semblance.settings"}

    def run(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=clean | variables,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_example_names_every_variable_that_settings_read() -> None:
    settings = (ROOT / "semblance" / "settings.py").read_text()
    read = set(re.findall(r'(?:env\.\w+|required|octal|site_path)\(\s*"(\w+)"', settings))

    example = (ROOT / ".env.example").read_text()
    named = set(re.findall(r"^(?:# )?([A-Z][A-Z_]+)=", example, re.MULTILINE))

    assert named == read


@pytest.mark.parametrize("by_address", [False, True])
def test_sqlite_keeps_what_was_saved_through_a_power_cut_however_it_is_named(
    installed, tmp_path, by_address
) -> None:
    address = {
        "DATABASE_URL": f"sqlite:///{tmp_path}/named.sqlite3",
        "SECRET_KEY": "tests-only",
        "ALLOWED_HOSTS": "localhost",
    }

    done = installed("-c", PRAGMAS, **(address if by_address else {}))

    assert done.stdout.split() == ["2", "wal", "IMMEDIATE", "20"], done.stderr  # 2 is FULL


def test_a_database_server_without_redis_is_explained(settings) -> None:
    settings.EMBEDDED, settings.REDIS_URL = False, ""

    warnings = redis_is_set()

    assert [warning.id for warning in warnings] == ["semblance.W001"]
    assert warnings[0].msg.endswith("Set REDIS_URL.")


@pytest.mark.parametrize(
    "complete", [{"EMBEDDED": True, "REDIS_URL": ""}, {"EMBEDDED": False, "REDIS_URL": "redis://redis"}]
)
def test_embedded_and_complete_installations_are_not_warned(settings, complete) -> None:
    for name, value in complete.items():
        setattr(settings, name, value)

    assert redis_is_set() == []


@pytest.mark.exhaustive
def test_the_check_of_an_installation_says_that_redis_is_missing(installed, tmp_path) -> None:
    done = installed(
        *("manage.py", "check"),
        DATABASE_URL=f"sqlite:///{tmp_path}/named.sqlite3",
        SECRET_KEY="tests-only",
        ALLOWED_HOSTS="localhost",
    )

    assert done.returncode == 0
    assert "semblance.W001" in done.stderr


def test_the_key_of_the_example_is_refused(installed, tmp_path) -> None:
    key = re.search(r"^SECRET_KEY=(.+)$", (ROOT / ".env.example").read_text(), re.MULTILINE)[1]

    done = installed(
        *("manage.py", "check"),
        DATABASE_URL=f"sqlite:///{tmp_path}/named.sqlite3",
        SECRET_KEY=key,
        ALLOWED_HOSTS="localhost",
    )

    assert done.returncode != 0
    assert "SECRET_KEY is the one of .env.example, which everybody knows." in done.stderr


def test_the_first_account_may_be_the_first_thing_that_is_made(installed) -> None:
    done = installed(
        *("manage.py", "createsuperuser", "--noinput", "--username", "ada", "--email", "ada@site.example"),
        DJANGO_SUPERUSER_PASSWORD="correct-horse-battery",
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "Superuser created successfully.\n", "")


@pytest.mark.exhaustive
def test_a_first_command_makes_the_tables_that_it_needs(installed, tmp_path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("sentence1,sentence2,score\nA dog runs.,The dog runs.,4\n")

    done = installed("manage.py", "import_pairs", pairs, "--dataset", "mine", "--create")
    exported = installed(
        "manage.py", "export_dataset", "mine", "--format", "csv", "--out", tmp_path / "out.csv"
    )

    assert (done.returncode, exported.returncode) == (0, 0), done.stderr + exported.stderr
    assert "mine: 1 rows: 1 added" in done.stdout


@pytest.mark.exhaustive
def test_a_command_asks_the_operator_of_another_database_to_migrate_it(installed, tmp_path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("sentence1,sentence2,score\nA dog runs.,The dog runs.,4\n")

    done = installed(
        *("manage.py", "import_pairs", pairs, "--dataset", "mine", "--create"),
        DATABASE_URL=f"sqlite:///{tmp_path}/named.sqlite3",
        SECRET_KEY="tests-only",
        ALLOWED_HOSTS="localhost",
    )

    assert done.returncode == 2
    assert done.stderr.endswith("migrations. Run `semblance migrate`.\n")
    assert done.stderr.count("\n") == 1


COOKIES = """
import django; django.setup()
from django.conf import settings
from semblance.notices import NoticesInCookie
names = [settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.LANGUAGE_COOKIE_NAME]
print(*names, NoticesInCookie.cookie_name, settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS)
"""


@pytest.mark.parametrize(
    ("given", "prefix", "hsts"),
    [
        ({"HTTPS": "false"}, "", "0 False"),
        ({"HTTPS": "true"}, "__Host-", "31536000 False"),
        ({"HTTPS": "true", "SITE_PATH": "/tools/"}, "__Secure-", "31536000 False"),
        ({"HTTPS": "true", "HSTS_SECONDS": "60", "HSTS_SUBDOMAINS": "true"}, "__Host-", "60 True"),
    ],
)
def test_over_https_cookies_have_names_that_browsers_guard_and_browsers_remember_it_for_a_year(
    installed, given, prefix: str, hsts: str
) -> None:
    done = installed("-c", COOKIES, **given)

    names = [f"{prefix}{name}" for name in ("sessionid", "csrftoken", "django_language", "messages")]
    assert done.stdout.split() == [*names, *hsts.split()], done.stderr


MOUNTED = """
import django; django.setup()
from django.conf import settings
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
cookies = {settings.SESSION_COOKIE_PATH, settings.CSRF_COOKIE_PATH, settings.LANGUAGE_COOKIE_PATH}
servers = [server["url"] for server in SchemaGenerator().get_schema(public=True).get("servers", [])]
print(reverse("login"), settings.STATIC_URL, *cookies, *servers)
"""


@pytest.mark.exhaustive
def test_a_site_path_is_before_links_files_cookies_and_the_addresses_of_the_api(installed) -> None:
    done = installed("-c", MOUNTED, SITE_PATH="/tools/b-1.0")

    path = "/tools/b-1.0/"
    assert done.stdout.split() == [f"{path}accounts/login/", f"{path}static/", path, path.rstrip("/")], (
        done.stderr
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("given", [{}, {"SITE_PATH": ""}, {"SITE_PATH": "/"}])
def test_without_a_site_path_the_site_is_the_whole_host(installed, given) -> None:
    done = installed("-c", MOUNTED, **given)

    assert done.stdout.split() == ["/accounts/login/", "/static/", "/"], done.stderr


@pytest.mark.parametrize("given", ["//evil.example", "/a/../b/", "/a;Domain=x/"])
def test_a_site_path_that_is_none_stops_the_start(installed, given) -> None:
    done = installed("manage.py", "check", SITE_PATH=given)

    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: SITE_PATH is {given}; give a path such as")


def test_a_format_of_the_log_that_there_is_not_stops_the_start(installed) -> None:
    done = installed("manage.py", "check", LOG_FORMAT="xml")

    assert done.returncode == 2
    assert done.stderr.startswith("Error: LOG_FORMAT is xml; give line or json.")
