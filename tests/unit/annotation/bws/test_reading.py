"""What judgements of the field look like when other programs wrote them: read rightly, or with a word about it."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.bws.files.columns import Columns
from annotation.bws.files.judgement_files import JudgementFile, read_judgements
from annotation.bws.files.settling import Spaces, repeats
from curation.files.drafts import FileError

HEADER = "Item1,Item2,Item3,Item4,BestItem,WorstItem\n"


@pytest.fixture
def read(tmp_path):
    def reading(content: str, *args, **kwargs) -> JudgementFile:
        (tmp_path / "judgements.csv").write_text(content, encoding="utf-8")
        return read_judgements(tmp_path / "judgements.csv", *args, **kwargs)

    return reading


def chosen(file: JudgementFile) -> list[tuple[str, str]]:
    """The best and the worst item of each judgement."""
    rows = zip(file.judgements.best.tolist(), file.judgements.worst.tolist(), strict=True)
    return [(file.items[best], file.items[worst]) for best, worst in rows]


def shown(file: JudgementFile) -> list[list[str]]:
    return [[file.items[item] for item in row if item >= 0] for row in file.judgements.items.tolist()]


# A second judgement

NAMED = HEADER.replace("\n", ",Annotator\n")


def test_the_first_judgement_of_a_tuple_by_a_person_counts_whatever_the_order_of_its_items(read) -> None:
    file = read(NAMED + "a,b,c,d,a,d,ann\na,b,c,e,e,a,ann\nd,c,b,a,b,c,ann\na,b,c,d,c,b,bob\n")

    assert chosen(file) == [("a", "d"), ("e", "a"), ("c", "b")]
    assert (file.twice_by_one, file.left_out) == (1, 1)


@pytest.mark.parametrize(
    "content",
    [
        HEADER + "a,b,c,d,a,d\na,b,c,d,b,d\n",
        NAMED + "a,b,c,d,a,d,\na,b,c,d,b,d,\n",
        NAMED + "a,b,c,d,a,d,ann\na,b,c,e,b,c,ann\na,b,c,d,b,d,bob\n",
    ],
    ids=["no column of annotators", "nobody named in it", "another tuple, another person"],
)
def test_judgements_that_may_be_of_several_people_all_count(read, content) -> None:
    file = read(content)

    assert len(file.judgements) == content.count("\n") - 1
    assert (file.twice_by_one, file.warnings) == (0, ())


def test_a_person_is_the_same_in_several_files(tmp_path) -> None:
    paths = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for path in paths:
        path.write_text(NAMED + "a,b,c,d,a,d,ann\n")

    file = read_judgements(paths)

    assert (len(file.judgements), file.twice_by_one) == (1, 1)


# Spaces


def test_items_that_differ_only_in_missing_spaces_are_one_item_and_the_file_says_how_many(read) -> None:
    file = read(HEADER + "a dog,b,c,d,a dog,d\nadog,b,c,e,adog,e\na dog,c,d,e,a  dog,e\n")

    assert file.items == ("a dog", "b", "c", "d", "e")
    assert file.merged_items == 1
    assert chosen(file) == [("a dog", "d"), ("a dog", "e"), ("a dog", "e")]
    assert file.warnings[0].startswith("1 item text differs from another one only in missing or added spaces")
    assert "--keep-spaces" in file.warnings[0]


def test_items_that_differ_only_in_spaces_are_kept_apart_where_a_row_holds_both(read) -> None:
    file = read(HEADER + "a dog,adog,c,d,adog,d\n")

    assert (len(file.items), file.merged_items) == (4, 0)
    assert "1 row holds two of them" in file.warnings[0]
    assert "--merge-spaces" in file.warnings[0]


def test_somebody_can_decide_about_spaces(read) -> None:
    both = HEADER + "a dog,adog,c,d,adog,d\n"
    one = HEADER + "a dog,b,c,d,a dog,d\nadog,b,c,d,adog,d\n"

    merged, kept = read(both, spaces=Spaces.MERGE), read(one, spaces=Spaces.KEEP)

    assert (merged.items, merged.merged_items, merged.repeated_items) == (("a dog", "c", "d"), 1, 1)
    assert (len(kept.items), kept.merged_items) == (5, 0)


def test_a_best_cell_that_lost_a_space_still_names_its_item(read) -> None:
    content = HEADER + "a dog,b,c,d,adog,d\na dog,b,c,d,b,d\n"

    merged, kept = read(content), read(content, spaces=Spaces.KEEP)

    assert (chosen(merged), merged.merged_items) == ([("a dog", "d"), ("b", "d")], 1)
    assert chosen(kept) == [("b", "d")]
    assert "differs from one of them in spaces" in kept.rejected[0].reason


def test_of_merged_texts_the_most_frequent_spelling_is_shown(read) -> None:
    file = read(HEADER + "adog,b,c,d,b,d\na dog,b,c,d,b,d\na dog,b,c,d,b,d\n")

    assert file.items[0] == "a dog"


def test_texts_without_any_difference_make_no_warning(read) -> None:
    assert read(HEADER + "a dog,b,c,d,b,d\na  dog,b,c,d,b,d\n").warnings == ()


# What a best or worst cell names


def test_numbers_are_positions_in_every_row_of_a_file_that_gives_positions(read) -> None:
    # In the second row 2 is also the name of an item, in the first place.
    file = read(HEADER + "7,8,9,5,1,4\n2,8,7,6,2,3\n9,6,5,8,4,1\n8,9,6,7,3,2\n")

    assert chosen(file) == [("7", "5"), ("8", "7"), ("8", "9"), ("6", "9")]
    assert file.rejected == ()


def test_an_item_in_a_file_of_positions_rejects_its_row(read) -> None:
    file = read(HEADER + "7,8,9,5,1,4\n7,8,9,6,2,3\n9,6,5,8,8,1\n")

    assert len(file.judgements) == 2
    assert file.rejected[0].line == 4
    assert file.rejected[0].reason.endswith("(the cells of this file name positions from 1, not items)")


def test_numbers_that_may_be_either_are_items_and_the_file_says_so(read) -> None:
    file = read(HEADER + "2,1,4,3,1,4\n4,3,2,1,2,3\n")

    assert chosen(file) == [("1", "4"), ("2", "3")]
    assert "can be read as items and as positions from 1" in file.warnings[0]
    assert "they are read as items" in file.warnings[0]


def test_a_number_that_is_neither_item_nor_position_is_no_reason_to_doubt_the_others(read) -> None:
    # Every other number means the same as an item and as a position.
    file = read(HEADER + "1,2,3,4,1,4\n1,2,3,4,2,3\n1,2,3,4,9,1\n")

    assert chosen(file) == [("1", "4"), ("2", "3")]
    assert [row.line for row in file.rejected] == [4]
    assert not [warning for warning in file.warnings if "can be read as" in warning]


def test_positions_may_count_from_zero(read) -> None:
    file = read(HEADER + "a,b,c,d,0,3\nb,c,d,e,2,1\nb,c,a,e,3,0\n")

    assert chosen(file) == [("a", "d"), ("d", "c"), ("e", "b")]
    assert file.warnings == ("The best and worst cells are read as positions from 0.",)


@pytest.mark.parametrize("cells", ["A,D", "Item1,Item4", "item_1,ITEM 4"])
def test_a_cell_may_name_the_column_of_its_item(read, cells) -> None:
    assert chosen(read(HEADER + f"w,x,y,z,{cells}\n")) == [("w", "z")]


# Columns


@pytest.mark.parametrize(
    "header",
    [
        "option1,option2,option3,option4,best,worst",
        "A,B,C,D,best-pair,worst-pair",
        "Text.1,Text.2,Text.3,Text.4,Most,Least",
        "Pair 1,Pair 2,Pair 3,Pair 4,Best_Option,Worst_Option",
    ],
)
def test_columns_are_known_by_the_names_of_other_tools(read, header) -> None:
    assert chosen(read(f"{header}\nw,x,y,z,w,z\n")) == [("w", "z")]


def test_two_columns_may_hold_the_two_sentences_of_an_item(read) -> None:
    file = read("pair1a,pair1b,pair2a,pair2b,best-pair,worst-pair\nA dog.,A cat.,One.,Two.,B,A\n")

    assert chosen(file) == [("One.\nTwo.", "A dog.\nA cat.")]


def test_a_pattern_names_columns_in_the_order_of_their_numbers(read) -> None:
    names = [f"pair_{number}" for number in (10, 2, 1)]

    file = read(f"{','.join(names)},B,W\nten,two,one,1,3\n", Columns(items=("pair_*",), best="B", worst="W"))

    assert shown(file) == [["one", "two", "ten"]]
    assert chosen(file) == [("one", "ten")]


def test_a_pattern_may_name_columns_that_are_told_apart_by_letters(read) -> None:
    file = read("option_b,option_a,B,W\ntwo,one,one,two\n", Columns(items=("option_*",), best="B", worst="W"))

    assert shown(file) == [["one", "two"]]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [("thing*", 'No column is like "thing\\*"'), ("pair_*", "columns of several kinds")],
)
def test_a_pattern_that_does_not_name_the_items_is_refused(read, pattern, reason) -> None:
    with pytest.raises(FileError, match=reason):
        read("pair_1,pair_2,pair_id,best,worst\na,b,c,a,b\n", Columns(items=(pattern,)))


def test_a_name_with_an_asterisk_is_no_pattern_where_a_column_has_it(read) -> None:
    named = Columns(items=("left*", "left2"), best="B", worst="W")

    assert shown(read("left*,left2,B,W\none,two,one,two\n", named)) == [["one", "two"]]


def test_a_name_as_it_is_written_comes_before_one_that_differs_in_case(read) -> None:
    named = Columns(items=("x", "y"), best="BEST", worst="worst")

    assert chosen(read("x,y,best,BEST,worst\none,two,one,two,one\n", named)) == [("two", "one")]


def test_columns_of_items_that_are_not_named_are_mentioned(read) -> None:
    file = read(HEADER + "a,b,c,d,a,d\na,b,c,d,a,c\n", Columns(items=("Item1", "Item2", "Item3")))

    assert any('also has the columns "Item4"' in warning for warning in file.warnings)
    assert "1 of 2 rows (50%)" in file.warnings[0]
    assert "not among their items" in file.warnings[0]


def test_rows_that_the_file_calls_duplicates_are_left_out_with_a_word(read) -> None:
    content = "Item1,Item2,best,worst,is_duplicate\na,b,a,b,False\nb,a,a,b,True\na,b,b,a,\na,b,a,b,perhaps\n"

    left_out, kept = read(content), read(content, keep_duplicates=True)

    assert (len(left_out.judgements), left_out.left_out) == (2, 1)
    assert any("--keep-duplicates" in warning for warning in left_out.warnings)
    assert (
        left_out.rejected[0].reason == 'the row is a duplicate by "perhaps", which is neither true nor false'
    )
    assert (len(kept.judgements), kept.left_out) == (4, 0)


def test_a_file_of_nothing_but_duplicates_says_so(read) -> None:
    with pytest.raises(FileError, match="every row is left out because its column is_duplicate says so"):
        read("Item1,Item2,best,worst,duplicate\na,b,a,b,1\n")


def test_an_item_that_is_probably_an_empty_cell_is_mentioned(read) -> None:
    file = read("Item1,Item2,Item3,best,worst\na,b,nan,a,b\nb,c,nan,b,c\na,c,b,a,b\n")

    assert file.warnings == (
        '"nan" is counted as an item, in 2 rows. Use --without to leave these rows out.',
    )


def test_rows_of_single_items_are_gathered_into_judgements(read) -> None:
    file = read(
        "id,block,item,choice\n"
        "ann,1,a,1\nann,1,b,0\nann,1,c,-1\nbob,1,c,1.0\nbob,1,a,-1\nbob,1,b,0\n"
        "bob,2,a,1\nbob,2,b,1\nbob,2,c,-1\n"
    )

    assert shown(file) == [["a", "b", "c"], ["c", "a", "b"]]
    assert chosen(file) == [("a", "c"), ("c", "a")]
    assert file.annotators == ("ann", "bob")
    assert file.rejected[0].line == 8


LONG = [
    ("ann", "t1", "a", 1),
    ("ann", "t1", "b", 0),
    ("ann", "t1", "c", -1),
    ("bob", "t1", "a", 0),
    ("bob", "t1", "b", 1),
]
LONG += [("bob", "t1", "c", -1)]


@pytest.mark.parametrize(
    "header",
    ["id,block,label,value", "subject,trial,option,response", "WorkerId,HITId,Input.item,Answer.choice"],
)
def test_columns_of_single_items_are_known_by_the_names_of_other_tools(read, header) -> None:
    file = read("\n".join([header, *(",".join(map(str, row)) for row in LONG)]))

    assert chosen(file) == [("a", "c"), ("b", "c")]
    assert file.annotators == ("ann", "bob")


def test_columns_of_single_items_can_be_named(read) -> None:
    rows = (f"{person},{block},{item},{choice}" for person, block, item, choice in LONG)

    file = read("\n".join(["w,x,y,z", *rows]), Columns(annotator="w", block="x", item="y", choice="z"))

    assert chosen(file) == [("a", "c"), ("b", "c")]
    with pytest.raises(FileError, match=r'No column "x" among "w", "y"\. Name another with --block\.'):
        read("w,y\n1,2\n", Columns(item="y", block="x"))
    with pytest.raises(
        FileError, match="--item is for tables with one item in each row, and --items for those"
    ):
        read("w,y\n1,2\n", Columns(item="y", items=("w",)))
    with pytest.raises(
        FileError, match="--choice is for tables with one item in each row, and --worst for those"
    ):
        read("w,y\n1,2\n", Columns(choice="y", worst="w"))


@pytest.mark.parametrize(
    ("best", "worst", "neither"),
    [
        ("1", "-1", "0"),
        ("1,0", "-1,0", "0,0"),
        ("1.0", "−1", ""),
        ("Best", "Worst", "none"),
        ("most", "least", "NA"),
    ],
)
def test_choices_are_numbers_or_words(read, best, worst, neither) -> None:
    written = {1: best, -1: worst, 0: neither}
    rows = (f"{person};{block};{item};{written[choice]}" for person, block, item, choice in LONG)

    assert chosen(read("\n".join(["id;block;item;choice", *rows]))) == [("a", "c"), ("b", "c")]


def test_two_columns_may_say_which_item_is_the_best_and_which_the_worst(read) -> None:
    rows = (f"{person},{block},{item},{choice == 1},{choice == -1}" for person, block, item, choice in LONG)

    assert chosen(read("\n".join(["worker,set,item,best,worst", *rows]))) == [("a", "c"), ("b", "c")]


def test_of_two_columns_of_choices_one_may_be_named_beside_a_column_that_looks_like_both(read) -> None:
    rows = (f"{person},{block},{item},5,{choice == 1},{choice == -1}" for person, block, item, choice in LONG)

    file = read(
        "\n".join(["id,block,item,value,top,worst", *rows]), Columns(block="block", item="item", best="top")
    )

    assert chosen(file) == [("a", "c"), ("b", "c")]


def test_a_column_of_single_items_cannot_be_that_of_the_annotators_too(read) -> None:
    rows = (f"{block},{item},{choice}" for _person, block, item, choice in LONG[:3])
    named = Columns(annotator="item", block="block", item="item", choice="choice")

    with pytest.raises(FileError, match='The column "item" is named twice; name one for each part'):
        read("\n".join(["block,item,choice", *rows]), named)


def test_a_block_that_a_person_judged_twice_is_two_judgements_of_which_the_first_counts(read) -> None:
    again = [("ann", "t1", "c", 1), ("ann", "t1", "a", 0), ("ann", "t1", "b", -1)]
    content = "\n".join(["id,block,item,choice", *(",".join(map(str, row)) for row in [*LONG, *again])])

    first, both = read(content), read(content, keep_repeats=True)

    assert (chosen(first), first.twice_by_one) == ([("a", "c"), ("b", "c")], 1)
    assert chosen(both) == [("a", "c"), ("c", "b"), ("b", "c")]


# Results of Mechanical Turk

TURK = "HITId,AssignmentId,WorkerId,AssignmentStatus," + ",".join(f"Input.item{n}" for n in range(1, 5))
TURK += ",Answer.best,Answer.worst\n"


@pytest.mark.parametrize(
    ("best", "worst"),
    [("item4", "item1"), ("Input.item4", "Input.item1"), ("4", "1"), ("Option 4", "option_1"), ("z", "w")],
)
def test_the_cells_of_a_result_may_name_the_column_of_an_item(read, best, worst) -> None:
    file = read(f"{TURK}H0,A0,ann,Approved,w,x,y,z,{best},{worst}\n")

    assert chosen(file) == [("z", "w")]
    assert (file.annotators, file.warnings) == (("ann",), ())


def test_rejected_assignments_are_left_out_and_counted(read) -> None:
    content = f"{TURK}H0,A0,ann,Approved,w,x,y,z,item4,item1\nH0,A1,bob,Rejected,w,x,y,z,item1,item4\n"

    file = read(content)

    assert (chosen(file), file.left_out) == ([("z", "w")], 1)
    assert file.warnings[0].startswith("1 row is left out because the assignment was rejected.")
    assert len(read(content, keep_rejected=True).judgements) == 2


# Rows that are no data

QUALTRICS = "ResponseId,Item1,Item2,Item3,BestItem,WorstItem\n"


@pytest.mark.parametrize(
    "questions", ["Response ID,First,Second,Third,Which is best?,Which is worst?", "Response ID,,,,,"]
)
def test_further_header_rows_of_qualtrics_are_rejected_with_a_reason(read, questions) -> None:
    ids = ",".join(f'"{{""ImportId"":""QID{number}""}}"' for number in range(6))

    file = read(f"{QUALTRICS}{questions}\n{ids}\nR_1,a,b,c,a,c\n")

    assert chosen(file) == [("a", "c")]
    assert [(row.line, "header row" in row.reason) for row in file.rejected] == [(2, True), (3, True)]


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_marks_that_begin_late_are_part_of_the_text_and_this_is_said(read, delimiter: str) -> None:
    rows = "a,b,c,d,a,d\n" * 2100 + '"e,f,g,h,"e,h\n' * 3

    file = read((HEADER + rows).replace(",", delimiter))

    assert (len(file.judgements), file.rejected) == (2103, ())
    assert '"e' in file.items
    ((_name, guesses),) = file.guesses.items()
    assert [(guess.what, guess.taken) for guess in guesses[:2]] == [
        ("delimiter", delimiter),
        ("quotation_marks", "text"),
    ]


def test_columns_that_somebody_names_are_no_guesses(read) -> None:
    named = Columns(items=["A", "B"], best="C", worst="D")

    file = read("A;B;C;D;Annotator\na;b;a;b;ann\n", named, delimiter=";")

    ((_name, guesses),) = file.guesses.items()
    assert [(guess.what, guess.taken) for guess in guesses] == [("annotator", "Annotator")]


def test_what_follows_named_columns_of_single_items_is_still_a_guess(read) -> None:
    named = Columns(item="What", block="Screen", best="Up", worst="Down")
    rows = "1,a,1,0,ann,Approved\n1,b,0,1,ann,Approved\n1,c,0,0,ann,Approved\n"

    file = read(f"Screen,What,Up,Down,Annotator,AssignmentStatus\n{rows}", named, delimiter=",")

    assert chosen(file) == [("a", "b")]
    ((_name, guesses),) = file.guesses.items()
    assert [(guess.what, guess.taken) for guess in guesses] == [
        ("annotator", "Annotator"),
        ("status", "AssignmentStatus"),
    ]


# JSONL and Parquet

OBJECTS = [
    {"Item1": "a", "Item2": "b", "Item3": "c", "BestItem": "a", "WorstItem": "c", "Annotator": "ann"},
    {"Item1": "c", "Item2": "b", "Item3": "a", "BestItem": "b", "WorstItem": "a", "Annotator": "bob"},
]


def test_a_file_of_json_objects_is_a_table(tmp_path) -> None:
    path = tmp_path / "judgements.jsonl"
    lists = [
        {"worker": 7, "items": ["a", "b", "c"], "best": "a", "worst": "b"},
        {"items": ["c", "b"], "best": "c", "worst": "b"},
    ]
    path.write_text("\n".join(map(json.dumps, OBJECTS)) + "\nno JSON\n")

    file = read_judgements(path)

    assert (chosen(file), file.annotators) == ([("a", "c"), ("b", "a")], ("ann", "bob"))
    assert [(row.line, row.reason[:20]) for row in file.rejected] == [(3, "the line is not JSON")]
    path.write_text("\n".join(map(json.dumps, lists)))
    assert shown(read_judgements(path)) == [["a", "b", "c"], ["c", "b"]]


def test_an_encoding_of_json_objects_that_had_to_be_guessed_is_said(tmp_path) -> None:
    path = tmp_path / "judgements.jsonl"
    row = json.dumps({**OBJECTS[0], "Item2": "café"}, ensure_ascii=False)
    path.write_bytes(row.encode("cp1252"))

    file = read_judgements(path)

    assert shown(file) == [["a", "café", "c"]]
    assert any("read as Windows-1252" in warning for warning in file.warnings)


def test_a_parquet_file_is_a_table_whose_lists_are_refused(tmp_path) -> None:
    path = tmp_path / "judgements.parquet"
    pq.write_table(pa.Table.from_pylist(OBJECTS), path)

    file = read_judgements(path)

    assert (chosen(file), file.annotators) == ([("a", "c"), ("b", "a")], ("ann", "bob"))
    pq.write_table(pa.table({"items": [["a", "b"]], "best": ["a"], "worst": ["b"]}), path)
    with pytest.raises(FileError, match=r'nested values in "items".* write one item in each column'):
        read_judgements(path)


# Delimiters


@pytest.mark.parametrize(("first", "between"), [("sep=;\n", ";"), ("sep=^\n", "^"), ('"sep=|"\n', "|")])
def test_a_first_line_may_name_what_separates_cells(read, first, between) -> None:
    file = read(
        first + (HEADER + "a, dog,b,c,d,b,d\n").replace(",", between).replace(f"a{between} dog", "a, dog")
    )

    assert (shown(file), file.rejected) == ([["a, dog", "b", "c", "d"]], ())


def test_the_delimiter_can_be_named(read) -> None:
    content = HEADER.replace(",", "~") + "a~b~c~d~a~d\n"

    assert chosen(read(content, delimiter="~")) == [("a", "d")]
    with pytest.raises(FileError, match="No columns Item1"):
        read(content)


# Tuples of several sizes


@pytest.mark.parametrize("rows", ["a,b,c,d,a,d\nc,a,b,,c,b\n", "a,b,c,d,a,d\nc,,a,b,c,b\n"])
def test_tuples_of_several_sizes_are_read_together(read, rows) -> None:
    file = read(HEADER + rows)

    assert shown(file) == [["a", "b", "c", "d"], ["c", "a", "b"]]
    assert file.warnings == ("1 row has fewer than 4 items (the smallest 3); all 2 are scored together.",)


def test_positions_without_an_item_do_not_repeat_one() -> None:
    assert repeats(np.array([[0, 1, -1, -1], [2, 2, 2, -1]])).tolist() == [0, 2]


def test_a_position_counts_the_columns_that_a_row_leaves_empty(read) -> None:
    assert chosen(read(HEADER + "x,,y,z,3,1\nx,y,z,w,4,2\n")) == [("y", "x"), ("w", "y")]


def test_a_position_that_the_row_leaves_empty_names_no_item(read) -> None:
    file = read(HEADER + "x,,y,z,2,4\nx,y,z,w,4,2\ny,z,w,x,1,2\n")

    assert chosen(file) == [("w", "y"), ("y", "z")]
    assert [row.line for row in file.rejected] == [2]


def test_cells_with_lists_of_several_lengths_are_read_together(read) -> None:
    file = read("tuple,best,worst\n\"['a', 'b', 'c']\",a,c\n\"['a', 'b']\",a,b\n", Columns(items=("tuple",)))

    assert shown(file) == [["a", "b", "c"], ["a", "b"]]


# Several files


@pytest.fixture
def two(tmp_path) -> list[Path]:
    contents = {"one.csv": "a,b,c,d,a,d\n", "two.csv": "d,c,b,e,e,b\na,b,c,d,x,d\n"}
    for name, rows in contents.items():
        (tmp_path / name).write_text(HEADER + rows)
    return [tmp_path / name for name in contents]


def test_several_files_have_one_set_of_items_and_messages_name_the_file(two) -> None:
    file = read_judgements(two)

    assert file.items == ("a", "b", "c", "d", "e")
    assert chosen(file) == [("a", "d"), ("e", "b")]
    assert (file.rejected[0].file, file.rejected[0].line) == ("two.csv", 3)


def test_a_doubt_about_one_of_two_files_names_the_file(tmp_path) -> None:
    (tmp_path / "one.csv").write_text(HEADER + "a,b,c,d,a,c\n")
    (tmp_path / "two.csv").write_text("Item1,Item2,Item3,BestItem,WorstItem\na,b,c,a,c\n")

    file = read_judgements(
        [tmp_path / "one.csv", tmp_path / "two.csv"], Columns(items=("Item1", "Item2", "Item3"))
    )

    assert file.warnings == (
        'one.csv: The file also has the columns "Item4", which are not among those of the items.',
    )


def test_the_same_file_twice_is_a_mistake(two) -> None:
    with pytest.raises(FileError, match="given twice"):
        read_judgements([two[0], two[0].parent / "." / two[0].name])


def test_annotators_count_only_if_every_file_names_them(two) -> None:
    (two[0].parent / "three.csv").write_text("Item1,Item2,Best,Worst,Annotator\na,b,a,b,ann\n")

    file = read_judgements([*two, two[0].parent / "three.csv"])

    assert file.judgements.annotators is None
    assert "one.csv, two.csv names no annotators, so those of the other files are not used." in file.warnings


def test_a_file_without_any_judgement_names_the_first_reason(read) -> None:
    with pytest.raises(
        FileError, match=r'holds no judgement: line 2, .* "x" best.*; all 2 rows are rejected'
    ):
        read(HEADER + "a,b,c,d,x,d\na,b,c,d,y,d\n")


def test_few_rejected_rows_are_no_warning(read) -> None:
    file = read(HEADER + "a,b,c,d,a,d\n" * 19 + "a,b,c,d,x,d\n")

    assert (len(file.rejected), file.warnings) == (1, ())


def test_judgements_are_in_the_order_of_the_rows(read) -> None:
    file = read(HEADER + "d,c,b,a,d,a\na,b,c,d,b,c\n")

    np.testing.assert_array_equal(file.judgements.items, [[0, 1, 2, 3], [3, 2, 1, 0]])
