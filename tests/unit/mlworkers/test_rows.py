"""Texts that list rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.plans.fields import PlanError
from mlworkers.plans.rows import Column, RowSyntax
from mlworkers.science.encoders.contrastive.variants import VARIANT_ROWS
from mlworkers.science.encoders.plan import DOMAIN_ROWS, SOURCE_ROWS
from mlworkers.science.encoders.pre_fine_tuning.plan import TASK_ROWS
from mlworkers.science.encoders.scorers_plan import SCORER_ROWS

SYNTAXES = [SOURCE_ROWS, DOMAIN_ROWS, TASK_ROWS, VARIANT_ROWS]
LABELS = {"sources": "Further source datasets"}


def cells_of(syntax: RowSyntax) -> st.SearchStrategy[tuple[str, ...]]:
    cell = st.text(st.characters(exclude_characters=syntax.separators), max_size=8).map(str.strip)
    return st.tuples(*[cell] * len(syntax.columns))


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(data=st.data())
def test_rows_written_as_a_text_are_read_back(syntax: RowSyntax, data: st.DataObject) -> None:
    rows = data.draw(st.lists(cells_of(syntax), max_size=4))

    assert list(syntax.split(syntax.join(rows))) == [cells for cells in rows if any(cells)]


@pytest.mark.parametrize("syntax", SYNTAXES)
@given(text=st.text("ab|;=, \n", max_size=20))
def test_a_text_shown_as_rows_and_written_again_means_the_same(syntax: RowSyntax, text: str) -> None:
    rows = [cells for cells in syntax.split(text) if any(cells)]

    assert [cells for cells in syntax.split(syntax.join(rows)) if any(cells)] == rows


def test_a_row_is_written_without_the_cells_that_are_left_out_at_its_end() -> None:
    rows = [("news", "gold", "", ""), ("", "", "", ""), ("film", "target", "", "p_y")]

    assert SOURCE_ROWS.join(rows) == "news | gold; film | target |  | p_y"
    assert DOMAIN_ROWS.join([("news", "stsb"), ("film", "mrpc")]) == "news=stsb, film=mrpc"


def test_a_way_of_scoring_and_its_models_are_two_cells() -> None:
    text = "run:5, static:packaged:all-MiniLM-L6-v2, two:run:5+run:6"
    rows = [("", "run:5"), ("static", "packaged:all-MiniLM-L6-v2"), ("two", "run:5+run:6")]

    assert list(SCORER_ROWS.split(text)) == rows
    assert SCORER_ROWS.join(rows) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a | gold; b", "Row 2 of “{}” has no “Training scores”"),
        ("; | gold", "Row 1 of “{}” has no “Dataset”"),
        ("a | b | c | d | e", "Row 1 of “{}” has “d | e” as “p_y”, which may not contain “|”"),
    ],
)
def test_an_error_names_the_row_and_the_column_and_a_command_adds_how_rows_are_written(
    text, sentence
) -> None:
    with pytest.raises(PlanError) as caught:
        SOURCE_ROWS.read(text, "sources")

    written = "; give dataset | training scores | p_D | p_y."
    assert str(caught.value) == sentence.format("sources") + written
    assert caught.value.labelled(LABELS) == sentence.format("Further source datasets") + "."


def test_a_cell_from_a_form_may_not_hold_what_separates_rows() -> None:
    syntax = RowSyntax((Column("name", "Name"),), "name")

    with pytest.raises(PlanError, match="Row 1 of “names” has “a;b” as “Name”, which may not contain “;”"):
        syntax.check([("a;b",)], "names")
