"""One bound holds for every number from outside."""

import re

import pytest

from curation.foundation.numbers import LARGEST, NumberConverter, NumberField, number_from


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("17", 17),
        ("9" * 18, LARGEST),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        ("١٧", None),
        ("²", None),
        ("1\0", None),
    ],
)
def test_a_text_is_a_number_or_none(text, number) -> None:
    assert number_from(text) == number
    assert bool(re.fullmatch(NumberConverter.regex, text)) == (number is not None)


@pytest.mark.parametrize("text", ["9" * 19, "-" + "9" * 19, "9" * 5000])
def test_a_field_refuses_what_no_database_stores(text) -> None:
    field = NumberField()

    with pytest.raises(Exception, match=r"less than|greater than|whole number"):
        field.clean(text)


def test_a_field_tells_the_browser_the_bounds_that_mean_something() -> None:
    assert NumberField(min_value=1).widget.attrs == {"min": 1}
