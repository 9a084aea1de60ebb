"""Celery's filesystem transport, with messages that are there whole or not at all.

kombu opens a message under its final name and then writes it. A worker that looks in between, or after the
disk was full, reads half a message, and ends. Here a message is written beside and renamed into place.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
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
