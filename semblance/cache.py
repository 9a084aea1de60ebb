"""The cache in Redis, without which the site goes on: a Redis that cannot be reached is a cache that holds nothing.

What must not be lost or counted wrongly belongs into the database. While Redis is away, `add` stores nothing and
says so, and `incr` finds no key; nothing in this project counts or locks in the cache.
"""

import logging
import re
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

# A Redis that hangs costs its time-out once in so many seconds for each process, not in every request.
SECONDS_UNTIL_ASKED_AGAIN = 5.0

logger = logging.getLogger(__name__)


class Reachability:
    """Whether Redis answered lately, of all threads of this process. One line is logged when that changes."""

    def __init__(self) -> None:
        self._away = False
        self._ask_again_at = 0.0

    def ask(self, question: Callable[[], Any], otherwise: Any) -> Any:
        if self._away and time.monotonic() < self._ask_again_at:
            return otherwise
        try:
            answer = question()
        except RedisError as error:
            self._ask_again_at = time.monotonic() + SECONDS_UNTIL_ASKED_AGAIN
            if not self._away:
                self._away = True
                logger.warning("The cache is not in use, because Redis does not answer: %s", error)
            return otherwise
        if self._away:
            self._away = False
            logger.warning("Redis answers again; the cache is in use.")
        return answer


redis = Reachability()


class Client(RedisCacheClient):
    """Django's, where a question that Redis does not answer is answered as an empty cache would."""

    def get(self, key: Any, default: Any) -> Any:
        return redis.ask(lambda: super(Client, self).get(key, default), otherwise=default)

    def incr(self, key: Any, delta: int) -> Any:
        number = redis.ask(lambda: super(Client, self).incr(key, delta), otherwise=None)
        if number is None:
            raise ValueError(f"Key {key!r} not found.")  # as Django says it of a key that is not there
        return number

    def forget(self, pattern: str) -> bool:
        """Delete the keys that match, in time that grows with all keys of the database. False where Redis is away."""
        client = self.get_client(None, write=True)

        def forgotten() -> bool:
            for key in client.scan_iter(match=pattern, count=1000):
                client.unlink(key)
            return True

        return bool(redis.ask(forgotten, otherwise=False))


def _forgiving(name: str, otherwise: Any) -> Callable[..., Any]:
    def method(self: Client, *args: Any) -> Any:
        return redis.ask(lambda: getattr(super(Client, self), name)(*args), otherwise)

    return method


EMPTY: dict[str, Any] = {"get_many": {}, "set": None, "set_many": None, "delete_many": None}
for _name, _otherwise in (EMPTY | dict.fromkeys(("add", "touch", "delete", "has_key"), False)).items():
    setattr(Client, _name, _forgiving(_name, _otherwise))


class ForgivingRedis(RedisCache):
    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = Client

    def clear(self) -> bool:  # type: ignore[override]  # Django's has an answer too, which its stubs do not know
        """Forget what this site keeps. Django's would empty the database, where Celery's queues and other sites are."""
        mine = re.sub(r"([][*?\\])", r"\\\1", self.key_prefix)
        client: Any = self._cache
        return bool(client.forget(f"{mine}:*"))
