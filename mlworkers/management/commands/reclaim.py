"""`semblance reclaim`: remove what runs left on the disk and nobody needs."""

from argparse import ArgumentParser
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.foundation.command import Command as BaseCommand
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now
from mlworkers.models import Run
from mlworkers.runs.disk import disk_use, leftovers_reclaim, stored_leftovers, stored_reclaim
from mlworkers.runs.removing import removal_of, run_files_remove


class Command(BaseCommand):
    help = (
        "Remove what ended runs left on the disk and in the file storage: shards, checkpoints, attempts "
        "and files that no run names. With --run also the files of those runs, unless another run names "
        "them."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="Say what would be removed, and remove nothing."
        )
        parser.add_argument(
            "--run",
            type=int,
            action="append",
            default=[],
            metavar="ID",
            help="Also remove the files of this run; can be given several times.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        at, dry = database_now(), options["dry_run"]
        runs = []  # all of them are found before anything is removed
        for number in dict.fromkeys(options["run"]):
            run = Run.objects.filter(pk=number).first()
            if run is None:
                raise UserError(_("There is no run %(number)s."), number=number)
            if problem := removal_of(run).problem:
                raise UserError(_("Run %(number)s: %(problem)s"), number=number, problem=problem)
            runs.append(run)
        leftovers = {one.number: one.reclaimable for one in disk_use(at=at).leftovers}
        freed = sum(leftovers.values()) if dry else leftovers_reclaim(at=at)
        stored = stored_leftovers(at=at)
        freed += sum(stored.values()) if dry else stored_reclaim(at=at)
        files = {
            run.pk: removal_of(run).size if dry else run_files_remove(run=run, by=None, at=at) for run in runs
        }
        total = freed + sum(files.values())
        line = _("run %(run)s: %(size)s of leftovers")
        lines = [line % {"run": run, "size": filesizeformat(size)} for run, size in leftovers.items()]
        line = _("run %(run)s: %(size)s of leftovers in the file storage")
        lines += [line % {"run": run, "size": filesizeformat(size)} for run, size in stored.items()]
        line = _("run %(run)s: %(size)s of files")
        lines += [line % {"run": run, "size": filesizeformat(size)} for run, size in files.items()]
        told = _("%(size)s would be freed.") if dry else _("%(size)s freed.")
        figures = {"bytes": total, "leftovers": leftovers, "stored": stored, "files": files, "dry_run": dry}
        self.answer(figures, *lines, told % {"size": filesizeformat(total)}, as_json=options["json"])
