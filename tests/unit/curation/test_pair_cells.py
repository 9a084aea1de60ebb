"""Both sentences of a pair in one cell."""

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.files.pair_cells import holds_two_sentences, two_sentences

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40).filter(
    lambda text: text.strip() == text and text
)


@pytest.mark.parametrize(
    "cell",
    [
        "Rome fell.\nRome burned.",
        "Rome fell. \r\n Rome burned.\n",
        "Rome fell.\n\nRome burned.",
        "Rome fell.\tRome burned.",
        "Rome fell.\\nRome burned.",
        "Rome fell.\\r\\nRome burned.",
        "['Rome fell.', 'Rome burned.']",
        "('Rome fell.', 'Rome burned.')",
        """["Rome fell.", 'Rome burned.']""",
        '["Rome fell.", "Rome burned."]',
        ' [u"Rome fell.",\n "Rome burned."] ',
        ["Rome fell.", "Rome burned."],
    ],
)
def test_the_two_sentences_of_a_cell_are_found(cell: object) -> None:
    assert two_sentences(cell) == ("Rome fell.", "Rome burned.")


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (None, "is empty"),
        ("", "is empty"),
        (" \n ", "is empty"),
        (5, "not text"),
        ("Rome fell.", "one text only"),
        ("Rome fell.\nRome burned.\nRome rose.", "holds 3 texts"),
        ("a\tb\tc", "holds 3 texts"),
        ("a\\nb\\nc", "holds 3 texts"),
        ("a\tb\nc", "a line end and a tab both"),
        ('["a", "b", "c"]', "holds 3 texts"),
        ('["a"]', "one text only"),
        ('["a", ["b"], "c"]', "other than texts"),
        ("['a' 'b']", "cannot be read as two texts"),
        ("['a',\n'b', 'c']", "cannot be read as two texts"),
        ("['a', '\\d']", "cannot be read as two texts"),
        ("['a', __import__('os').getcwd(), 'b']", "cannot be read as two texts"),
        (["a", 1], "not text"),
        ("a\n" + "b" * 20_000, "more than 20,000 characters"),
    ],
)
def test_a_cell_without_exactly_two_sentences_is_refused_with_the_reason(cell: object, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        two_sentences(cell)
    assert not holds_two_sentences(cell)


def test_a_written_line_end_is_text_in_a_cell_that_something_else_divides() -> None:
    assert two_sentences("In C:\\new.\nIn D.") == ("In C:\\new.", "In D.")
    assert two_sentences("In C:\\new.\tIn D.") == ("In C:\\new.", "In D.")


def test_brackets_at_the_beginning_of_a_sentence_make_no_list() -> None:
    assert two_sentences("[25] A car.\nA car [26]") == ("[25] A car.", "A car [26]")
    assert two_sentences('"A car."\n"A van."') == ('"A car."', '"A van."')


@given(TEXTS, TEXTS)
def test_what_python_and_json_write_of_two_texts_is_read_again(a: str, b: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for written in (
            repr([a, b]),
            repr((a, b)),
            json.dumps([a, b]),
            json.dumps([a, b], ensure_ascii=False),
        ):
            assert two_sentences(written) == (a, b)
