"""Files of single sentences: one a line, a column of a table, or running text that is divided into sentences."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import sentencex

from curation.files.cells import BadRowError, fact_in, sentence_in
from curation.files.columns import column_place, names_listed, nested_refusal, plain_names
from curation.files.drafts import RECOGNISED, FileError, Guess, Layout, RowError
from curation.files.encoding import detect_encoding, errors_for
from curation.files.recognising import FACT_MAX_CHARACTERS, columns_decided
from curation.files.records import Record, data_records, physical_lines
from curation.files.sampling import take_sample
from curation.files.sniffing import TABLE_SUFFIXES, file_beginning
from curation.pairs.text import LANGUAGE_TAG, printable

TEXT_NAMES = ("sentence", "text", "sentences")
# How a person names the column of sentences, on the page and in a command.
TEXT_ASKED = "“Column of sentences” on the page, --text in a command"
LABEL_MAX_CHARACTERS = 100
PARAGRAPH_MAX_CHARACTERS = 1_000_000
# sentencex takes no half characters, as which Python keeps bytes that it cannot read; it gets the sign in their place.
_UNREADABLE = re.compile("[\ud800-\udfff\ufffd]")


class DraftSentence(NamedTuple):
    """One good row. line: the physical line on which it begins, from 1; of running text, that of its paragraph.

    source: what the row says of it, "" where the file says nothing. labels: one for each label column, "" for none.
    """

    line: int
    text: str
    source: str = ""
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class SentenceColumns:
    """Which column of a table holds what: its name, or its number from 1 where the table has no header.

    text: None where the file has a column of a usual name, or is not a table. source: None where the file has a column
    called source, or none; "" for none. labels: of each sentence, such as a target
    and a stance.
    """

    text: str | None = None
    source: str | None = None
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class SentenceFile:
    """How a file of sentences is to be read, decided once.

    layout: of a table, with the places of text, source and label 0, 1, … in its mapping; None for lines and text.
    """

    path: Path
    layout: Layout | None = None
    documents: bool = False
    language: str = "en"
    encoding: str = "utf-8"
    warnings: Sequence[str] = ()


def inspect_sentences(
    path: Path,
    columns: SentenceColumns = SentenceColumns(),
    *,
    header: bool = True,
    delimiter: str | None = None,
    documents: bool = False,
    language: str = "en",
    encoding: str | None = None,
) -> SentenceFile:
    """Decide how to read a file of sentences.

    A file whose name ends in .txt, or in nothing that is known, has one sentence a line. documents: it is running text,
    in which an empty line ends a paragraph; its sentences are found by sentencex, for the language (BCP 47).
    encoding: None detects it.
    Raises FileError where the file cannot be read, holds pairs, or its column of sentences is not known.
    """
    if documents and not re.fullmatch(LANGUAGE_TAG, language):
        raise FileError(
            f"“{printable(language)[:40]}” is not a tag of a language; give one such as en or pt-BR."
        )
    named = columns.text or columns.source or columns.labels or delimiter
    table = path.suffix.lower() in TABLE_SUFFIXES
    if documents and (table or named):
        raise FileError(
            f"{path.name} is read as a table, so its rows are no running text; leave one of the two out."
        )
    if table or named:
        return _table(path, columns, header=header, delimiter=delimiter, encoding=encoding)
    if file_beginning(path, rows="one sentence a line").startswith(b"PAR1"):
        return _table(path, columns, header=header, delimiter=delimiter, encoding=None)
    detected = detect_encoding(path, encoding)
    warnings = [detected.warning] if detected.warning else []
    if not documents:
        # Refuse lines that all have tabs: they are rows, and a row is not a sentence.
        with path.open(encoding=detected.name, errors=errors_for(detected.name), newline="") as file:
            first = [line for line, _number in zip(physical_lines(file, path.name), range(20), strict=False)]
        filled = [line for line in first if line.strip()]
        if len(filled) > 1 and all("\t" in line for line in filled):
            raise FileError(
                f"Every line of {path.name} has several cells with tabs between; "
                f"name the column of sentences ({TEXT_ASKED}), or give its number if the first row names no columns. "
                f"Pairs of sentences belong to the page “Import” and to import_pairs."
            )
    return SentenceFile(
        path, documents=documents, language=language, encoding=detected.name, warnings=warnings
    )


def layout_of_rejected(file: SentenceFile) -> Layout:
    """The columns of the file, as the table of its rejected rows has them: one, if the file is not a table."""
    return file.layout or Layout(file.path, "csv", ("sentence",), (), mapping={"text": 0})


def read_sentences(file: SentenceFile) -> Iterator[DraftSentence | RowError]:
    """The sentences in the file's order, each normalised, and an error for each row that is none.

    Empty lines of a file without columns are skipped. Raises FileError where the file breaks off.
    """
    if file.layout is not None:
        return _of_rows(file.layout)
    if file.documents:
        return _of_paragraphs(file)
    return (_draft(number, line) for number, line in _lines(file) if line.strip())


def _table(
    path: Path, columns: SentenceColumns, *, header: bool, delimiter: str | None, encoding: str | None
) -> SentenceFile:
    layout = take_sample(
        path, header=header, delimiter=delimiter, encoding=encoding, rows="one sentence a row"
    )
    recognised = columns_decided(RECOGNISED, layout, sentences=False)
    asked = {"text": columns.text or _usual_text(recognised)}
    guesses = list(layout.guesses)
    if not columns.text:
        guesses.append(
            Guess("text", asked["text"], f"The column {names_listed([asked['text']])} holds the sentences.")
        )
    source, guessed = columns.source, frozenset[str]()
    if source is None and layout.header and len(layout.columns) > 1 and "source" in recognised.mapping:
        source, guessed = layout.columns[recognised.mapping["source"]], frozenset({"source"})
    if source and source != asked["text"]:
        asked["source"] = source
        guesses += [guess for guess in recognised.guesses if guess.what == "source" and "source" in guessed]
    asked |= {f"label {number}": name for number, name in enumerate(columns.labels)}
    mapping = {field: column_place(name, layout) for field, name in asked.items()}
    decided = replace(layout, mapping=mapping, guessed=guessed, guesses=tuple(guesses))
    return SentenceFile(path, layout=decided, warnings=layout.warnings)


def _usual_text(layout: Layout) -> str:
    """The name of the column of sentences, where the file's own names leave no doubt."""
    names = layout.columns
    if "a" in layout.mapping:
        a, b = (names[layout.mapping[field]] for field in ("a", "b"))
        raise FileError(
            f"{layout.path.name} holds pairs of sentences, in its columns {a} and {b}; import them on "
            f"the page “Import” or with import_pairs, choose among them with sample_pairs --pairs, or name one column "
            f"of sentences."
        )
    if len(names) == 1 and not layout.nested:
        return names[0]
    usual = [name for name, plain in zip(names, plain_names(names), strict=True) if plain in TEXT_NAMES]
    if layout.header and len(usual) == 1:
        return usual[0]
    if layout.nested:
        instead = (
            f"write one sentence a row into a column of text, or name another column ({TEXT_ASKED}); "
            f"pairs of sentences belong to the page “Import” and to import_pairs"
        )
        raise FileError(nested_refusal(layout.path.name, layout.nested, instead=instead))
    hint = (
        f"name it ({TEXT_ASKED}), or, if the first row names no columns, say so (“First row of a table” on the page, "
        f"--no-header in a command) and give the number of the column"
        if layout.header
        else f"give its number ({TEXT_ASKED})"
    )
    raise FileError(
        f"The column of sentences in {layout.path.name} is not known; {hint}; it has {names_listed(names)}. "
        f"Pairs of sentences belong to the page “Import” and to import_pairs."
    )


def _of_rows(layout: Layout) -> Iterator[DraftSentence | RowError]:
    mapping = layout.mapping
    source_place, source = mapping.get("source"), ""
    # A column of sources that nobody named rejects no row.
    forgiven = [BadRowError] if "source" in layout.guessed else []
    label_places = [place for field, place in mapping.items() if field.startswith("label")]
    for record in data_records(layout):
        if not isinstance(record, Record):
            yield record
            continue
        cells = record.cells
        try:
            text = sentence_in(cells[mapping["text"]], "the sentence")
            if source_place is not None:
                source = ""
                with suppress(*forgiven):
                    source = fact_in(cells[source_place], "source", FACT_MAX_CHARACTERS["source"])
            labels = tuple(fact_in(cells[place], "label", LABEL_MAX_CHARACTERS) for place in label_places)
        except BadRowError as error:
            yield RowError(record.line, printable(str(error)), record.text, cells=cells)
        else:
            yield DraftSentence(record.line, text, source, labels)


def _of_paragraphs(file: SentenceFile) -> Iterator[DraftSentence | RowError]:
    """Lines up to an empty one are a paragraph, whose line ends are spaces."""
    for filled, group in groupby(_lines(file), key=lambda numbered: bool(numbered[1].strip())):
        if not filled:
            continue
        lines, size = [], 0
        for number, line in group:
            size += len(line)
            if size > PARAGRAPH_MAX_CHARACTERS:
                raise FileError(
                    f"A paragraph of {file.path.name} has more than {PARAGRAPH_MAX_CHARACTERS:,} characters up to line "
                    f"{number}; put an empty line between paragraphs."
                )
            lines.append((number, line))
        paragraph = " ".join(line.strip() for _number, line in lines)
        for sentence in divided(paragraph, file.language):
            yield _draft(lines[0][0], sentence)


def divided(text: str, language: str) -> Iterator[str]:
    """The sentences of running text. Bytes that were not characters stay where they are, in their sentence."""
    unreadable = iter(_UNREADABLE.findall(text))
    for sentence in sentencex.segment(language, _UNREADABLE.sub("\ufffd", text)):
        if sentence.strip():
            yield _UNREADABLE.sub(lambda _sign: next(unreadable), sentence)


def _draft(line: int, text: str) -> DraftSentence | RowError:
    try:
        return DraftSentence(line, sentence_in(text, "the sentence"))
    except BadRowError as error:
        return RowError(line, printable(str(error)), printable(text.strip()))


def _lines(file: SentenceFile) -> Iterator[tuple[int, str]]:
    with file.path.open(encoding=file.encoding, errors=errors_for(file.encoding), newline="") as opened:
        yield from enumerate(physical_lines(opened, file.path.name), start=1)
