"""Draft pairs get the same source, split and id each time a file is read."""

import pytest

from curation.files.cells import Span
from curation.files.drafts import DraftPair, RowError
from curation.files.identity import (
    FileOrigin,
    IdentifiedPair,
    Rejections,
    identified,
    split_in_name,
    survey_rows,
)
from curation.files.progress import silent
from curation.pairs.text import sentence_key

STSB = FileOrigin("stsb", "train")


def good(rows) -> list[IdentifiedPair]:
    return [row for row in rows if isinstance(row, IdentifiedPair)]


@pytest.mark.parametrize(
    ("stem", "split"),
    [
        ("stsb-en-train", "train"),
        ("STSb_Test", "test"),
        ("dev", "dev"),
        ("validation.tsv", "validation"),
        ("train-2024-dev", "dev"),
        ("val2", "val"),
        ("contest", ""),
        ("trained", ""),
        ("", ""),
    ],
)
def test_a_split_is_read_from_a_files_name(stem: str, split: str) -> None:
    assert split_in_name(stem) == split


def test_equal_rows_get_different_ids_and_the_same_ones_again() -> None:
    rows = [DraftPair(1, "A.", "B.", 1.0), DraftPair(2, "A.", "B.", 2.0), DraftPair(3, "B.", "A.", 1.0)]

    ids = [pair.name.external_id for pair in good(identified(rows, STSB))]

    assert len(set(ids)) == 3
    assert [pair.name.external_id for pair in good(identified(rows, STSB))] == ids


def test_a_row_refused_for_its_score_keeps_its_place_among_equal_rows() -> None:
    bad = RowError(1, "the score is bad", "A.,B.,x", "A.", "B.")
    mended = DraftPair(1, "A.", "B.", 1.0)
    second = DraftPair(2, "A.", "B.", 2.0)

    before = good(identified([bad, second], STSB))
    after = good(identified([mended, second], STSB))

    assert before[0].name == after[1].name


def test_what_stands_for_the_file_stands_for_every_row() -> None:
    row = DraftPair(1, "A.", "B.", source="news", split="dev")

    of_file = good(identified([row], STSB))[0]
    of_row = good(identified([row], FileOrigin(None, None)))[0]

    assert of_file.name[1:] == ("stsb", "train")
    assert of_row.name[1:] == ("news", "dev")


def test_an_id_that_the_file_has_used_is_refused_with_the_line_of_its_first_use() -> None:
    rows = [
        DraftPair(3, "A.", "B.", external_id="x"),
        DraftPair(9, "A.", "B.", external_id="x", row="x,A.,B."),
    ]

    first, second = identified(rows, STSB)

    assert isinstance(first, IdentifiedPair)
    advice = "give the rows different ids, or import the file without its column of ids"
    assert second == RowError(9, f'the id "x" is on line 3 already; {advice}', "x,A.,B.")


def test_an_id_may_stand_in_each_source_and_split_of_a_file() -> None:
    rows = [
        DraftPair(n, f"{n}.", "B.", source=source, split=split, external_id="1")
        for n, (source, split) in enumerate(
            [("news", "train"), ("news", "dev"), ("wiki", "dev"), ("news", "dev")]
        )
    ]

    *named, last = identified(rows, FileOrigin(None, None))

    assert {pair.name for pair in good(named)} == {
        ("1", "news", "train"),
        ("1", "news", "dev"),
        ("1", "wiki", "dev"),
    }
    assert (last.line, last.row) == (3, "")
    assert last.reason.startswith('the id "1" is on line 1 already')


def test_the_most_frequent_reason_does_not_depend_on_the_numbers_and_words_in_it() -> None:
    rejections = Rejections()
    for line, reason in enumerate(['"a" is empty', "it has 3 cells", "it has 41 cells", '"b" is full', "no"]):
        rejections.add(RowError(line, reason, ""))

    assert rejections.most_frequent() == (2, RowError(1, "it has 3 cells", ""))


def test_a_survey_counts_rows_and_spans_the_scores_of_the_good_ones() -> None:
    bad = RowError(2, "no", "row")
    rows = [DraftPair(1, "A.", "B.", 4.0), bad, DraftPair(3, "C.", "D."), DraftPair(4, "E.", "F.", 0.5)]

    survey = survey_rows(identified(rows, STSB), most=100_000, report=silent, message="")

    assert (survey.rows, survey.pairs, survey.scores) == (4, 3, Span(0.5, 4.0, whole=False))


def test_a_survey_counts_how_often_two_sentences_stand_in_each_order() -> None:
    pairs = ["AB", "AB", "BA", "CD", "EF", "FE", "GG", "GG", "HI", "HI"]
    rows = [DraftPair(number, *pair) for number, pair in enumerate(pairs)]

    survey = survey_rows(identified(rows, STSB, repeated=()), most=100, report=silent, message="")

    for pair in pairs:
        mirrored = 0 if pair[0] == pair[1] else pairs.count(pair[::-1])
        assert survey.rows_with(*map(sentence_key, pair)) == (pairs.count(pair), mirrored)
    assert survey.rows_with(sentence_key("I"), sentence_key("H")) == (0, 2)


def test_a_survey_can_be_stopped() -> None:
    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError(f"{message} at {done}")

    rows = (DraftPair(number, "A.", "B.") for number in range(1, 100_000))

    with pytest.raises(InterruptedError, match="Reading at 5000"):
        survey_rows(identified(rows, STSB), most=100_000, report=stop, message="Reading")
