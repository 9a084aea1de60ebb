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
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from curation.files.progress import Report
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import seed_argument
from curation.foundation.database import database_ready
from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.plans.kinds import QUEUES
from semblance.demo.accounts import accounts_prepare
from semblance.demo.job import demonstrate
from semblance.demo.plan import DemoPlan, Stages
from semblance.demo.results import results_table
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
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        ]
        with worker.running(), Progress(*columns, console=console) as progress:
            campaign, figures = demonstrate(
                DemoPlan(seed=options["seed"]),
                owner=owner,
                curator=curator,
                annotator=annotator,
                at=timezone.now(),
                stages=Stages(partial(stage, progress), partial(run_wait, worker, lines)),
            )
        figures |= {"seconds": round(time.monotonic() - began, 1)}
        console.print(results_table(campaign, figures))
        if options["serve"]:
            logins = Table(title=_("Accounts. The passwords are shown only once."), title_justify="left")
            logins.add_column(_("User"))
            logins.add_column(_("Password"))
            for account in accounts:
                logins.add_row(account.user.username, account.password)
            console.print(logins)
        self.answer(figures, as_json=options["json"])
        if options["serve"]:
            call_command("serve", port=options["port"])


@contextmanager
def stage(progress: Progress, title: str) -> Iterator[Report]:
    """A progress bar of a stage; in a log, where no bar can grow, its title when it begins."""
    if not progress.console.is_terminal:
        progress.console.print(f"{title} …")
    task = progress.add_task(title, total=None)

    def report(done: int, total: int, message: str) -> None:
        progress.update(task, completed=done, total=total or None)

    yield report
    total = progress.tasks[task].total or 1
    progress.update(task, completed=total, total=total)


def run_wait(worker: Group, lines: list[str], run: Run, report: Report) -> Run:
    """Follow a run to its end, as its page does."""
    while not run.ended:
        if worker.ended():
            raise UserError(_("The worker ended: %(lines)s"), lines=" ".join(lines[-5:]))
        time.sleep(LOOK_EVERY)
        run.refresh_from_db()
        report(run.done, run.total, run.message)
    return run
