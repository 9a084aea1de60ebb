"""`semblance backup FILE`: the database and the files of this installation in one file, while the site goes on."""

from argparse import ArgumentParser
from pathlib import Path
from time import monotonic
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.command import Command as BaseCommand
from semblance.backups.making import backup_make


class Command(BaseCommand):
    help = (
        "Write the database and the files of this installation, without its settings, into one file while the site "
        "may run. The file holds password hashes, so keep it as safe as the installation."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="For example semblance-2026-11-24.zip.")

    def handle(self, *, file: Path, **options: Any) -> None:
        started = monotonic()
        made = backup_make(path=file, at=now())
        rows = sum(table.rows for table in made.tables)
        lines = [
            _("%(rows)s and %(files)s written to %(path)s (%(size)s).")
            % {
                "rows": ngettext("%(n)s row", "%(n)s rows", rows) % {"n": rows},
                "files": ngettext("%(n)s file", "%(n)s files", made.files) % {"n": made.files},
                "path": file,
                "size": filesizeformat(made.size),
            },
            _("SHA-256: %(sum)s") % {"sum": made.sha256},
        ]
        # What somebody should know before they rely on this backup.
        sentences = {
            _("Warning: the database names files that are not there: %(names)s."): made.missing,
            _("Warning: files have changed since they were written: %(names)s."): made.damaged,
            _("Warning: symbolic links are not in the backup: %(names)s."): made.links,
            _(
                "SEMBLANCE_HOME also holds files that Semblance did not write, and they are not in the backup: "
                "%(names)s."
            ): made.others,
        }
        warnings = []
        for sentence, names in sentences.items():
            if names:
                shown, more = ", ".join(names[:5]), len(names) - 5
                if more > 0:
                    shown = _("%(names)s and %(n)s more") % {"names": shown, "n": more}
                warnings.append(sentence % {"names": shown})
        figures = {"path": str(file), "sha256": made.sha256, "bytes": made.size, "rows": rows}
        figures |= {"tables": {table.label: table.rows for table in made.tables}}
        figures |= {"files": made.files, "file_bytes": made.file_bytes, "warnings": warnings}
        figures |= {"seconds": round(monotonic() - started, 3)}
        self.answer(figures, *lines, *warnings, as_json=options["json"])
