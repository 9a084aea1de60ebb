"""`semblance demo`: the whole job on our own sentences, a table of its results, and then the site."""

import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from curation.files.progress import Report
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import seed_argument
from curation.foundation.database import database_ready
from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.plans.kinds import QUEUES
from semblance.demo.accounts import accounts_prepare
from semblance.demo.job import demonstrate
from semblance.demo.plan import SECONDS, DemoPlan, Stages
from semblance.demo.results import tables
from semblance.serving.processes import Group
from semblance.serving.programs import workers

LOOK_EVERY = 0.1  # seconds


class Command(BaseCommand):
    help = "Run the whole process on sentences made for this demonstration and print the results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--serve", action="store_true", help="Serve the site after the demonstration.")
        parser.add_argument("--port", type=int, default=8000, help="Port for --serve. Default: %(default)s.")
        seed_argument(parser, default=13)

    def handle(self, *args: Any, **options: Any) -> None:
        began, console = time.monotonic(), Console()
        database_ready()
        accounts = accounts_prepare()
        owner, curator, annotator = accounts
        lines: list[str] = []  # what the worker prints is of interest only if it ends
        worker = Group(workers(",".join(QUEUES)), folder=settings.WORKING_FOLDER, write=lines.append)
        columns = [
            TextColumn("{task.description:<30}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn(_("left:")),
            TimeRemainingColumn(),
        ]
        # The time left of all stages follows from how fast the stages before were, not from the last seconds.
        with worker.running(), Progress(*columns, console=console, speed_estimate_period=3600) as progress:
            made = demonstrate(
                DemoPlan(seed=options["seed"]),
                owner=owner,
                curator=curator,
                annotator=annotator,
                at=timezone.now(),
                stages=Stages(Course(progress).stage, partial(run_wait, worker, lines)),
            )
        figures = made.figures | {"seconds": round(time.monotonic() - began, 1)}
        for table in tables(made, figures, accounts, site=f"http://127.0.0.1:{options['port']}"):
            console.print(table)
        if not options["serve"]:
            console.print(_("Start the site with: semblance serve"))
        self.answer(figures, as_json=options["json"])
        if options["serve"]:
            call_command("serve", port=options["port"])


class Course:
    """A progress bar for all stages, with the time left, and one for each stage.

    In a log, where no bar can grow, a stage's title when it begins, and the minutes that are left.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress, self._began = progress, time.monotonic()
        self._past = 0.0  # of SECONDS, those of the stages that ended
        self._whole = progress.add_task(_("The whole demonstration"), total=sum(SECONDS.values()))

    @contextmanager
    def stage(self, title: str) -> Iterator[Report]:
        progress, seconds = self._progress, SECONDS[title]
        if not progress.console.is_terminal:
            progress.console.print(f"{title} …{self._left()}")
        task = progress.add_task(title, total=None)

        def report(done: int, total: int, message: str) -> None:
            progress.update(task, completed=done, total=total or None)
            progress.update(self._whole, completed=self._past + seconds * done / total if total else None)

        yield report
        total = progress.tasks[task].total or 1
        progress.update(task, completed=total, total=total)
        self._past += seconds
        progress.update(self._whole, completed=self._past)

    def _left(self) -> str:
        if not self._past:
            return ""
        left = (time.monotonic() - self._began) * (sum(SECONDS.values()) / self._past - 1)
        minutes = max(1, round(left / 60))
        sentence = ngettext(" (about %(number)d minute left)", " (about %(number)d minutes left)", minutes)
        return sentence % {"number": minutes}


def run_wait(worker: Group, lines: list[str], run: Run, report: Report) -> Run:
    """Follow a run to its end, as its page does."""
    while not run.ended:
        if worker.ended():
            raise UserError(_("The worker ended: %(lines)s"), lines=" ".join(lines[-5:]))
        time.sleep(LOOK_EVERY)
        run.refresh_from_db()
        report(run.done, run.total, run.message)
    return run
