"""While Redis is away, people go on: sessions are in the database, and the cache is one that holds nothing."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache, caches
from redis.exceptions import ConnectionError as RedisAway

from semblance import cache as forgiving
from semblance.cache import Reachability

ROOT = Path(__file__).resolve().parents[3]
VISIT = """
import django; django.setup()
from django.core.management import call_command
from django.test import Client
from curation.models import User
call_command("migrate", verbosity=0)
client = Client(headers={"host": "localhost"})
client.force_login(User.objects.create(username="owner", is_staff=True))
print([client.get(address).status_code for address in ("/datasets/", "/accounts/tokens/", "/runs/")])
"""


@pytest.mark.exhaustive
@pytest.mark.own_site
def test_a_person_who_is_logged_in_reads_pages_while_redis_is_away(tmp_path) -> None:
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path}/site.sqlite3",
        "REDIS_URL": "redis://127.0.0.1:1/0",  # nothing listens there
        "SECRET_KEY": "tests-only",
        "ALLOWED_HOSTS": "localhost",
        "HTTPS": "false",
        "SEMBLANCE_HOME": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "semblance.settings",
    }

    visit = subprocess.run(
        [sys.executable, "-c", VISIT], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert visit.stdout.strip() == "[200, 200, 200]", visit.stderr


@pytest.fixture
def silent_redis() -> Iterator[int]:
    """The port of something that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(params=["closed", "silent"])
def cache_away(request, settings, monkeypatch, silent_redis) -> None:
    port = 1 if request.param == "closed" else silent_redis
    monkeypatch.setattr(forgiving, "redis", Reachability())
    settings.CACHES = {
        "default": {
            "BACKEND": "semblance.cache.ForgivingRedis",
            "LOCATION": f"redis://127.0.0.1:{port}/0",
            "OPTIONS": {"socket_connect_timeout": 0.2, "socket_timeout": 0.2},
        }
    }


def test_a_cache_that_cannot_be_reached_is_an_empty_one_and_is_asked_once(cache_away, caplog) -> None:
    started = time.monotonic()

    cache.set("figures", 1)
    cache.set_many({"figures": 1})
    cache.delete("figures")
    answers = [
        cache.get("figures"),
        cache.get("figures", "nothing"),
        cache.get_many(["figures"]),
        cache.has_key("figures"),
        cache.add("figures", 1),
        cache.touch("figures"),
        cache.clear(),
    ]

    assert answers == [None, "nothing", {}, False, False, False, False]
    with pytest.raises(ValueError, match="not found"):
        cache.incr("figures")
    assert time.monotonic() - started < 1.5
    assert len(caplog.records) == 1
    assert "The cache is not in use" in caplog.text


def test_redis_that_is_back_is_used_again_and_said_so_once(monkeypatch, caplog) -> None:
    monkeypatch.setattr(forgiving, "SECONDS_UNTIL_ASKED_AGAIN", 0.0)
    caplog.set_level(logging.WARNING)
    redis = Reachability()

    def away() -> str:
        raise RedisAway("connection refused")

    answers = [
        redis.ask(question, otherwise="nothing") for question in (away, away, lambda: "kept", lambda: "kept")
    ]

    assert answers == ["nothing", "nothing", "kept", "kept"]
    assert len(caplog.records) == 2
    assert "Redis answers again" in caplog.text


@pytest.mark.redis
def test_clearing_the_cache_leaves_what_others_keep_in_redis(settings) -> None:
    """Celery's queues, and other sites whose prefix begins alike, lie in the same database."""
    own = {**settings.CACHES["default"], "KEY_PREFIX": f"{settings.REDIS_PREFIX}-[a]*"}
    settings.CACHES = {"default": own, "other": {**own, "KEY_PREFIX": f"{settings.REDIS_PREFIX}-ab"}}
    caches["other"].set("figures", 1)
    cache.set("figures", 1)

    assert cache.clear()

    assert cache.get("figures") is None
    assert caches["other"].get("figures") == 1
