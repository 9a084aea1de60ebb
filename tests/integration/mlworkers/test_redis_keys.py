"""Two installations may share one Redis: each one's keys begin with a prefix of its own."""

import pytest
from django.conf import settings
from django.core.cache import cache
from redis import Redis

from mlworkers.tasks import execute

pytestmark = pytest.mark.redis


def test_messages_and_cached_answers_lie_under_the_prefix_of_the_installation(queue) -> None:
    execute.apply_async([7])
    cache.set("answer", 42)

    keys = {key.decode() for key in Redis.from_url(settings.REDIS_URL).keys(f"*{settings.REDIS_PREFIX}*")}

    assert f"{settings.REDIS_PREFIX}:default" in keys
    assert all(key.startswith(settings.REDIS_PREFIX) for key in keys)
    assert queue.read() == [7]
