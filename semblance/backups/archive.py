"""The file of a backup: a zip of tables and files, and a manifest with a SHA-256 of each.

`tables/LABEL.jsonl` has a row on each line, as a JSON array in the order of the table's fields. `files/PATH` has the
bytes of a file, whose path is relative to SEMBLANCE_HOME. `manifest.json` is written last.
"""

import hashlib
import io
import json
import shutil
import zipfile
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO

from curation.files.drafts import FileError
from curation.files.json_text import json_from
from curation.files.writing import replacing

FORMAT = 1
MANIFEST = "manifest.json"
MANIFEST_MAX_BYTES = 256 * 1024**2
LINE_MAX_BYTES = 64 * 1024**2  # of a row
PIECE = 1024**2  # bytes that are read at once
# Text becomes a fifth of its size; weights and Parquet files are compressed already.
TEXTS = (".csv", ".json", ".jsonl", ".tsv", ".txt")
# What reading a damaged part raises, and a manifest that says something else than ours do.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    OSError,
    RuntimeError,
)


@dataclass(frozen=True)
class TableCopy:
    """A table as it was: its model, its fields in order, how many rows it had, and the SHA-256 of its lines."""

    label: str
    fields: tuple[str, ...]
    rows: int
    sha256: str


@dataclass(frozen=True)
class FileCopy:
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup holds. migrations: (app, name) of each that the database had."""

    version: str
    made_at: str
    database: str
    migrations: tuple[tuple[str, str], ...]
    tables: tuple[TableCopy, ...] = ()
    files: tuple[FileCopy, ...] = ()
    format: int = FORMAT

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def with_parts(self, tables: Iterable[TableCopy], files: Iterable[FileCopy]) -> "Manifest":
        return replace(self, tables=tuple(tables), files=tuple(files))


@dataclass
class BackupWriter:
    """Writes the parts of a backup one after another."""

    _zip: zipfile.ZipFile
    tables: list[TableCopy] = field(default_factory=list)
    files: list[FileCopy] = field(default_factory=list)

    def table(self, label: str, fields: Iterable[str], lines: Iterable[bytes]) -> None:
        rows, digest = 0, hashlib.sha256()
        with self._part(_table_name(label), compressed=True) as part:
            for line in lines:
                digest.update(line)
                part.write(line)
                rows += 1
        self.tables.append(TableCopy(label, tuple(fields), rows, digest.hexdigest()))

    def file(self, path: str, source: Path) -> FileCopy:
        size, digest = 0, hashlib.sha256()
        compressed = source.suffix in TEXTS
        with source.open("rb") as file, self._part(f"files/{path}", compressed=compressed) as part:
            while piece := file.read(PIECE):
                digest.update(piece)
                part.write(piece)
                size += len(piece)
        copy = FileCopy(path, size, digest.hexdigest())
        self.files.append(copy)
        return copy

    def end(self, manifest: Manifest) -> None:
        with self._part(MANIFEST, compressed=True) as part:
            part.write(json.dumps(asdict(manifest), indent=1).encode())

    @contextmanager
    def _part(self, name: str, *, compressed: bool) -> Iterator[IO[bytes]]:
        about = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        about.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        about.external_attr = 0o600 << 16
        with (
            self._zip.open(about, "w", force_zip64=True) as part,
            io.BufferedWriter(part, PIECE) as whole,
        ):
            yield whole


@contextmanager
def backup_writing(path: Path) -> Iterator[BackupWriter]:
    """A backup to fill, which takes the place of `path` once it is whole. Raises FileError as `replacing` does."""
    with replacing(path) as file, zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        yield BackupWriter(archive)


class BackupReader:
    """A backup that may have been damaged, or be no backup: whatever is wrong with it is a FileError."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._zip = archive
        self._name = name
        with self._shown(MANIFEST):
            if self._zip.getinfo(MANIFEST).file_size > MANIFEST_MAX_BYTES:
                raise FileError(self._damaged(MANIFEST))
            given = json_from(self._zip.read(MANIFEST))
            if given["format"] != FORMAT:
                raise FileError(
                    f"{self._name} is a backup of format {given['format']}, and this version reads format {FORMAT}; "
                    f"restore it with version {given['version']}."
                )
            tables = (
                TableCopy(one["label"], tuple(one["fields"]), int(one["rows"]), one["sha256"])
                for one in given["tables"]
            )
            files = [FileCopy(one["path"], int(one["size"]), one["sha256"]) for one in given["files"]]
            # Raises ValueError where a file would lie outside the folder, two files would have one path, or one would
            # be the folder of another.
            paths = [file.path for file in files]
            places = {PurePosixPath(path) for path in paths}
            for place in places:
                if not place.parts or place.is_absolute() or ".." in place.parts or "\0" in str(place):
                    raise ValueError(f"{place} leads out of the folder")
            if len(places) < len(paths):
                raise ValueError("two files have one path")
            if nested := next((path for path in places if not places.isdisjoint(path.parents)), None):
                raise ValueError(f"{nested} lies in another file")
            self.manifest = Manifest(
                version=str(given["version"]),
                made_at=str(given["made_at"]),
                database=str(given["database"]),
                migrations=tuple((str(app), str(name)) for app, name in given["migrations"]),
                tables=tuple(tables),
                files=tuple(files),
            )

    @property
    def unpacked_bytes(self) -> int:
        """What the files of the manifest, and the lines of its tables, take once they are unpacked."""
        names = {_table_name(table.label) for table in self.manifest.tables}
        tables = sum(part.file_size for part in self._zip.infolist() if part.filename in names)
        return sum(file.size for file in self.manifest.files) + tables

    def verify(self) -> None:
        """Read the whole file once and compare every part with its size and SHA-256.

        No more is read of a file than the manifest says it has, whatever the archive would unpack to.
        """
        for file in self.manifest.files:
            name = f"files/{file.path}"
            with self._shown(name):
                if self._zip.getinfo(name).file_size != file.size:
                    raise FileError(self._damaged(name))
        wanted = {_table_name(table.label): table.sha256 for table in self.manifest.tables}
        wanted |= {f"files/{file.path}": file.sha256 for file in self.manifest.files}
        for name, sha256 in wanted.items():
            with self._shown(name), self._zip.open(name) as part:
                if hashlib.file_digest(part, "sha256").hexdigest() != sha256:  # type: ignore[arg-type]
                    raise FileError(self._damaged(name))

    def lines(self, table: TableCopy) -> Generator[bytes, None, None]:
        name = _table_name(table.label)
        with self._shown(name), self._zip.open(name) as part, io.BufferedReader(part, PIECE) as whole:  # type: ignore[type-var]
            while line := whole.readline(LINE_MAX_BYTES):
                if len(line) == LINE_MAX_BYTES:
                    raise FileError(self._damaged(name))
                yield line

    def unpack(self, folder: Path) -> None:
        """Write every file into the folder, under its path there."""
        for file in self.manifest.files:
            target = folder / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._zip.open(f"files/{file.path}") as part, target.open("xb") as written:
                shutil.copyfileobj(part, written, PIECE)

    @contextmanager
    def _shown(self, part: str) -> Iterator[None]:
        try:
            yield
        except FileError:
            raise
        except _UNREADABLE as error:
            raise FileError(self._damaged(part)) from error

    def _damaged(self, part: str) -> str:
        return f"{self._name} is damaged ({part} is not what was written); use another backup."


@contextmanager
def backup_reading(path: Path) -> Iterator[BackupReader]:
    """Raises FileError for a file that cannot be read or is not a backup."""
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}.") from error
    except zipfile.BadZipFile as error:
        raise FileError(f"{path} is not a backup, or only a part of one; use another file.") from error
    with archive:
        if MANIFEST not in archive.namelist():
            raise FileError(f"{path} is not a backup: it has no manifest; use another file.")
        yield BackupReader(archive, path.name)


def _table_name(label: str) -> str:
    return f"tables/{label}.jsonl"
