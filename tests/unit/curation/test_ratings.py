"""Files with one rating in each row: each pair once, with the mean of its ratings, their number and their spread."""

import math
import statistics

import pytest

from curation.files.cells import Span
from curation.files.drafts import DraftPair, RowError
from curation.files.parsing import inspect_file, parse_pairs
from curation.files.ratings import RatingFacts, ratings_gathered, with_rating_columns

HEADER = "sentence1,sentence2,score,WorkerId,AssignmentStatus,id\n"


@pytest.fixture
def gather(tmp_path):
    def gathering(rows: str, header: str = HEADER) -> tuple[list[DraftPair], list[RowError], RatingFacts]:
        path, facts = tmp_path / "ratings.csv", RatingFacts()
        path.write_text(header + rows)
        layout = with_rating_columns(inspect_file(path))
        every = list(ratings_gathered(parse_pairs(layout), layout.mapping, facts))
        pairs = [row for row in every if isinstance(row, DraftPair)]
        return pairs, [row for row in every if isinstance(row, RowError)], facts

    return gathering


def test_a_pair_has_the_mean_of_its_ratings_their_number_and_the_error_of_the_mean(gather) -> None:
    ratings = [1.5, 4, 2, 2.25]
    rows = "".join(f"A b.,C d.,{score},w{n},Approved,\n" for n, score in enumerate(ratings))

    (pair, single), _errors, facts = gather(rows + "C d.,A b.,3,w1,Approved,\n")

    assert (pair.line, pair.score, pair.ratings) == (2, statistics.mean(ratings), 4)
    assert pair.standard_error == pytest.approx(statistics.stdev(ratings) / math.sqrt(4))
    assert (single.score, single.ratings, single.standard_error) == (3, 1, None)
    assert (facts.ratings, facts.raters, facts.pairs, facts.disagreeing) == (5, 4, 2, 1)
    assert facts.scores == Span(1.5, 4, whole=False)


def test_rejected_assignments_second_ratings_and_missing_ones_count_for_nothing(gather) -> None:
    rows = "A b.,C d.,1,w1,Approved,\nA b.,C d.,5,w2,Rejected,\nA b.,C d.,4,w1,Approved,\nA b.,C d.,,w3,Approved,\n"

    (pair,), _errors, facts = gather(rows)

    assert (pair.score, pair.ratings) == (1, 1)
    assert (facts.rejected_assignments, facts.second_ratings, facts.unrated) == (1, 1, 1)


def test_people_without_a_name_are_not_one_person(gather) -> None:
    (pair,), _errors, facts = gather("A b.,C d.,1,,Approved,\nA b.,C d.,4,,Approved,\n")

    assert (pair.ratings, facts.raters, facts.second_ratings) == (2, 0, 0)


def test_a_pair_all_of_whose_ratings_were_rejected_stands_without_a_score(gather) -> None:
    (pair,), _errors, _facts = gather("A b.,C d.,1,w1,Rejected,\n")

    assert (pair.score, pair.ratings) == (None, None)


@pytest.mark.parametrize(("ids", "kept"), [(("p1", "p1"), "p1"), (("r1", "r2"), "")])
def test_a_pair_keeps_an_id_that_all_of_its_ratings_have(ids, kept) -> None:
    rows = [DraftPair(line, "A b.", "C d.", 1.0, external_id=name) for line, name in enumerate(ids, 2)]

    (pair,) = ratings_gathered(rows, {}, RatingFacts())

    assert isinstance(pair, DraftPair)
    assert pair.external_id == kept


def test_rows_that_are_no_ratings_are_errors_with_their_lines(gather) -> None:
    pairs, errors, _facts = gather(",C d.,1,w1,Approved,\nA b.,C d.,2,w1,Approved,\n" + HEADER)

    assert [pair.line for pair in pairs] == [3]
    assert sorted(error.line for error in errors) == [2, 4]


def test_many_ratings_of_one_pair_take_a_step_each(gather) -> None:
    rows = "".join(f"A b.,C d.,{n % 5},w{n},Approved,\n" for n in range(20_000))

    (pair,), _errors, facts = gather(rows)

    assert (pair.ratings, pair.score, facts.raters) == (20_000, 2, 20_000)
