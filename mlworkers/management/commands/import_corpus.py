"""`semblance import_corpus`: running text beside a dataset, which a run divides into sentences and indexes."""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.datasets.selectors import dataset_by_slug
from curation.datasets.services import dataset_create, owner_lines
from curation.exchange.uploads import import_upload
from curation.files.documents import DocumentForm
from curation.files.drafts import FileError
from curation.files.encoding import encoding_named
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import encoding_argument, target_arguments
from curation.foundation.errors import errors_shown
from curation.models import ImportBatch
from curation.people.accounts.lookup import account_named
from mlworkers.management.waiting import outcome_of, run_awaited, say_what_it_waits_for
from mlworkers.runs.services import run_start
from mlworkers.science.contexts.plan import INDEXING


class Command(BaseCommand):
    help = "Import running text, and start the run that makes a corpus of it."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="The files to import.")
        target_arguments(parser)
        parser.add_argument(
            "--form",
            choices=[form.value for form in DocumentForm],
            default=DocumentForm.TEXT.value,
            help="How a text file holds documents. Default: text, one document.",
        )
        parser.add_argument("--language", metavar="TAG", help="Language of the text. Default: the dataset's.")
        encoding_argument(parser)
        parser.add_argument("--wait", action="store_true", help="Wait until the text is indexed.")

    def handle(
        self, *, files: Sequence[Path], dataset: str, create: bool, owner: str | None, **options: Any
    ) -> None:
        owned = account_named(owner) if owner else None
        for path in files:
            if not path.is_file():
                self.fail(_("There is no file %(path)s; check the path.") % {"path": path})
        encoding = options["encoding"] or ""
        if encoding:
            with errors_shown(FileError):
                encoding = encoding_named(encoding)
        with ExitStack() as stack:
            there = target = dataset_by_slug(dataset)
            if target is None and not create:
                self.fail(_("There is no dataset “%(slug)s”. Add --create to create it.") % {"slug": dataset})
            if target is None:
                stack.enter_context(transaction.atomic())  # no dataset without its text
                target = dataset_create(
                    slug=dataset, name=dataset, owner=owned, language=options["language"] or "en"
                )
            # A file of the disk has all that is read of an upload.
            opened: list[Any] = [File(stack.enter_context(path.open("rb")), path.name) for path in files]
            batch = import_upload(
                dataset=target,
                files=opened,
                by=None,
                kind=ImportBatch.Kind.CORPUS,
            )
            language = options["language"] or target.language or "en"
            plan = {"dataset": dataset, "batch": batch.pk, "form": options["form"], "language": language}
            plan["encoding"] = encoding
            run = run_start(kind=INDEXING, plan=plan, by=None, dataset=target, by_key=True)
        told = ngettext(
            "%(files)s file copied; run %(run)s indexes it.",
            "%(files)s files copied; run %(run)s indexes them.",
            len(files),
        ) % {"files": len(files), "run": run.pk}
        lines = [*owner_lines(target, made=there is None), told]
        say_what_it_waits_for(run, self.stderr.write)
        if options["wait"]:
            run_awaited(run, self.stderr.write)
            lines.append(outcome_of(run))
        figures = {"run": run.pk, "batch": batch.pk, "files": len(files), "state": run.state}
        self.answer(figures, *lines, as_json=options["json"])
