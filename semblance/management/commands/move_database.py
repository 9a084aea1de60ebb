"""`semblance move_database URL`: from SQLite to PostgreSQL, with a proof."""

from argparse import ArgumentParser
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.command import Command as BaseCommand
from semblance.backups.moving import database_move


class Command(BaseCommand):
    help = (
        "Copy this installation's SQLite database to an empty PostgreSQL database, and compare the number of rows and "
        "the SHA-256 of each table. Stop the site first; the SQLite database stays as it is."
    )
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("url", metavar="URL", help="postgres://user:password@host:5432/name")

    def handle(self, *, url: str, **options: Any) -> None:
        started = monotonic()
        proofs = database_move(url=url)
        rows = sum(proof.rows for proof in proofs)
        width = max(len(proof.label) for proof in proofs)
        table = [
            f"{proof.label:{width}}  {proof.rows:>10,}  {proof.sha256[:16]}" for proof in proofs if proof.rows
        ]
        same = ngettext(
            "%(n)s row in %(tables)s tables is the same in both databases.",
            "%(n)s rows in %(tables)s tables are the same in both databases.",
            rows,
        )
        lines = [
            *table,
            same % {"n": rows, "tables": len(proofs)},
            _(
                "Next: set DATABASE_URL to the new address, and SECRET_KEY and ALLOWED_HOSTS too, then start the site. "
                "Set SECRET_KEY to the text of the file secret_key in SEMBLANCE_HOME to keep everybody logged in."
            ),
        ]
        figures = {"rows": rows, "tables": {proof.label: [proof.rows, proof.sha256] for proof in proofs}}
        figures |= {"seconds": round(monotonic() - started, 3)}
        self.answer(figures, *lines, as_json=options["json"])
