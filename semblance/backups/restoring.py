"""A backup into an empty installation: all of it, or nothing."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.migrations.loader import MigrationLoader
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.files.drafts import FileError
from curation.files.writing import disk_is_full, sync_folder
from curation.foundation.errors import UserError, errors_shown
from semblance.backups.archive import BackupReader, Manifest, backup_reading
from semblance.backups.files import KEPT_FOLDERS, folders_in_use, references_put
from semblance.backups.loading import (
    Source,
    database_require_empty,
    migrations_finish,
    migrations_known,
    tables_fill,
    tables_prepare,
)


def backup_check(*, path: Path) -> Manifest:
    """Read a backup whole and compare it with its checksums; the database is not looked at.

    Raises UserError where it is damaged, or is of a newer version or of one too old for this version to restore.
    """
    with errors_shown(FileError), backup_reading(path) as backup:
        backup.verify()
        migrations_known(backup.manifest.migrations, MigrationLoader(None))
        return backup.manifest


def backup_restore(*, path: Path) -> Manifest:
    """Restore rows and files of a backup, and migrate them to this version.

    Raises UserError, and keeps nothing, where the backup is damaged or the installation is not empty.
    """
    home = Path(settings.SEMBLANCE_HOME)
    with errors_shown(FileError), backup_reading(path) as backup:
        if used := folders_in_use(home):
            raise UserError(
                _(
                    "%(home)s is in use: it has files in %(folders)s. Set SEMBLANCE_HOME to an empty folder; nothing "
                    "was changed."
                ),
                home=home,
                folders=", ".join(used),
            )
        database_require_empty(DEFAULT_DB_ALIAS)
        # Before anything is unpacked: what the backup says it holds has to fit beside what must stay free.
        home.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free - settings.DISK_FREE_MIN_BYTES
        if backup.unpacked_bytes > free:
            raise UserError(
                _(
                    "This backup takes %(size)s once it is unpacked, and the disk of %(home)s has room for %(free)s. "
                    "Free some space and try again; nothing was changed."
                ),
                size=filesizeformat(backup.unpacked_bytes),
                home=home,
                free=filesizeformat(max(0, free)),
            )
        backup.verify()
        manifest = backup.manifest
        tables = tables_prepare(manifest.migrations, DEFAULT_DB_ALIAS)
        with _unpacked(backup, home) as unpacked, transaction.atomic():
            database_require_empty(DEFAULT_DB_ALIAS)  # nobody came while the backup was read
            sources = (Source(table, backup.lines(table)) for table in manifest.tables)
            tables_fill(tables, sources, DEFAULT_DB_ALIAS)
            # Before the rows are committed: rows that name files are never there without them.
            for name in KEPT_FOLDERS:
                if not (unpacked / name).is_dir():
                    continue
                target = home / name
                if target.is_dir():
                    shutil.rmtree(target)  # nothing but folders are in it, or it would be in use
                (unpacked / name).rename(target)
            sync_folder(home)
            references_put(home)
        migrations_finish(DEFAULT_DB_ALIAS)
    return manifest


@contextmanager
def _unpacked(backup: BackupReader, home: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix=".restore-", dir=home) as name:
        try:
            backup.unpack(Path(name))
        except OSError as error:
            if disk_is_full(error):
                raise UserError(
                    _("The disk of %(home)s is full. Free some space and try again; nothing was kept."),
                    home=home,
                ) from error
            raise
        yield Path(name)
