"""`semblance restore FILE`: a backup into an empty installation."""

from argparse import ArgumentParser
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.command import Command as BaseCommand
from semblance.backups.restoring import backup_check, backup_restore


class Command(BaseCommand):
    help = (
        "Restore a backup, also of an earlier version, into an installation without rows in DATABASE_URL and without "
        "files of Semblance in SEMBLANCE_HOME. The checksums are compared first; after an error nothing is kept."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="The backup.")
        parser.add_argument(
            "--check",
            action="store_true",
            help="Only compare the checksums and say what the backup holds, and whether this version restores it.",
        )

    def handle(self, *, file: Path, check: bool, **options: Any) -> None:
        started = monotonic()
        manifest = backup_check(path=file) if check else backup_restore(path=file)
        done = _("The backup is whole: %(parts)s.") if check else _("Restored and compared: %(parts)s.")
        parts = _("%(rows)s and %(files)s of %(made)s, written by version %(version)s on %(database)s") % {
            "rows": ngettext("%(n)s row", "%(n)s rows", manifest.rows) % {"n": manifest.rows},
            "files": ngettext("%(n)s file", "%(n)s files", len(manifest.files)) % {"n": len(manifest.files)},
            "made": manifest.made_at,
            "version": manifest.version,
            "database": manifest.database,
        }
        lines = [done % {"parts": parts}]
        if not check:
            lines.append(
                _(
                    "Sessions are not in backups, so everybody logs in again. Next: run semblance doctor, then "
                    "start the site."
                )
            )
        figures: dict[str, Any] = {"made_at": manifest.made_at, "version": manifest.version}
        figures |= {"rows": manifest.rows, "tables": {table.label: table.rows for table in manifest.tables}}
        figures |= {"files": len(manifest.files), "restored": not check}
        figures |= {"seconds": round(monotonic() - started, 3)}
        self.answer(figures, *lines, as_json=options["json"])
