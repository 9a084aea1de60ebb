"""What a process does again and again beside its work, in a thread with a database connection of its own."""

import logging
import threading
from collections.abc import Callable

from django.db import DatabaseError, InterfaceError, connection

logger = logging.getLogger(__name__)


class Pulse:
    """Calls `does` every so many seconds, until it is ended. A database that does not answer costs one call."""

    def __init__(self, name: str, does: Callable[[], object], *, every: float, at_once: bool = False) -> None:
        self._does = does
        self._every = every
        self._at_once = at_once
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Begin no further call."""
        self._ended.set()

    def end(self) -> None:
        """Wait for the call that goes on, and begin no further one."""
        self.stop()
        self._thread.join()

    def _go_on(self) -> None:
        try:
            if self._at_once:
                self._call()
            while not self._ended.wait(self._every):
                self._call()
        finally:
            connection.close()

    def _call(self) -> None:
        try:
            self._does()
        except (DatabaseError, InterfaceError) as error:
            # The next call tries again with a new connection.
            logger.warning("The %s could not use the database: %s", self._thread.name, error)
            connection.close()
