"""Pairs written in any dialect are read back: delimiters, quoting, encodings, scripts, late marks and scores."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.files.parsing import Columns, read_pairs

LATE = 2010
WORDS = {
    "latin": ["Ein", "Mann", "spielt", "Gitarre", "naïve", "fête", "Zürich"],
    "cyrillic": ["Мужчина", "играет", "на", "гитаре"],
    "devanagari": ["वह", "स्कूल", "जाता", "है"],
    "arabic": ["الكلب", "يجري", "في", "الحديقة"],
    "han": ["一个", "男人", "弹", "吉他"],
}
# What files in each script are in beside Unicode. Windows-1252 is detected, the others are named.
ENCODINGS = {"latin": "cp1252", "cyrillic": "cp1251", "arabic": "cp1256", "han": "gb18030"}
INSIDE = ["", ", ", "; ", " – ", ": "]


@dataclass(frozen=True)
class Writing:
    """How a file is written. late: the row from which sentences have marks, and those from which scores are filled.
    names: the header. repeats: whether it stands again in the middle.
    """

    delimiter: str
    quoting: int
    encoding: str
    words: tuple[str, ...]
    late: int
    above: str
    header: bool
    decimal: str
    line_end: str
    names: tuple[str, str, str]
    repeats: bool


@st.composite
def writings(draw: st.DrawFn) -> Writing:
    delimiter = draw(st.sampled_from([",", "\t", ";", "|"]))
    script = draw(st.sampled_from(sorted(WORDS)))
    encodings = ["utf-8", "utf-8-sig", "utf-16"] + [name for own, name in ENCODINGS.items() if own == script]
    header = draw(st.booleans())
    return Writing(
        delimiter=delimiter,
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE])),
        encoding=draw(st.sampled_from(encodings)),
        words=tuple(WORDS[script]),
        late=draw(st.sampled_from([0, 3, LATE])),
        above=draw(st.sampled_from(["", f"sep={delimiter}\n", "A study\n", "# by a program\n# in 2020\n"])),
        header=header,
        decimal=draw(st.sampled_from([".", ","])) if delimiter != "," else ".",
        line_end=draw(st.sampled_from(["\n", "\r\n", "\r"])),
        names=draw(
            st.sampled_from([("sentence1", "sentence2", "score"), ("Premise", "Hypothesis", "Similarity")])
        ),
        repeats=header and draw(st.booleans()),
    )


def sentences_of(writing: Writing, seed: int, row: int) -> tuple[str, str]:
    """Two sentences without the delimiter and marks where the file cannot have them in a cell."""
    words, join = writing.words, INSIDE[(seed + row) % len(INSIDE)]
    if writing.quoting == csv.QUOTE_NONE and writing.delimiter in join:
        join = " "
    a = f"{words[row % len(words)]}{join}{words[(row + 1) % len(words)]} {row}."
    b = f"{words[(row + seed) % len(words)]} {row}."
    if row >= writing.late and row % 3 == 0:
        return f'"{a}', b
    if row >= writing.late and row % 3 == 1:
        return a, f'{b} 6" and "so"'
    return a, b


def file_of(writing: Writing, pairs: list[tuple[str, str]], scores: list[float | None]) -> str:
    text = io.StringIO()
    text.write(writing.above.replace("\n", writing.line_end) if writing.header else "")
    mark = None if writing.quoting == csv.QUOTE_NONE else '"'
    writer = csv.writer(
        text,
        delimiter=writing.delimiter,
        quoting=writing.quoting,
        quotechar=mark,
        lineterminator=writing.line_end,
    )
    if writing.header:
        writer.writerow(writing.names)
    for row, ((a, b), score) in enumerate(zip(pairs, scores, strict=True)):
        if writing.repeats and row == len(pairs) // 2:
            writer.writerow(writing.names)
        writer.writerow([a, b, "" if score is None else str(score).replace(".", writing.decimal)])
    return text.getvalue()


def test_marks_around_every_cell_enclose_them_below_lines_of_comments(tmp_path: Path) -> None:
    rows = "".join(f'"A dog, {row}."\t"A cat {row}."\t"{row % 5}"\n' for row in range(6))
    path = tmp_path / "pairs.tsv"
    path.write_text(f'# by a program\n# in 2020\n"sentence1"\t"sentence2"\t"score"\n{rows}', encoding="utf-8")

    _layout, pairs, errors = read_pairs(path, Columns())

    assert [(pair.a, pair.b, pair.score) for pair in pairs] == [
        (f"A dog, {row}.", f"A cat {row}.", row % 5) for row in range(6)
    ]
    assert not errors


@pytest.mark.exhaustive
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(writing=writings(), seed=st.integers(0, 20), more=st.integers(6, 30))
def test_pairs_in_any_dialect_are_read_back(writing: Writing, seed: int, more: int) -> None:
    count = writing.late + more
    pairs = [sentences_of(writing, seed, row) for row in range(count)]
    scores = [None if row < writing.late else ((row + seed) % 11) / 2 for row in range(count)]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.txt"
        path.write_bytes(file_of(writing, pairs, scores).encode(writing.encoding))
        detected = writing.encoding.startswith("utf") or writing.encoding == "cp1252"
        named = None if detected else writing.encoding
        layout, read, errors = read_pairs(path, Columns(), header=writing.header, encoding=named)

    assert layout.delimiter == writing.delimiter
    assert [error.is_header for error in errors] == [True] * writing.repeats
    assert [(pair.a, pair.b) for pair in read] == pairs
    assert [pair.score for pair in read] == scores
