"""Folders of the library `datasets` (or zip files of one) as one table: what `save_to_disk` wrote, and Parquet files as
the hub keeps them, with the splits that a README or the files' names give. No script of a folder is run.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from curation.files.arrow_stream import arrow_rows, arrow_schema
from curation.files.columns import names_listed, nested_refusal
from curation.files.drafts import FileError
from curation.files.heavy import pa, pq
from curation.files.json_text import json_from
from curation.files.parquet import (
    class_names,
    classes_described,
    parquet_columns,
    parquet_rows,
    storage_of,
)
from curation.files.tables import Column, Kind, write_table
from curation.files.zipping import files_in

FILES_MOST = 1_000
ABOUT_MOST_BYTES = 4 << 20
SPLIT_NAMES = ("train", "test", "validation", "valid", "val", "dev")
README, ARROW_STATE, ABOUT = "README.md", "state.json", "dataset_info.json"
_BLOCK = 1 << 20
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---\s*$", re.DOTALL | re.MULTILINE)
_ZIP = b"PK\x03\x04"
_NOT_ONE = (
    "is no dataset folder: it holds no Parquet file, and no dataset of save_to_disk; give the file of sentences or "
    "pairs itself"
)


@dataclass(frozen=True)
class _Part:
    """One file of the folder, and the split that its rows are in, "" for none."""

    path: Path
    split: str

    @property
    def is_arrow(self) -> bool:
        return self.path.suffix == ".arrow"


def is_dataset_folder(path: Path) -> bool:
    """Whether it is a folder, or a file that begins as a zip file does."""
    if path.is_dir():
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == _ZIP and path.suffix.lower() == ".zip"
    except OSError:
        return False


@contextmanager
def folder_as_table(path: Path, *, most: int, label_names: bool) -> Iterator[Path]:
    """One Parquet file with the rows of all splits, the name of the folder, and a column `split`, for as long as it is
    read.

    most: bytes that a zip file may unpack to. label_names: write classes by their names. Otherwise numbers stay,
    and the table says what they are called.
    Columns of lists and other nested values are there without their values, so that the table's reader says that it
    leaves them out. Raises FileError.
    """
    beside = Path(tempfile.mkdtemp(prefix="dataset-"))
    try:
        folder = path if path.is_dir() else _unzipped(path, beside / "unpacked", most)
        table = beside / f"{path.resolve().name if path.is_dir() else path.name.removesuffix('.zip')}.parquet"
        _write(path.name, _parts(path.name, folder), table, label_names=label_names)
        yield table
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextmanager
def unfolded(path: Path, *, most: int, label_names: bool) -> Iterator[Path]:
    """The table of a dataset folder or its zip file, as `folder_as_table` makes it; any other file is itself."""
    if is_dataset_folder(path):
        with folder_as_table(path, most=most, label_names=label_names) as table:
            yield table
    else:
        yield path


def _parts(name: str, folder: Path) -> list[_Part]:
    files = {path.relative_to(folder).as_posix(): path for path in files_in(folder)}
    if len(files) > FILES_MOST:
        raise FileError(f"{name} has more than {FILES_MOST:,} files; give a folder with one dataset.")
    states = [file for file in files if PurePosixPath(file).name == ARROW_STATE]
    if states:
        parts = [part for state in sorted(states) for part in _saved(files, PurePosixPath(state).parent)]
    else:
        # The Parquet files that the README's metadata name for the splits of its default configuration.
        tables = [file for file in sorted(files) if file.endswith(".parquet")]
        configuration = _configuration(name, files.get(README))
        listed = configuration.get("data_files", [])
        if isinstance(listed, str):
            listed = [{"split": "train", "path": listed}]
        parts = []
        for one in listed if isinstance(listed, list) else []:
            if not isinstance(one, dict):
                continue
            patterns = one.get("path", [])
            for pattern in [patterns] if isinstance(patterns, str) else patterns:
                matching = (file for file in tables if fnmatchcase(file, str(pattern).removeprefix("./")))
                parts += [_Part(files[file], str(one.get("split", ""))) for file in matching]
        if not parts:
            # Files whose names, or folders, are those of splits: data/train-00000-of-00002.parquet, dev.parquet.
            for file in tables:
                inside = reversed(PurePosixPath(file).with_suffix("").parts)
                names = (_SHARD.sub("", part) for part in inside)
                parts.append(_Part(files[file], next((each for each in names if each in SPLIT_NAMES), "")))
    if not parts:
        raise FileError(f"{name} {_NOT_ONE}.")
    return parts


def _saved(files: Mapping[str, Path], folder: PurePosixPath) -> Iterator[_Part]:
    """What `save_to_disk` wrote: the files that state.json lists, in the folder of their split."""
    path = files[(folder / ARROW_STATE).as_posix()]
    # A folder within the dataset's is a split. One that stands alone is named like a split, or like the dataset.
    split = folder.name or (path.parent.name if path.parent.name in SPLIT_NAMES else "")
    try:
        read = json_from(_text(path))
    except ValueError as error:
        raise FileError(f"{path.name} of {path.parent.name} is not JSON; save the dataset again.") from error
    listed = (read if isinstance(read, dict) else {}).get("_data_files", [])
    for one in listed if isinstance(listed, list) else []:
        file = files.get((folder / str(one.get("filename") if isinstance(one, dict) else "")).as_posix())
        if file is None or file.suffix != ".arrow":
            raise FileError(
                f"A file that {path.name} of {path.parent.name} lists is missing; save the dataset again."
            )
        yield _Part(file, split)


def _configuration(name: str, readme: Path | None) -> Mapping[str, Any]:
    """Raises FileError where there are several and none is the default one."""
    if readme is None or not (front := _FRONT.match(_text(readme))):
        return {}
    try:
        configurations = (yaml.safe_load(front[1]) or {}).get("configs", [])
    except (yaml.YAMLError, AttributeError, ValueError, RecursionError) as error:
        raise FileError(
            f"The metadata at the beginning of {README} of {name} cannot be read as YAML."
        ) from error
    usable = (
        [one for one in configurations if isinstance(one, dict)] if isinstance(configurations, list) else []
    )
    default = [one for one in usable if one.get("default") or one.get("config_name") == "default"]
    if len(usable) > 1 and not default:
        names = names_listed([str(one.get("config_name")) for one in usable])
        raise FileError(f"{name} has the configurations {names}; give the folder or the Parquet file of one.")
    return (default or usable or [{}])[0]


def _write(name: str, parts: Sequence[_Part], table: Path, *, label_names: bool) -> None:
    schema = _schema(parts[0])
    flat = [field for field in schema if not pa.types.is_nested(storage_of(field.type))]
    nested = [field.name for field in schema if pa.types.is_nested(storage_of(field.type))]
    if not flat:
        raise FileError(nested_refusal(name, nested))
    classes = class_names(schema) if label_names else {}
    columns = [Column(field.name, "text" if field.name in classes else _kind(field.type)) for field in flat]
    own_split = "split" in schema.names or not any(part.split for part in parts)
    # Refuse a file that has not the columns of the first one, or holds lists where that one has none.
    for part in parts[1:]:
        others = _schema(part)
        if missing := sorted(set(schema.names) - set(others.names)):
            raise FileError(
                f"{part.path.name} of {name} has no column {names_listed(missing)}, which others have."
            )
        if more := sorted(set(others.names) - set(schema.names)):
            raise FileError(
                f"{part.path.name} of {name} has a column {names_listed(more)}, which others lack; "
                f"give the file itself, or save the dataset with the same columns in each split."
            )
        if unlike := [one for one in schema.names if _is_nested(schema, one) != _is_nested(others, one)]:
            raise FileError(
                f"{part.path.name} of {name} holds other values in {names_listed(unlike)} than others do."
            )
    names = [one.name for one in columns]
    unread = [None] * len(nested)

    def rows() -> Iterator[list[object]]:
        for part in parts:
            read = arrow_rows(part.path, names) if part.is_arrow else parquet_rows(part.path, names)
            for row in read:
                cells = [_cell(value, column, classes) for value, column in zip(row, columns, strict=True)]
                yield [*cells, *unread] if own_split else [*cells, *unread, part.split]

    shown = [*columns, *(Column(one, "nested") for one in nested)]
    about = {} if label_names else classes_described(class_names(schema))
    try:
        write_table(table, "parquet", shown if own_split else [*shown, Column("split")], rows(), about=about)
    except (pa.ArrowException, OverflowError) as error:
        raise FileError(
            f"The columns of {name} are of other kinds in another file; save the dataset again."
        ) from error


def _is_nested(schema: pa.Schema, name: str) -> bool:
    return bool(pa.types.is_nested(storage_of(schema.field(name).type)))


def _cell(value: Any, column: Column, classes: Mapping[str, Sequence[str]]) -> object:
    if value is None:
        return None
    if column.name in classes and isinstance(value, int):
        names = classes[column.name]
        return names[value] if 0 <= value < len(names) else ""
    if column.kind == "text" and isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return str(value) if column.kind == "text" else value


def _kind(kind: pa.DataType) -> Kind:
    if pa.types.is_floating(kind):
        return "number"
    return "integer" if pa.types.is_integer(kind) and kind != pa.uint64() else "text"


def _schema(part: _Part) -> pa.Schema:
    if part.is_arrow:
        schema = arrow_schema(part.path)
        if len(set(schema.names)) < len(schema.names):
            raise FileError(f"{part.path.name} has columns of the same name; give each its own name.")
        return schema
    parquet_columns(part.path)  # which looks at the file's tables before the library does
    return pq.read_schema(part.path)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(ABOUT_MOST_BYTES).decode("utf-8", "replace")


def _unzipped(path: Path, folder: Path, most: int) -> Path:
    """The files of a zip that a dataset folder can need. Their sizes are counted as they come."""
    left = most
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > 10 * FILES_MOST:
                raise FileError(f"{path.name} has too many files; give a folder with one dataset.")
            for member in archive.infolist():
                name = PurePosixPath(member.filename)
                safe = not name.is_absolute() and ".." not in name.parts and "\\" not in str(name)
                known = name.suffix in {".parquet", ".arrow"} or name.name in {README, ARROW_STATE}
                if not (safe and known) or name.name.startswith(".") or "__MACOSX" in name.parts:
                    continue
                target = folder.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as packed, target.open("wb") as file:
                    while block := packed.read(_BLOCK):
                        left -= len(block)
                        if left < 0:
                            raise FileError(f"{path.name} unpacks to more than {most >> 20:,} MB; divide it.")
                        file.write(block)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
        OSError,
        ValueError,
    ) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path.name} is damaged or encrypted; pack it again.") from error
    if not folder.exists():  # no file of the zip is of a dataset
        raise FileError(f"{path.name} {_NOT_ONE}.")
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder
