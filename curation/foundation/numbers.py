"""Whole numbers that come from outside: in paths, query strings, forms and bodies. One bound holds for all of them.

A row's number has at most 18 digits, so a longer one names nothing. It is refused before it reaches a database, which
would fail, or Python, which reads very long numbers slowly.
"""

from typing import Any

from django import forms
from django.http import HttpRequest

MOST_DIGITS = 18
LARGEST = 10**MOST_DIGITS - 1


def number_from(text: str) -> int | None:
    """The number from 0 that the text is; None where it is none, or is longer than any could be."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def number_asked(request: HttpRequest, name: str, default: int) -> int:
    """A number of the query string; what is not a number gives the default."""
    number = number_from(request.GET.get(name, ""))
    return default if number is None else number


def page_number(request: HttpRequest) -> int:
    return number_asked(request, "page", 1)


class NumberConverter:
    """`<number:pk>` in a path: an address with a longer number does not exist."""

    regex = f"[0-9]{{1,{MOST_DIGITS}}}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class NumberField(forms.IntegerField):
    """A whole number in a form, bounded on both sides."""

    def __init__(self, *, min_value: int = -LARGEST, max_value: int = LARGEST, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """A browser gets the bounds that mean something, and not the one that every number has."""
        attributes = super().widget_attrs(widget)
        return {name: value for name, value in attributes.items() if value not in {LARGEST, -LARGEST}}
