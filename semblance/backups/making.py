"""A backup of the database and the files together, consistent though the site goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, transaction

from curation.files.drafts import FileError
from curation.files.writing import sha256_of
from curation.foundation.database import migrations_applied
from curation.foundation.errors import errors_shown
from curation.version import VERSION
from semblance.backups.archive import Manifest, TableCopy, backup_writing
from semblance.backups.files import damaged_of, files_held, others_in, references_fetch, references_now
from semblance.backups.rows import fields_of, label_of, lines_of, tables_of

# A copy of these would let in people who were logged in when it was made, or show workers that no longer run.
LEFT_OUT = frozenset({"sessions.session", "curation.browsersession", "mlworkers.workerheartbeat"})
ATTEMPTS = 3


@dataclass(frozen=True)
class BackupMade:
    """missing, damaged: what rows name and is not there, or has another content than the row says.

    links: symbolic links in the folders of Semblance. others: what else lies in SEMBLANCE_HOME. The backup has neither.
    """

    path: Path
    sha256: str
    size: int
    tables: tuple[TableCopy, ...]
    files: int
    file_bytes: int
    missing: list[str]
    damaged: list[str]
    links: list[str]
    others: list[str]


def backup_make(*, path: Path, at: datetime) -> BackupMade:
    """Write everything that the database and the folders of Semblance hold into one file.

    All tables are read in one transaction that sees one moment. Files that were there shortly before or after that
    moment are held by a link; so a file that a row names is in the backup, even if somebody removes it in the meantime.
    Raises UserError where the file cannot be written.
    """
    home = Path(settings.SEMBLANCE_HOME)
    with errors_shown(FileError), backup_writing(path) as writer:
        for attempt in range(1, ATTEMPTS + 1):
            references_fetch()  # before the moment of the backup, which must be short
            with files_held(home) as held:
                held.hold()
                with one_moment():
                    references = references_now()
                    held.hold()
                    missing = held.missing(references)
                    if missing and attempt < ATTEMPTS:
                        continue  # made and removed between two looks; what is really lost stays lost
                    migrations = migrations_applied(DEFAULT_DB_ALIAS)
                    for model in tables_of(migrations, DEFAULT_DB_ALIAS):
                        if label_of(model) not in LEFT_OUT:
                            writer.table(label_of(model), fields_of(model), lines_of(model, DEFAULT_DB_ALIAS))
                    manifest = Manifest(
                        version=VERSION,
                        made_at=at.isoformat(),
                        database=connection.vendor,
                        migrations=tuple(migrations),
                    )
                copies = [writer.file(name, source) for name, source in held.each()]
                break
        writer.end(manifest.with_parts(writer.tables, writer.files))
    return BackupMade(
        path=path,
        sha256=sha256_of(path),
        size=path.stat().st_size,
        tables=tuple(writer.tables),
        files=len(copies),
        file_bytes=sum(copy.size for copy in copies),
        missing=missing,
        damaged=damaged_of(references, copies),
        links=held.links_left_out,
        others=[name for name in others_in(home) if (home / name).resolve() != path.resolve()],
    )


@contextmanager
def one_moment() -> Iterator[None]:
    """Everything that is read within sees the database as it is now, and nobody waits for it."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
        return
    # Not `atomic`, which takes SQLite's write lock: with a write-ahead log, a reader stops no writer.
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            cursor.execute("SELECT COUNT(*) FROM django_migrations")  # the moment is that of the first look
            yield
        finally:
            cursor.execute("ROLLBACK")
