"""`semblance methods_section`: the methods section of a paper about a dataset, in Markdown and LaTeX."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from curation.datasets.selectors import dataset_named
from curation.exchange.snapshots import snapshot_numbered
from curation.files.drafts import FileError
from curation.files.publishing.prose import TO_WRITE
from curation.files.publishing.texts import methods_files
from curation.files.writing import replacing
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import slug_argument
from curation.foundation.errors import errors_shown
from semblance.publishing.collecting import publication_of


class Command(BaseCommand):
    help = "Write the methods section of a snapshot: METHODS.md, methods.tex and references.bib, or print the first."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        slug_argument(parser)
        parser.add_argument(
            "--to", type=Path, metavar="FOLDER", help="An existing folder. Default: print METHODS.md."
        )
        parser.add_argument(
            "--snapshot", type=int, metavar="N", help="Number of the snapshot. Default: the newest."
        )
        parser.add_argument(
            "--score-set",
            default="",
            metavar="NAME",
            help="The scores that the section is about. Default: the newest human ones.",
        )

    def handle(self, *, dataset: str, to: Path | None, **options: Any) -> None:
        described = dataset_named(dataset)
        snapshot = snapshot_numbered(described, options["snapshot"])
        files = methods_files(publication_of(snapshot, score_set=options["score_set"]).publication)
        markdown = next(iter(files.values()))
        figures: dict[str, object] = {"dataset": described.slug, "snapshot": snapshot.number}
        figures |= {
            "files": list(files) if to else [],
            "to_be_written": markdown.count(f"**{TO_WRITE.strip()}**"),
        }
        if to is None:
            self.answer(figures, markdown, as_json=options["json"])
            return
        for name, text in files.items():
            with errors_shown(FileError), replacing(to / name) as file:
                file.write(text.encode())
        line = _("%(files)s of snapshot %(number)s of %(dataset)s written to %(path)s.") % {
            "files": ", ".join(files),
            "number": snapshot.number,
            "dataset": described.slug,
            "path": to,
        }
        self.answer(figures, line, as_json=options["json"])
