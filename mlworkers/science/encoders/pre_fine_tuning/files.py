"""Tasks as files: a folder with train, dev and perhaps test, laid out as GLUE's or with a header that names columns."""

import csv
import io
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from curation.files.cells import number
from curation.files.parsing import FileError
from curation.files.records import json_object
from curation.pairs.holding_out import NOTHING_HELD_OUT
from mlworkers.science.encoders.pre_fine_tuning.tasks import (
    Task,
    TaskError,
    TaskNames,
    TaskRows,
    classes_in_order,
    dev_drawn,
    task_made,
)
from mlworkers.science.encoders.suites.layouts import lines_of, sentence_read

_ENDINGS = (".tsv", ".csv", ".jsonl", ".txt")
_PARTS = {"train": ("train", "msr_paraphrase_train"), "dev": ("dev", "validation"), "test": ("test",)}
# MNLI has two sets of dev rows, of the genres that were trained on and of others. Both are tested on.
_MNLI = {"mnli": ("mnli", "matched"), "mnlimm": ("mnli", "mismatched")}
_SIDES = (
    ("sentence1", "sentence2"), ("question1", "question2"), ("#1 string", "#2 string"), ("question", "sentence"),
    ("premise", "hypothesis"), ("sentence_a", "sentence_b"), ("sentence",), ("text",),
)  # fmt: skip
_SCORES, _CLASSES = ("score", "similarity_score"), ("gold_label", "label", "quality", "is_duplicate")
_WITHOUT_GOLD = frozenset(("-", "-1"))  # classes
_COLA = ("source", "label", "star", "sentence")  # CoLA's files have no header


@dataclass(frozen=True)
class _Labelled:
    """n rows with their labels as the file has them. scored: whether these are scores."""

    first: tuple[str, ...]
    second: tuple[str, ...] | None
    labels: tuple[str, ...]
    scored: bool


@dataclass(frozen=True)
class ReadTask:
    """A task, and the SHA-256 of each of its files, by name."""

    task: Task
    files: tuple[tuple[str, str], ...]


def task_read(
    names: TaskNames, suites: Path, *, dev_share: float, seed: int, seen: Container[str] = NOTHING_HELD_OUT
) -> ReadTask:
    """The task whose files are in a folder of `suites`.

    Where no test file has labels, the dev rows are the test, and dev rows are drawn from the training rows. Raises
    TaskError with one sentence.
    """
    name, of = _MNLI.get(names.glue, (names.name, ""))  # both sets of MNLI have one training file
    folder = suites / name
    paths = {part: _found(folder, part, of if part != "train" else "") for part in _PARTS}
    try:
        read = {part: _labelled(path, names) for part, path in paths.items() if path is not None}
    except FileError as error:
        raise TaskError(f"{names.label}: {error}") from error
    for part in ("train", "dev"):
        if read.get(part) is None and not (part == "dev" and read.get("test")):
            raise TaskError(
                f"{names.label} has no {part} rows with labels; put a file {part}.tsv, {part}.csv or {part}.jsonl into "
                f"SUITES_FOLDER/{name}."
            )
    found = {part: rows for part, rows in read.items() if rows is not None}
    classes, rows = _numbered(names, found)
    notes = []
    if "test" not in rows:
        rows["test"] = rows.pop("dev")
        notes.append(f"{names.label} has no test rows with labels: its dev rows are the test.")
    if "dev" not in rows:
        # The published test labels are hidden, so dev is tested on, and what chooses must come from training.
        rows["train"], rows["dev"] = dev_drawn(rows["train"], dev_share, seed=seed)
        notes.append(f"The dev rows of {names.label} were drawn from its training rows.")
    task = task_made(
        names,
        classes=classes,
        train=rows["train"],
        dev=rows["dev"],
        test=rows["test"],
        seen=seen,
        notes=notes,
    )
    used = [path for path in paths.values() if path is not None]
    return ReadTask(task, tuple((path.name, sha256(path.read_bytes()).hexdigest()) for path in used))


def _found(folder: Path, part: str, of: str) -> Path | None:
    names = [f"{stem}_{of}" if of else stem for stem in _PARTS[part]]
    files = (folder / f"{name}{ending}" for name in names for ending in _ENDINGS)
    return next((file for file in files if file.is_file()), None)


def _labelled(path: Path, names: TaskNames) -> _Labelled | None:
    """The rows that have a label; None where no row has one, as in GLUE's test files. Raises FileError."""
    sides: list[list[str]] = [[], []]
    labels: list[str] = []
    scored, width = False, 1
    for line, cells in _records(path, names):
        # The first set of names that all are there: “sentence” alone comes after the pairs that contain it.
        columns = next((names for names in _SIDES if all(name in cells for name in names)), None)
        value = next((name for name in (*_SCORES, *_CLASSES) if name in cells), None)
        if columns is None:
            raise FileError(
                f"{path.name} has no columns of sentences that are known, such as sentence1 and sentence2, or sentence."
            )
        if value is None:
            return None
        label = cells[value].strip()
        scored, width = value in _SCORES, len(columns)
        # SNLI and MNLI write “-” where annotators disagree.
        if not label or (not scored and label in _WITHOUT_GOLD):
            continue
        try:
            for side, column in zip(sides, columns, strict=False):
                side.append(sentence_read(cells[column]))
            if scored:
                number(label)
        except ValueError as error:
            raise FileError(f"{path.name}, line {line}: {error}; mend or remove the row.") from error
        labels.append(label)
    if not labels:
        return None
    return _Labelled(tuple(sides[0]), tuple(sides[1]) if width == 2 else None, tuple(labels), scored)


def _records(path: Path, names: TaskNames) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a file with their lines, by the lower-cased names of their columns. Raises FileError."""
    lines, _warnings = lines_of(path)
    if path.suffix == ".jsonl":
        for line, text in enumerate(lines, 1):
            try:
                record = json_object(text)
            except ValueError as error:
                raise FileError(f"{path.name}, line {line}: {error}.") from error
            yield line, {name.casefold(): str(value) for name, value in record.items()}
        return
    rows = (
        _csv_rows(path, lines) if path.suffix == ".csv" else enumerate((one.split("\t") for one in lines), 1)
    )
    header: Sequence[str] | None = _COLA if names.glue == "cola" and path.suffix != ".csv" else None
    for line, cells in rows:
        if header is _COLA and [cell.casefold() for cell in cells[-2:]] == ["label", "sentence"]:
            header = None  # somebody gave it one
        if header is None:
            header = [cell.strip().casefold() for cell in cells]
        elif header is _COLA and cells[0].casefold() == "index":
            return  # CoLA's test file, which has no labels
        elif len(cells) != len(header):
            raise FileError(f"{path.name}, line {line}: {len(cells)} cells where {len(header)} are expected.")
        else:
            yield line, dict(zip(header, cells, strict=True))


def _csv_rows(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO("\n".join(lines), newline=""), strict=True)
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise FileError(
            f"{path.name}, line {reader.line_num}: {error}; mend the quotation marks there."
        ) from error


def _numbered(
    names: TaskNames, parts: Mapping[str, _Labelled]
) -> tuple[tuple[str, ...], dict[str, TaskRows]]:
    """The classes, none for scores, and the rows with their numbers, or with their scores on the training rows' scale.

    Scores of training rows come to 0..1. Those of dev and test rows may lie outside it.
    """
    kinds = {(part.scored, part.second is None) for part in parts.values()}
    if len(kinds) > 1:
        raise TaskError(f"The files of {names.label} do not have the same columns.")
    if parts["train"].scored:
        # This map changes neither correlation. The squared error that is trained by depends on the scale.
        # So it follows from training rows alone: the test's scores decide nothing about training.
        low, high = (extreme(map(float, parts["train"].labels)) for extreme in (min, max))
        scale = (high - low) or 1.0  # lowest and highest training score -> 0 and 1
        return (), {
            name: TaskRows(part.first, part.second, (np.array(part.labels, dtype=np.float64) - low) / scale)
            for name, part in parts.items()
        }
    # Of all parts: one numbering.
    classes = classes_in_order([label for part in parts.values() for label in part.labels])
    place = {name: number for number, name in enumerate(classes)}
    return classes, {
        name: TaskRows(
            part.first, part.second, np.array([place[label] for label in part.labels], dtype=np.float64)
        )
        for name, part in parts.items()
    }
