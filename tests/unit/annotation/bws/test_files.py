"""The files of the field, as real ones are."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from annotation.bws.designs.design import design_tuples
from annotation.bws.files.columns import Columns
from annotation.bws.files.item_files import read_groups, read_items, write_scores, write_tuples
from annotation.bws.files.judgement_files import (
    BestIsWorst,
    JudgementFile,
    judgement_lines,
    read_judgements,
    write_judgements,
)
from annotation.bws.judgements import Judgements
from annotation.bws.scores.scoring import Scale, Scores, counting_scores
from curation.files.drafts import FileError

HEADER = "Item1,Item2,Item3,Item4,BestItem,WorstItem\n"


@pytest.fixture
def read(tmp_path):
    """Read judgements from a text, or from bytes where the encoding matters."""

    def reading(content: str | bytes, *args, **kwargs) -> JudgementFile:
        path = tmp_path / "judgements.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_judgements(path, *args, **kwargs)

    return reading


def rows_of(file: JudgementFile) -> list[tuple[list[str], str, str]]:
    judged = file.judgements
    rows = zip(judged.items.tolist(), judged.best.tolist(), judged.worst.tolist(), strict=True)
    return [([file.items[i] for i in row], file.items[best], file.items[worst]) for row, best, worst in rows]


def reasons(file: JudgementFile) -> list[tuple[int, str]]:
    return [(row.line, row.reason) for row in file.rejected]


def test_a_plain_file_is_read(read) -> None:
    file = read(HEADER + "a,b,c,d,a,d\nd,c,b,e,e,b\n")

    assert rows_of(file) == [(["a", "b", "c", "d"], "a", "d"), (["d", "c", "b", "e"], "e", "b")]
    assert file.judgements.annotators is None
    assert file.rejected == ()


def test_columns_may_stand_in_any_order_among_others(read) -> None:
    file = read("time,WorstItem,Item2,Annotator,Item1,note,BestItem\n1,x,x,ann,y,-,y\n2,y,x,bob,y,-,x\n")

    assert rows_of(file) == [(["y", "x"], "y", "x"), (["y", "x"], "x", "y")]
    assert [file.annotators[i] for i in file.judgements.annotators] == ["ann", "bob"]


def test_ten_items_are_in_the_order_of_their_numbers(read) -> None:
    names = [f"Item{number}" for number in range(1, 12)]

    file = read(",".join([*reversed(names), "BestItem", "WorstItem"]) + "\n" + "k,j,i,h,g,f,e,d,c,b,a,a,k\n")

    assert rows_of(file)[0][0] == list("abcdefghijk")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + (HEADER + "a,b,c,d,a,d\n").encode(),
        (HEADER + "a,b,c,d,a,d\n").replace("\n", "\r\n").encode(),
        (HEADER + "a,b,c,d,a,d\n").encode("utf-16"),
        (HEADER + "a,b,c,d,a,d\n").replace(",", "\t").encode(),
        (HEADER + "a,b,c,d,a,d\n").replace(",", ";").encode(),
        ("Answers of March\n\n" + HEADER + "a,b,c,d,a,d\n").encode(),
        b"item_1,ITEM 2,item3,Item4,best_item,Worst Item,\na,b,c,d,a,d,\n",
        (HEADER + "\na,b,c,d,a,d\n\n").encode(),
    ],
    ids=["mark", "windows", "utf-16", "tabs", "semicolons", "title", "names", "blank lines"],
)
def test_what_real_files_hold_is_tolerated(read, content) -> None:
    assert rows_of(read(content)) == [(["a", "b", "c", "d"], "a", "d")]


def test_a_quoted_item_may_run_over_lines_and_lines_are_counted_on(read) -> None:
    file = read(HEADER + '"one,\ntwo",b,c,d,"one,\ntwo",d\na,b,c,d,x,d\n')

    assert rows_of(file)[0][1] == "one,\ntwo"
    assert reasons(file) == [(5, 'the row names "x" best, which is not among its items')]


def test_texts_that_differ_in_white_space_or_unicode_form_are_one_item(read) -> None:
    composed, decomposed = "caf\u00e9  noir", "cafe\u0301 noir "

    file = read(HEADER + f"{composed},b,c,d,{decomposed},d\n{decomposed},b,c,e,b,e\n")

    assert file.items == (composed, "b", "c", "d", "e")
    assert file.judgements.best.tolist() == [0, 1]


def test_texts_that_differ_in_case_are_two_items(read) -> None:
    file = read("Item1,Item2,BestItem,WorstItem\nRome,rome,rome,Rome\n")

    assert rows_of(file) == [(["Rome", "rome"], "rome", "Rome")]


def test_a_number_is_a_place_where_no_item_has_that_name(read) -> None:
    file = read(HEADER + "a,b,c,d,1,4\n")

    assert rows_of(file)[0][1:] == ("a", "d")


def test_a_number_is_an_item_where_most_cells_are_items_of_their_rows(read) -> None:
    file = read(HEADER + "4,3,2,9,4,2\n4,3,2,9,9,3\n4,3,2,9,1,9\n")

    assert [row[1:] for row in rows_of(file)] == [("4", "2"), ("9", "3")]
    line, reason = reasons(file)[0]
    assert line == 4
    assert reason.endswith("not among its items (the cells of this file name items, not positions from 1)")


def test_rows_that_are_no_judgement_are_listed_with_line_and_reason(read) -> None:
    file = read(
        HEADER
        + "a,b,c,d,a,d\na,b,c,d,x,d\na,b,c,d,a,5\na,,,,a,d\na,b,c\na,b,c,d,,d\na,b,c,d,a,a\n"
        + HEADER
        + 'a,b,c,"d,a,d\n'
    )

    assert reasons(file) == [
        (3, 'the row names "x" best, which is not among its items'),
        (4, 'the row names "5" worst, which is not among its items'),
        (5, "the row has 1 of at least 2 items"),
        (6, "the row has 3 cells and needs 6"),
        (7, "the row names no best item"),
        (8, 'the row names "a" both best and worst'),
        (9, "the row repeats the header"),
        (10, 'the row names "d" worst, which is not among its items'),
    ]
    assert len(file.judgements) == 1


def test_an_item_that_stands_only_in_rejected_rows_is_none(read) -> None:
    assert read(HEADER + "x,y,z,w,q,x\na,b,c,d,a,d\n").items == ("a", "b", "c", "d")


def test_best_and_worst_alike_can_be_counted_as_the_scripts_do(read) -> None:
    file = read(HEADER + "a,b,c,d,a,a\n", best_is_worst=BestIsWorst.COUNT)

    scores = counting_scores(file.judgements, scale=Scale.SIGNED)
    assert (scores.best[0], scores.worst[0], scores.values[0]) == (1, 1, 0.0)


def test_best_and_worst_alike_can_be_an_error(read) -> None:
    with pytest.raises(FileError, match=r'Line 3 of judgements.csv: the row names "b" both best and worst'):
        read(HEADER + "a,b,c,d,x,a\na,b,c,d,b,b\n", best_is_worst=BestIsWorst.FAIL)


def test_strict_makes_the_first_rejected_row_an_error(read) -> None:
    with pytest.raises(FileError, match=r'Line 2 of judgements.csv: the row names "x" best'):
        read(HEADER + "a,b,c,d,x,a\n", strict=True)


def test_a_row_that_names_an_item_twice_is_kept_and_counted(read) -> None:
    file = read(HEADER + "g,g,c,d,g,d\na,b,c,d,a,d\n")

    assert file.repeated_items == 1
    assert counting_scores(file.judgements).appearances[0] == 2


def test_rows_with_an_unwanted_item_are_left_out(read) -> None:
    file = read(HEADER + "a,b,gold  item,d,a,d\na,b,c,d,a,d\n", without=["gold item"])

    assert (file.left_out, sorted(file.items)) == (1, ["a", "b", "c", "d"])


def test_an_unwanted_item_that_no_row_holds_is_a_mistake(read) -> None:
    with pytest.raises(FileError, match=r'No row of judgements.csv holds the item "golden"'):
        read(HEADER + "a,b,c,d,a,d\n", without=["golden"])


def test_other_columns_can_be_named(read) -> None:
    columns = Columns(items=("left", "right"), best="better", worst="other", annotator="who")

    file = read("who,left,right,better,other\nann,a,b,b,a\n", columns)

    assert rows_of(file) == [(["a", "b"], "b", "a")]
    assert file.annotators == ("ann",)


@pytest.mark.parametrize("cell", ["\"['a', 'it''s', 'c']\"", '"[""a"", ""its"", ""c""]"'])
def test_a_cell_may_hold_a_list_of_items(read, cell) -> None:
    file = read(f"tuple,best,worst\n{cell},a,c\n['a'],a,b\n", Columns(items=("tuple",)))

    assert rows_of(file)[0][0][::2] == ["a", "c"]
    assert reasons(file) == [(3, "the row has 1 of at least 2 items")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("Item1,Item2,Worst\na,b,a\n", 'No column "BestItem" among "Item1", "Item2", "Worst"'),
        ("x,y,z\n1,2,3\n", "No columns Item1, Item2, …"),
        ("Item1,Item2,BestItem,WorstItem,Item2\n", 'There are two columns "Item2"'),
        ("", r"judgements.csv is empty"),
        (HEADER, r"judgements.csv holds no judgement: there is no row below the header\."),
        (HEADER + "a,b,c,d,x,y\n", r'holds no judgement: line 2, the row names "x" best'),
    ],
)
def test_a_file_that_holds_no_judgements_says_why(read, content, reason) -> None:
    with pytest.raises(FileError, match=reason):
        read(content)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(FileError, match=r"nowhere.csv cannot be read: No such file"):
        read_judgements(tmp_path / "nowhere.csv")


def test_bytes_that_are_no_text_reject_their_row_alone(read) -> None:
    file = read(HEADER.encode() + "éè,êë,c,d,c,d".encode() + b"\na,b,\xff,d,a,d\na,b,c,d,a,\xff\n")

    assert "UTF-8 but for 2 of its bytes" in file.warnings[1]
    assert reasons(file) == [
        (3, "the row has an item 3 with characters that cannot be read"),
        (4, r'the row names "\udcff" worst, which is not among its items'),
    ]


def test_items_are_read_once_each_and_repeats_are_told(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_bytes("\ufeffone two\r\n\r\nthree\r\none  two\r\n".encode())

    items = read_items(path)

    assert items.items == ("one two", "three")
    assert items.duplicates == (4,)


@pytest.mark.parametrize("first", ["sentence1,sentence2", "Item", '"Sentence1"\t"Sentence2"\tscore', "text"])
def test_a_first_line_that_looks_like_a_header_is_an_item_with_a_warning(tmp_path, first) -> None:
    path = tmp_path / "items.txt"
    path.write_text(f"{first}\nA dog runs.\nA cat, asleep, dreams.\n")

    items = read_items(path)

    assert len(items.items) == 3
    assert len(items.warnings) == 1
    assert "looks like a header" in items.warnings[0]


def test_items_that_are_sentences_give_no_warning(tmp_path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("Item 7 is here, and the text says so.\nA dog runs.\n")

    assert read_items(path).warnings == ()


def test_tuples_are_tab_separated_items_without_a_header(tmp_path) -> None:
    items = [f'item "{number}", of 30' for number in range(30)]
    tuples = design_tuples(30).tuples

    write_tuples(tmp_path / "tuples.tsv", items, tuples)

    rows = [line.split("\t") for line in (tmp_path / "tuples.tsv").read_text().splitlines()]
    assert rows == [[items[item] for item in row] for row in tuples.tolist()]


def test_an_item_with_a_tab_comes_back_from_a_file_of_tuples(tmp_path) -> None:
    items = ["first\tsecond", '"quoted" at its start', 'with "quotes" inside', "plain"]

    write_tuples(tmp_path / "tuples.tsv", items, np.array([[0, 1], [2, 3]]))

    with (tmp_path / "tuples.tsv").open(newline="") as file:
        assert list(csv.reader(file, delimiter="\t")) == [items[:2], items[2:]]


def test_scores_are_sorted_and_come_back_to_the_last_digit(tmp_path) -> None:
    judgements = Judgements(
        np.array([[0, 1, 2], [2, 1, 0], [1, 0, 2]]), np.array([0, 0, 1]), np.array([2, 2, 0]), 4
    )
    scores = counting_scores(judgements)

    write_scores(tmp_path / "scores.csv", ["z", "b", "c", "unseen"], scores)

    with (tmp_path / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["item", "score", "standard_error", "appearances", "best", "worst", "group"]
    assert [row["item"] for row in rows] == ["b", "z", "c"]
    assert [float(row["score"]) for row in rows] == scores.values[[1, 0, 2]].tolist()
    assert [float(row["standard_error"]) for row in rows] == scores.standard_errors[[1, 0, 2]].tolist()


def scored(values, errors) -> Scores:
    counts = np.ones(len(values), dtype=np.int64)
    return Scores(np.array(values), np.array(errors), counts, counts, counts)


def groups_in(path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["item"]: row["group"] for row in csv.DictReader(file)}


def test_scores_name_the_groups_within_which_items_are_not_told_apart(tmp_path) -> None:
    scores = scored([0.1, 0.7, 0.9, 0.8, np.nan], [0.05] * 5)

    groups = write_scores(tmp_path / "scores.csv", ["d", "c", "a", "b", "unseen"], scores)

    assert groups_in(tmp_path / "scores.csv") == {"a": "1", "b": "1..2", "c": "2", "d": "3"}
    assert len(groups.starts) == 3


def test_scores_without_standard_errors_have_no_groups(tmp_path) -> None:
    groups = write_scores(tmp_path / "scores.csv", ["a", "b"], scored([0.1, 0.7], [np.nan] * 2))

    assert groups_in(tmp_path / "scores.csv") == {"a": "", "b": ""}
    assert len(groups.starts) == 0


def test_groups_do_not_depend_on_the_order_in_which_equal_scores_come(tmp_path) -> None:
    # Only the sure one of the two equal items is told apart from the third.
    for name, order in (("one", [0, 1, 2]), ("two", [1, 0, 2])):
        items = [["sure", "unsure", "low"][item] for item in order]
        write_scores(
            tmp_path / name,
            items,
            scored([[0.5, 0.5, 0.1][i] for i in order], [[0.01, 0.4, 0.01][i] for i in order]),
        )

    assert (
        groups_in(tmp_path / "one")
        == groups_in(tmp_path / "two")
        == {"sure": "1", "unsure": "1..2", "low": "2"}
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (bytes(range(256)) * 4, "file is not a text file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "file is an image; give a text file, such as CSV"),
        (b"\x1f\x8b\x08\x00" + bytes(range(256)), "file is compressed; unpack it first"),
        (b"PK\x03\x04" + bytes(range(256)), "file is a spreadsheet or an archive; save it as CSV"),
        (b"PAR1" + bytes(range(256)), "Parquet file"),
    ],
)
@pytest.mark.parametrize("reads", [read_judgements, read_items])
def test_what_is_no_text_is_called_so_before_its_bytes_reach_a_terminal(
    reads, content, reason, tmp_path
) -> None:
    (tmp_path / "file").write_bytes(content)

    with pytest.raises(FileError, match=reason) as caught:
        reads(tmp_path / "file")

    assert str(caught.value).isprintable()


def test_an_item_that_cannot_be_read_is_named_by_its_line(tmp_path) -> None:
    (tmp_path / "items.txt").write_bytes("één\ntwéé\nthr\x00ee\n".encode())

    with pytest.raises(FileError, match=r"Line 3 of items.txt has characters that cannot be read"):
        read_items(tmp_path / "items.txt")


def test_a_file_of_items_without_one_says_so(tmp_path) -> None:
    (tmp_path / "items.txt").write_text("\n  \n")

    with pytest.raises(FileError, match=r"items.txt holds no item"):
        read_items(tmp_path / "items.txt")


def test_a_column_named_for_two_places_is_refused(read) -> None:
    with pytest.raises(FileError, match="A column is named twice among those of the items"):
        read(HEADER + "a,b,c,d,a,d\n", Columns(items=("Item1", "item_1")))


def test_headers_are_shown_short_and_without_what_terminals_obey(read) -> None:
    with pytest.raises(FileError, match="No columns") as caught:
        read("\x1b[31mred\x00," + "x" * 5000 + ",worst\n1,2,3\n")

    assert len(str(caught.value)) < 250
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(("count", "shown"), [(12, '"c12"'), (13, '"c12", …')])
def test_of_a_long_header_twelve_columns_are_shown(read, count, shown) -> None:
    header = ",".join(f"c{number}" for number in range(1, count + 1))

    with pytest.raises(FileError) as caught:
        read(f"{header}\n{header}\n", Columns(items=("c1", "c2"), best="good"))

    assert f'"c11", {shown}' in str(caught.value)
    assert ('"c12", …' in str(caught.value)) == (count == 13)


def test_a_cell_too_large_for_the_parser_is_told_in_plain_words(read) -> None:
    with pytest.raises(FileError, match="line 2, a cell has more than 131,072 characters"):
        read(HEADER + f'"{"x" * 150_000}",b,c,d,b,d\n')


def test_a_file_without_a_row_that_can_be_read_says_so(read) -> None:
    with pytest.raises(FileError, match=r"judgements\.csv has no row that can be read"):
        read(f'"{"x" * 150_000}","{"y" * 150_000}"\n')


def test_a_file_whose_rows_are_all_left_out_says_so(read) -> None:
    with pytest.raises(FileError, match="every row holds an item to leave out"):
        read(HEADER + "a,b,c,d,a,d\n", without=["a"])


def test_a_row_to_leave_out_is_left_out_whatever_its_best_and_worst_are(read) -> None:
    content = HEADER + "a,b,c,d,a,d\na,b,c,gold,gold,gold\na,b,c,gold,x,\na,b,c,gold,a,b\n"

    file = read(content, without=["gold"], best_is_worst=BestIsWorst.FAIL, strict=True)

    assert rows_of(file) == [(["a", "b", "c", "d"], "a", "d")]
    assert (file.left_out, file.rejected) == (3, ())


def test_written_judgements_are_read_again(tmp_path: Path) -> None:
    items = ('a "quoted" item', "two\nlines", "c, d", "é")
    judgements = Judgements(
        np.array([[0, 1, 2], [3, 1, 0]]), np.array([1, 3]), np.array([2, 0]), 4, np.array([1, 0])
    )

    write_judgements(tmp_path / "j.csv", items, judgements, ["ann", "bob"])

    file = read_judgements(tmp_path / "j.csv", strict=True)
    assert rows_of(file) == [
        ([items[0], items[1], items[2]], items[1], items[2]),
        ([items[3], items[1], items[0]], items[3], items[0]),
    ]
    assert [file.annotators[i] for i in file.judgements.annotators] == ["bob", "ann"]


def test_written_ties_are_read_again_as_ties(tmp_path: Path) -> None:
    judgements = Judgements(
        np.array([[0, 1, 2], [2, 1, 0], [2, 0, -1]]), np.array([-1, 1, -1]), np.array([-1, 0, -1]), 3
    )

    write_judgements(tmp_path / "j.csv", "abc", judgements)

    file = read_judgements(tmp_path / "j.csv", strict=True)
    assert (tmp_path / "j.csv").read_text().splitlines()[1:] == ["a,b,c,tie,tie", "c,b,a,b,a", "c,a,,tie,tie"]
    assert file.items == ("a", "b", "c")
    for name in ("items", "best", "worst"):
        assert getattr(file.judgements, name).tolist() == getattr(judgements, name).tolist()
    assert "2 rows are ties: the items were too close to call." in file.warnings


def test_a_row_with_an_item_called_tie_names_that_item(read) -> None:
    file = read(HEADER + "a,tie,c,d,tie,d\na,b,c,d, Tie,tie\n")

    assert rows_of(file)[0] == (["a", "tie", "c", "d"], "tie", "d")
    assert file.judgements.ties.tolist() == [False, True]


def test_a_row_whose_first_item_is_called_tie_is_no_tie_either(read) -> None:
    file = read(HEADER + "tie,b,c,d,tie,tie\na,b,c,d,a,d\n")

    assert reasons(file) == [(2, 'the row names "tie" both best and worst')]
    assert file.judgements.ties.tolist() == [False]


def test_one_cell_alone_makes_no_tie(read) -> None:
    file = read(HEADER + "a,b,c,d,a,d\na,b,c,d,tie,d\na,b,c,d,,\n")

    assert reasons(file) == [
        (3, 'the row names "tie" best, which is not among its items'),
        (4, "the row names no best item"),
    ]


def test_ties_are_not_written_where_an_item_is_called_tie() -> None:
    tied = Judgements(np.array([[0, 1]]), np.array([-1]), np.array([-1]), 2)

    with pytest.raises(ValueError, match='An item is called "tie"'):
        list(judgement_lines(["a", "Tie"], tied))


def test_lines_of_judgements_hold_no_formula_on_demand_and_leave_out_unknown_annotators() -> None:
    judgements = Judgements(np.array([[0, 1]]), np.array([1]), np.array([0]), 2, np.array([0]))

    named = list(judgement_lines(["=a", "b"], judgements, ["=ann"], spreadsheet=True))
    unnamed = list(judgement_lines(["=a", "b"], judgements))
    of_nobody = list(judgement_lines(["=a", "b"], replace(judgements, annotators=None), ["=ann"]))

    assert named == ["Item1,Item2,BestItem,WorstItem,Annotator\n", "'=a,b,b,'=a,'=ann\n"]
    assert unnamed == of_nobody == ["Item1,Item2,BestItem,WorstItem\n", "=a,b,b,=a\n"]


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        write_tuples(tmp_path / "missing" / "tuples.tsv", ["a", "b"], np.array([[0, 1]]))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", ["item,group\na,1\nb c,2\nd,1\n", "Group\tnote\tItem\n1\tx\ta\n2\t\tbc\n\n1\ty\td\n1\t\tnew\n"]
)
def test_groups_are_read_for_the_items_as_they_are_spelled_or_spaced(tmp_path, content) -> None:
    (tmp_path / "groups.csv").write_text(content)

    groups = read_groups(tmp_path / "groups.csv", ["d", "b c", "a"])

    assert groups.names == ("1", "2")
    assert groups.numbers.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "groups.csv has no group for 2 of the 2 items"),
        ("a,1\nb,2\n", "groups.csv needs a header with the columns item and group"),
        ("item,group\na,1\n", 'groups.csv has no group for 1 of the 2 items, "b" among them'),
        ("item,group\na,1\nb,2\na,2\n", 'Line 4 of groups.csv: "a" is in another group already'),
        ("item,group\na,1\nb,\n", "Line 3 of groups.csv lacks an item or a group"),
        ("item,group\na\nb,1\n", "Line 2 of groups.csv lacks an item or a group"),
    ],
)
def test_groups_that_cannot_be_used_are_refused_in_one_sentence(tmp_path, content, message) -> None:
    (tmp_path / "groups.csv").write_text(content)

    with pytest.raises(FileError, match=message):
        read_groups(tmp_path / "groups.csv", ["a", "b"])
