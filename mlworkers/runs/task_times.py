"""How many tasks this process has carried out, and for how long: a worker writes it with its heartbeat."""

import threading
from bisect import bisect_left
from collections.abc import Callable
from time import monotonic
from typing import Any

LIMITS = (0.1, 1.0, 10.0, 60.0, 600.0, 3600.0)  # seconds: the upper ends of all buckets but the last


class TaskTimes:
    """By the name of the task: how often it ended within each of LIMITS and later, and the seconds of all together.

    A task counts with its end, whatever it ended with. Threads of a pool share this.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began: dict[str, float] = {}
        self._told: dict[str, dict[str, Any]] = {}

    def begin(self, task_id: str) -> None:
        with self._lock:
            self._began[task_id] = self._clock()

    def end(self, task_id: str, name: str) -> None:
        with self._lock:
            began = self._began.pop(task_id, None)
            if began is None:
                return
            seconds = self._clock() - began
            told = self._told.setdefault(name, {"buckets": [0] * (len(LIMITS) + 1), "seconds": 0.0})
            told["buckets"][bisect_left(LIMITS, seconds)] += 1
            told["seconds"] += seconds

    def of_all(self) -> dict[str, dict[str, Any]]:
        """A copy, as JSON may hold it."""
        with self._lock:
            return {name: {**told, "buckets": list(told["buckets"])} for name, told in self._told.items()}
