"""Which page of a list an address asks for."""

from django.http import HttpRequest

MOST_DIGITS = 9


def number_in(request: HttpRequest, name: str, default: int) -> int:
    """A number of the query string; whatever is none, or is longer than any could be, gives the default."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else default


def page_number(request: HttpRequest) -> int:
    return number_in(request, "page", 1)
