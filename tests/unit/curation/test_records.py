"""Lines without quotation marks are cut by hand, and like the reader of csv cuts them."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.files.facts import ColumnFacts, facts_of
from curation.files.records import Record, RecordLines, split_cells

LINES = st.lists(
    st.tuples(
        st.text(alphabet='ab,;\t" é中\u2028\x00', max_size=8), st.sampled_from(["\n", "\r\n", "\r"])
    ).map("".join),
    max_size=6,
)


@given(lines=LINES, delimiter=st.sampled_from(",;\t"))
def test_lines_are_cut_as_the_reader_of_csv_cuts_them(lines: list[str], delimiter: str) -> None:
    plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    unmarked = [line for line in lines if '"' not in line]
    quoted = csv.reader(unmarked, delimiter=delimiter, strict=True)

    for among, expected, quotes in ((lines, plain, False), (unmarked, quoted, True)):
        rows = split_cells(RecordLines(iter(among)), delimiter=delimiter, quoted=quotes)
        assert [row.cells for row in rows] == [cells for cells in expected if cells]


def test_rows_keep_their_lines_beside_cells_that_run_over_several() -> None:
    lines = ["a,b\n", '"c\n', 'd",e\n', "\n", 'f,"g" h\n', "i,j\n"]

    rows = list(split_cells(RecordLines(iter(lines)), delimiter=",", quoted=True))

    assert [row.line for row in rows] == [1, 2, 5, 6]
    assert [row.cells for row in rows if isinstance(row, Record)] == [["a", "b"], ["c\nd", "e"], ["i", "j"]]


@pytest.mark.parametrize("commas", [True, False])
def test_numbers_are_counted_by_every_row_however_often_a_text_repeats(commas: bool) -> None:
    cells = ["1", "-1", "1", "2.5", "", " ", None, 3, True, [1], "x", "x", "4,5", "-1", float("nan")]

    facts = facts_of((Record(line, [cell]) for line, cell in enumerate(cells, 2)), numbers=[0], commas=commas)

    assert facts.of(0) == ColumnFacts(
        filled=11, numbers=6, commas=commas, points=1, fractions=True, lowest=-1, highest=4.5 if commas else 3,
        unscored=2, negatives=2, values={1, -1, 2.5, 3} | ({4.5} if commas else set()), word=(10, "True"),
    )  # fmt: skip
