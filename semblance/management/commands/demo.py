"""`manage.py demo`: the whole job on sentences of our own, a table of its results, and then the site."""

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

from annotation.models import Campaign
from curation.command import Command as BaseCommand
from curation.database import database_ready
from curation.errors import UserError
from curation.files.progress import Report
from mlworkers.models import Run
from mlworkers.plans.kinds import QUEUES
from semblance.demo.accounts import accounts_prepare
from semblance.demo.job import demonstrate
from semblance.demo.plan import DemoPlan, Stages
from semblance.serving.processes import Group
from semblance.serving.programs import workers

LOOK_EVERY = 0.1  # seconds


class Command(BaseCommand):
    help = "Run the whole process on sentences made for this demonstration and print the results."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--serve", action="store_true", help="Serve the site after the demonstration.")
        parser.add_argument("--port", type=int, default=8000, help="Port for --serve. Default: %(default)s.")
        parser.add_argument(
            "--seed", type=int, default=13, help="Seed of the demonstration. Default: %(default)s."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        began, console = time.monotonic(), Console()
        database_ready()
        accounts = accounts_prepare()
        owner, curator, annotator = accounts
        lines: list[str] = []  # what the worker prints is of interest only if it ends
        worker = Group(workers(",".join(QUEUES)), folder=settings.BASE_DIR, write=lines.append)
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
        console.print(_table(campaign, figures))
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


def _table(campaign: Campaign, figures: dict[str, Any]) -> Table:
    table = Table(title=_("Results"), title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for row in _rows(figures):
        table.add_row(*row)
    table.caption = _(
        "Dataset “%(dataset)s”, campaign “%(campaign)s”. The annotators and curators are simulated."
    ) % {"dataset": campaign.dataset.slug, "campaign": campaign.name}
    table.caption_justify = "left"
    return table


def _rows(figures: dict[str, Any]) -> list[tuple[str, str]]:
    label = _("Encoder “%(name)s”: Spearman correlation on held-out pairs")
    return [
        (_("Pairs judged"), f"{figures['pairs']:,}"),
        (_("4-tuples"), f"{figures['tuples']:,}"),
        (_("Judgements that count (simulated annotators)"), f"{figures['judgements']:,}"),
        (_("Annotators stopped by the gold gate"), f"{figures['annotators_stopped']}"),
        (_("Split-half reliability (Spearman correlation)"), f"{figures['shr_spearman']:.3f}"),
        (_("Spearman correlation with the known relatedness"), f"{figures['latent_spearman']:.3f}"),
        (_("Pairs generated, and kept after clean-up"), f"{figures['generated']:,}, {figures['kept']:,}"),
        (_("Human and machine sentences classified, AUC"), f"{figures['realism_auc']:.3f}"),
        (
            _("Median p_D of human and of machine sentences"),
            f"{figures['median_p_human']:.3f}, {figures['median_p_machine']:.3f}",
        ),
        *_broken_rows(figures["broken"]),
        (_("Machine sentences reviewed (simulated curators)"), f"{figures['reviewed']:,}"),
        *(
            (label % {"name": name}, f"{row['spearman']:.3f} ({row['low']:.3f}–{row['high']:.3f})")
            for name, row in figures["encoders"].items()
        ),
        (_("Seconds"), f"{figures['seconds']:.1f}"),
    ]


def _broken_rows(broken: dict[str, Any]) -> list[tuple[str, str]]:
    """What p_D says of sentences that the grammar of the demonstration cannot write. No person judged them."""
    area = _("none to compare")
    if broken["auc"] is not None:
        area = f"{broken['auc']:.3f} ({broken['low']:.3f}–{broken['high']:.3f})"
    counted = _("%(broken)s of %(sentences)s") % broken
    lowest = _("%(lowest)s of %(broken)s") % broken
    return [
        (_("Machine sentences that the grammar cannot write (broken)"), counted),
        (_("AUC of p_D for broken sentences (by the grammar, not by people)"), area),
        (_("Broken sentences in the lowest tenth of p_D (by the grammar)"), lowest),
    ]
