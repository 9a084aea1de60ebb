"""Celery's filesystem transport, with messages that are there whole or not at all; and which queue a worker of several
reads first, with it and with Redis.

kombu opens a message under its final name and then writes it. A worker that looks in between, or after the
disk was full, reads half a message, and ends. Here a message is written beside and renamed into place.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps
from kombu.utils.scheduling import FairCycle, priority_cycle

# What somebody looks at the screen for; what people wait for; what takes long.
IN_ORDER = ("playground", "default", "gpu")


def in_order(queues: Iterable[str]) -> list[str]:
    """The queues as a worker reads them: from the next one only where those before are empty. Others come last."""
    return sorted(
        queues, key=lambda queue: (IN_ORDER.index(queue) if queue in IN_ORDER else len(IN_ORDER), queue)
    )


class RedisOrder(priority_cycle):  # type: ignore[type-arg]
    """For `queue_order_strategy`: kombu's own keep the order of a set, which is none, or the alphabet's."""

    def consume(self, n: int) -> Any:
        return in_order(self.items or [])[:n]


class FileOrder(FairCycle):
    """Begins with the first queue each time, instead of the one after that which was read last."""

    def get(self, callback: Any, **how: Any) -> Any:
        self.pos = 0
        return super().get(callback, **how)


class Channel(filesystem.Channel):
    def _reset_cycle(self) -> None:
        self._cycle = FileOrder(self._get_and_deliver, in_order(self._active_queues), Empty)

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # Workers read `<anything without a dot>.<queue>.msg`, in the order of the names.
        path = Path(self.data_folder_out) / f"{time.time_ns():020d}_{uuid4()}.{queue}.msg"
        beside = path.with_name(f".{path.name}.part")
        try:
            beside.write_text(dumps(payload), encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            raise ChannelError(f"Cannot write {path}: {error}") from error
        finally:
            with suppress(OSError):  # that the folder cannot be used, the error has said
                beside.unlink()


class Transport(filesystem.Transport):
    Channel = Channel
