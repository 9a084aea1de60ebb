"""Files of running text as documents: sentences in order, in segments within which each follows the one before it."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from curation.files.cells import BadRowError, sentence_in
from curation.files.drafts import FileError, RowError
from curation.files.encoding import detect_encoding, errors_for
from curation.files.json_text import json_from
from curation.files.records import physical_lines
from curation.files.sentences import PARAGRAPH_MAX_CHARACTERS, divided
from curation.pairs.text import LANGUAGE_TAG, printable

ID_MAX_CHARACTERS = 100
JSON_SUFFIXES = frozenset({".jsonl", ".ndjson"})


class DocumentForm(StrEnum):
    """How a text file holds documents. JSONL has one document a line, whatever is chosen.

    TEXT: the file is one document, in which an empty line ends a paragraph. PARAGRAPHS: each paragraph is a document.
    SENTENCES: one sentence a line, in order; an empty line ends a document.
    """

    TEXT = "text"
    PARAGRAPHS = "paragraphs"
    SENTENCES = "sentences"


class Document(NamedTuple):
    """A document's name and its segments: sentences, each the next one of the text. A sentence that was left out ends a
    segment, because what stands around it does not follow on. left_out: why, for each.
    """

    name: str
    segments: list[list[str]]
    left_out: list[RowError]


Numbered = tuple[int, str]


def read_documents(
    path: Path, *, form: DocumentForm = DocumentForm.TEXT, language: str = "en", encoding: str | None = None
) -> Iterator[Document]:
    """The documents of a file in its order, their sentences normalised and divided by sentencex for the language.

    language: BCP 47. A line of JSONL is an object with "text", a string with paragraphs or a list of sentences, and
    perhaps "id". encoding: None detects it. Raises FileError, at once or while reading, where the file cannot be used.
    """
    if not re.fullmatch(LANGUAGE_TAG, language):
        raise FileError(
            f"“{printable(language)[:40]}” is not a tag of a language; give one such as en or pt-BR."
        )
    if path.suffix.lower() in JSON_SUFFIXES:
        return _of_json(path, language, encoding)
    return _of_text(path, form, language, encoding)


def _of_text(path: Path, form: DocumentForm, language: str, encoding: str | None) -> Iterator[Document]:
    lines = _lines(path, encoding)
    if form is DocumentForm.TEXT:
        texts = (
            text for paragraph in _paragraphs(lines) for text in _divided(paragraph, path.name, language)
        )
        yield _document(path.stem, texts)
        return
    for paragraph in _paragraphs(lines):
        divided = form is not DocumentForm.SENTENCES
        lines_of = _divided(paragraph, path.name, language) if divided else paragraph
        yield _document(f"{path.stem}:{paragraph[0][0]}", lines_of)


def _of_json(path: Path, language: str, encoding: str | None) -> Iterator[Document]:
    for number, line in _lines(path, encoding):
        if line.strip():
            try:
                row = json_from(line)
            except ValueError as error:
                raise FileError(f"Line {number} of {path.name} is not JSON: {error}.") from error
            text: Any = row.get("text") if isinstance(row, dict) else None
            is_list = isinstance(text, list) and all(isinstance(sentence, str) for sentence in text)
            if not isinstance(row, dict) or not (isinstance(text, str) or is_list):
                raise FileError(
                    f'Line {number} of {path.name} has no "text"; each line must be an object whose "text" is a string '
                    "or a list of sentences."
                )
            if isinstance(text, str):
                paragraphs = _paragraphs((number, part) for part in text.splitlines())
                texts = (
                    each for paragraph in paragraphs for each in _divided(paragraph, path.name, language)
                )
            else:
                texts = ((number, sentence) for sentence in text)
            name = printable(str(row.get("id") or f"{path.stem}:{number}"))
            yield _document(name[:ID_MAX_CHARACTERS], texts)


def _paragraphs(lines: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    for filled, group in groupby(lines, key=lambda numbered: bool(numbered[1].strip())):
        if filled:
            yield list(group)


def _divided(paragraph: list[Numbered], name: str, language: str) -> Iterator[Numbered]:
    """The sentences of a paragraph, whose line ends are spaces, each with the line at which the paragraph begins."""
    first = paragraph[0][0]
    text = " ".join(line.strip() for _number, line in paragraph)
    if len(text) > PARAGRAPH_MAX_CHARACTERS:
        raise FileError(
            f"The paragraph at line {first} of {name} has more than {PARAGRAPH_MAX_CHARACTERS:,} characters; put an "
            "empty line between paragraphs."
        )
    for sentence in divided(text, language):
        yield first, sentence


def _document(name: str, texts: Iterable[Numbered]) -> Document:
    segments: list[list[str]] = [[]]
    left_out = []
    for number, text in texts:
        try:
            segments[-1].append(sentence_in(text, "the sentence"))
        except BadRowError as error:
            left_out.append(RowError(number, printable(str(error)), printable(text.strip()[:200])))
            segments.append([])
    return Document(name, [segment for segment in segments if segment], left_out)


def _lines(path: Path, encoding: str | None) -> Iterator[Numbered]:
    name = detect_encoding(path, encoding).name
    with path.open(encoding=name, errors=errors_for(name), newline="") as file:
        yield from enumerate(physical_lines(file, path.name), start=1)
