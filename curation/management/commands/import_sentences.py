"""`semblance import_sentences`: single sentences into the pool of a dataset, from which pairs are composed."""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from curation.datasets.selectors import dataset_by_slug
from curation.datasets.services import dataset_create, owner_lines
from curation.exchange.pool import SentenceOptions, sentences_import
from curation.files.drafts import FileError, column_option
from curation.files.sentences import SentenceColumns
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import (
    no_header_argument,
    reading_arguments,
    reading_given,
    rejected_arguments,
    target_arguments,
    text_arguments,
)
from curation.foundation.errors import errors_shown
from curation.people.accounts.lookup import account_named


class Command(BaseCommand):
    help = "Add single sentences to a dataset, from which sample_pairs --dataset makes pairs."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="The files to import.")
        target_arguments(parser)
        text_arguments(parser)
        parser.add_argument(
            "--labels", default="", metavar="COL,…", help="Columns of labels, such as target,stance."
        )
        reading_arguments(parser)
        no_header_argument(parser)
        parser.add_argument(
            "--source",
            metavar="COL",
            help="The column of the source, or none. Default: a column called source.",
        )
        parser.add_argument(
            "--source-name", metavar="NAME", help="Source of all rows. Default: the name of the file."
        )
        rejected_arguments(parser)

    def handle(
        self, *, files: Sequence[Path], dataset: str, create: bool, owner: str | None, **options: Any
    ) -> None:
        started = monotonic()
        owned = account_named(owner) if owner else None
        labels = [name.strip() for name in options["labels"].split(",") if name.strip()]
        asked = SentenceOptions(
            columns=SentenceColumns(
                text=column_option(options["text"]), source=column_option(options["source"]), labels=labels
            ),
            **reading_given(options),
            documents=options["documents"],
            language=options["language"],
            source=options["source_name"],
            strict=options["strict"],
        )
        errors = options["errors"]
        if errors and len(files) > 1:
            self.fail(_("--errors is for the rejected rows of one file; add the files one by one."))
        with errors_shown(FileError), transaction.atomic():  # all files or none
            there = dataset_by_slug(dataset)
            if there is None and not create:
                self.fail(_("There is no dataset “%(slug)s”. Add --create to create it.") % {"slug": dataset})
            target = there or dataset_create(slug=dataset, name=dataset, owner=owned)
            outcomes = [
                (path, sentences_import(dataset=target, path=path, options=asked, by=None, errors=errors))
                for path in files
            ]
        figures = {
            "dataset": target.slug,
            "rows": sum(outcome.rows for _path, outcome in outcomes),
            "added": sum(outcome.added for _path, outcome in outcomes),
            "known": sum(outcome.known for _path, outcome in outcomes),
            "rejected": sum(outcome.rejected for _path, outcome in outcomes),
            "guesses": {
                path.name: [guess._asdict() for guess in outcome.guesses] for path, outcome in outcomes
            },
            "seconds": round(monotonic() - started, 3),
        }
        lines = owner_lines(target, made=there is None)
        rejected = _("Line %(line)s of %(file)s was left out: %(reason)s.")
        counts = _("%(file)s: %(added)s sentences added, %(known)s known, %(rejected)s left out.")
        for path, outcome in outcomes:
            lines += [*outcome.warnings, *(guess.reason for guess in outcome.guesses)]
            lines += [
                rejected % {"line": error.line, "file": path.name, "reason": error.reason}
                for error in outcome.errors[:10]
            ]
            lines.append(counts % {"file": path.name, **vars(outcome)})
        self.answer(figures, *lines, as_json=options["json"])
