"""Two installations may share one Redis: each one's keys begin with a prefix of its own."""

from uuid import uuid4

import pytest
from django.conf import settings
from django.core.cache import cache
from redis import Redis

from mlworkers.tasks import execute

pytestmark = pytest.mark.redis


def test_messages_and_cached_answers_lie_under_the_prefix_of_the_installation() -> None:
    queue = f"of-this-test-{uuid4().hex}"  # which nobody reads
    execute.apply_async([7], queue=queue)
    cache.set("answer", 42)

    redis = Redis.from_url(settings.REDIS_URL)
    keys = {key.decode() for key in redis.keys(f"*{settings.REDIS_PREFIX}*")}
    elsewhere = {key.decode() for key in redis.keys(f"*{queue}*")}

    assert f"{settings.REDIS_PREFIX}:{queue}" in keys
    assert redis.llen(f"{settings.REDIS_PREFIX}:{queue}") == 1
    assert all(key.startswith(settings.REDIS_PREFIX) for key in keys | elsewhere)
