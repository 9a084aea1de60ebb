"""Files that gzip packed, and folders of datasets or their zip files, as one file for as long as they are read."""

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curation.files.dataset_folders import folder_as_table, is_dataset_folder
from curation.files.drafts import FileError

GZIP = b"\x1f\x8b"
UNPACKED_MOST = 4 << 30  # bytes
_BLOCK = 1 << 20


class TooLargeError(FileError):
    """The file unpacks to more than was to be read."""


def is_packed(path: Path) -> bool:
    """Whether gzip packed the file. Raises FileError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(2) == GZIP
    except OSError as error:
        raise FileError(f"{path.name} cannot be read: {error.strerror}; check the path.") from error


@contextmanager
def unpacked(path: Path, *, most: int = UNPACKED_MOST) -> Iterator[Path]:
    """The file itself, or what gzip packed into it, as a file of the same name without .gz, or the rows of a folder of
    `datasets` or of a zip file of one, as a Parquet file of its name; what is made is removed at the end.

    most: bytes that the contents may have. Raises TooLargeError where they have more, and FileError where they cannot
    be unpacked or read.
    """
    if is_dataset_folder(path):
        with folder_as_table(path, most=most, label_names=True) as table:
            yield table
        return
    if not is_packed(path):
        yield path
        return
    folder = Path(tempfile.mkdtemp(prefix="unpacked-"))
    try:
        plain = folder / path.name.removesuffix(".gz")
        size = 0
        try:
            with gzip.open(path) as packed, plain.open("wb") as file:
                while block := packed.read(_BLOCK):
                    size += len(block)
                    if size > most:
                        raise TooLargeError(
                            f"{path.name} unpacks to more than {most >> 20:,} MB; divide it into several files."
                        )
                    file.write(block)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileError(f"{path.name} breaks off or is damaged; pack it with gzip again.") from error
        yield plain
    finally:
        shutil.rmtree(folder, ignore_errors=True)
