"""The moments of a run in its worker, and a death by kill -9 at one of them.

What a killed process leaves behind changes only when it changes a file or the database. A moment is just before such a
change, or a report between two of them. They are counted in the thread that does the work, so that a run of the same
plan has the same moments again, however busy the machine is.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.chmod"}
WORK, END = "work", "end"  # the end: what `run_finish` writes


class Moments:
    """Counts the moments of the run that this process carries out. die_at: "work 12" or "end 3"; empty: never."""

    def __init__(self, die_at: str) -> None:
        part, _space, number = die_at.partition(" ")
        self._die_at = (part, int(number or 0))
        self._counts: dict[str, int] = {}
        self._part = ""

    def passed(self) -> None:
        if not self._part or threading.current_thread() is not threading.main_thread():
            return
        self._counts[self._part] += 1
        if (self._part, self._counts[self._part]) == self._die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def of_the_work(self, carry_out: Callable[..., None], home: Path) -> Callable[..., None]:
        def counted(claim: Any, pipeline_of: Any) -> None:
            self._counts = {WORK: 0, END: 0}
            self._part = WORK
            try:
                carry_out(claim, pipeline_of)
            finally:
                self._part = ""
                moments_path(home, claim.run_id).parent.mkdir(exist_ok=True)
                moments_path(home, claim.run_id).write_text(json.dumps(self._counts))

        return counted

    def of_the_end(self, finish: Callable[..., None]) -> Callable[..., None]:
        """The last moment is the one after it, when the run has succeeded."""

        def counted(**outcome: Any) -> None:
            self._part = END
            finish(**outcome)
            self.passed()
            self._part = WORK

        return counted


def moments_path(home: Path, run: int) -> Path:
    return home / "moments" / f"{run}.json"


def watch(die_at: str) -> None:
    """Count the moments of every run of this worker process."""
    from django.conf import settings
    from django.db.backends.signals import connection_created

    from mlworkers import tasks
    from mlworkers.runs import attempts, reporting

    moments, home = Moments(die_at), settings.SEMBLANCE_HOME

    def on_disk(event: str, about: tuple[Any, ...]) -> None:
        writes = event in CHANGES or (event == "open" and isinstance(about[2], int) and about[2] & WRITING)
        if writes and str(about[0]).startswith(str(home)) and f"{home}/broker" not in str(about[0]):
            moments.passed()

    def in_database(execute: Any, sql: str, *about: Any) -> Any:
        if not sql.startswith("SELECT"):
            moments.passed()
        return execute(sql, *about)

    def reported(report: Any) -> Any:
        def wrapped(*about: Any) -> None:
            moments.passed()
            report(*about)

        return wrapped

    def connected(connection: Any, **about: Any) -> None:
        connection.execute_wrappers[:] = [in_database]  # also of one that was closed and opened again

    connection_created.connect(connected, weak=False)
    reporting.Reporter.__call__ = reported(reporting.Reporter.__call__)  # type: ignore[method-assign]
    tasks.run_carry_out = moments.of_the_work(tasks.run_carry_out, home)  # type: ignore[assignment]
    attempts.run_finish = moments.of_the_end(attempts.run_finish)  # type: ignore[assignment]
    sys.addaudithook(on_disk)
