"""`semblance workers`: which workers there are and what they do, and draining them before they are stopped."""

import time
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from curation.foundation.command import Command as BaseCommand
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now
from mlworkers.models import WorkerHeartbeat
from mlworkers.runs.draining import worker_drain, worker_undrain
from mlworkers.runs.presence import worker_command
from mlworkers.runs.selectors import live_workers
from semblance.workers.listing import WorkerRow, WorkerState, worker_rows, workers_named

SECONDS_BETWEEN_LOOKS = 1.0


class Command(BaseCommand):
    help = (
        "List the workers, what they carry out and their state. `drain` lets workers hand back their runs "
        "and take no more, so that they can be stopped; `undrain` ends that."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action",
            nargs="?",
            choices=["list", "drain", "undrain"],
            default="list",
            help="What to do. Default: list.",
        )
        parser.add_argument("names", nargs="*", metavar="NAME", help="Workers, as the list names them.")
        parser.add_argument("--all", action="store_true", help="Every live worker.")
        parser.add_argument(
            "--wait",
            type=float,
            metavar="SECONDS",
            help="With drain: wait so many seconds for the workers; status 2 after that.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        workers = self._meant(options["action"], options["names"], everybody=options["all"])
        if options["action"] == "drain":
            at = database_now()
            for worker in workers:
                worker_drain(worker=worker, by=None, at=at)
            if options["wait"] is not None:
                # Raises UserError where a worker still works after so many seconds.
                until, asked = time.monotonic() + options["wait"], {worker.pk for worker in workers}
                while busy := [
                    row
                    for row in worker_rows(database_now())
                    if row.worker.pk in asked and not is_stoppable(row)
                ]:
                    if time.monotonic() >= until:
                        raise UserError(
                            _("After %(seconds)g seconds not every worker is drained: %(worker)s"),
                            seconds=options["wait"],
                            worker="; ".join(line_of(row) for row in busy),
                        )
                    time.sleep(SECONDS_BETWEEN_LOOKS)
        elif options["action"] == "undrain":
            for worker in workers:
                worker_undrain(worker=worker, by=None)
        rows = worker_rows(database_now())
        lines = [line_of(row) for row in rows]
        if not rows:
            sentence = _("No worker has been heard of. Run semblance serve, or %(command)s.")
            lines = [sentence % {"command": worker_command("default")}]
        self.answer({"workers": [figures_of(row) for row in rows]}, *lines, as_json=options["json"])

    def _meant(self, action: str, names: Sequence[str], *, everybody: bool) -> list[WorkerHeartbeat]:
        if action == "list":
            if names or everybody:
                self.fail(_("Give drain or undrain before the names of workers."))
            return []
        if bool(names) == everybody:
            self.fail(_("Name the workers, or give --all."))
        return live_workers(database_now()) if everybody else workers_named(names, database_now())


def is_stoppable(row: WorkerRow) -> bool:
    return row.state in (WorkerState.DRAINED, WorkerState.SILENT)


def line_of(row: WorkerRow) -> str:
    about = [row.worker.name, ",".join(row.worker.queues), row.device, row.state.label]
    return "  ".join([*map(str, about), *(doing.words for doing in row.doing)])


def figures_of(row: WorkerRow) -> dict[str, Any]:
    worker = row.worker
    return {
        "name": worker.name,
        "queues": worker.queues,
        "device": worker.device,
        "devices": worker.devices,
        "version": worker.version,
        "started_at": worker.started_at.isoformat() if worker.started_at else None,
        "seen_at": worker.seen_at.isoformat(),
        "state": row.state.value,
        "carries_out": [doing.words for doing in row.doing],
    }
