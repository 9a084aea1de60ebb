"""Pairs written in any dialect are read back: delimiters, quoting, encodings, scripts, late marks and scores."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

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
INSIDE = ["", ", ", "; ", " – ", ": "]


@dataclass(frozen=True)
class Writing:
    """How a file is written. late: the row from which sentences have marks, and those from which scores are filled."""

    delimiter: str
    quoting: int
    encoding: str
    words: tuple[str, ...]
    late: int
    above: str
    header: bool
    decimal: str


@st.composite
def writings(draw: st.DrawFn) -> Writing:
    delimiter = draw(st.sampled_from([",", "\t", ";", "|"]))
    return Writing(
        delimiter=delimiter,
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONE])),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        words=tuple(WORDS[draw(st.sampled_from(sorted(WORDS)))]),
        late=draw(st.sampled_from([0, 3, LATE])),
        above=draw(st.sampled_from(["", f"sep={delimiter}\n", "A study\n", "# by a program\n# in 2020\n"])),
        header=draw(st.booleans()),
        decimal=draw(st.sampled_from([".", ","])) if delimiter != "," else ".",
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
    text.write(writing.above if writing.header else "")
    mark = None if writing.quoting == csv.QUOTE_NONE else '"'
    writer = csv.writer(text, delimiter=writing.delimiter, quoting=writing.quoting, quotechar=mark)
    if writing.header:
        writer.writerow(["sentence1", "sentence2", "score"])
    for (a, b), score in zip(pairs, scores, strict=True):
        writer.writerow([a, b, "" if score is None else str(score).replace(".", writing.decimal)])
    return text.getvalue()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(writing=writings(), seed=st.integers(0, 20), more=st.integers(6, 30))
def test_pairs_in_any_dialect_are_read_back(writing: Writing, seed: int, more: int) -> None:
    count = writing.late + more
    pairs = [sentences_of(writing, seed, row) for row in range(count)]
    scores = [None if row < writing.late else ((row + seed) % 11) / 2 for row in range(count)]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.txt"
        path.write_bytes(file_of(writing, pairs, scores).encode(writing.encoding))
        layout, read, errors = read_pairs(path, Columns(), header=writing.header)

    assert (layout.delimiter, errors) == (writing.delimiter, [])
    assert [(pair.a, pair.b) for pair in read] == pairs
    assert [pair.score for pair in read] == scores
