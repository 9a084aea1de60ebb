"""Addresses that somebody typed, one in each line."""

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MOST_CHARACTERS = 254  # of an address (RFC 5321)


def addresses_in(text: str) -> list[str]:
    """Each line that is not empty, without spaces around it; the same address in other letters is left out."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        found.setdefault(line.casefold(), line)
    return list(found.values())


def is_address(text: str) -> bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return len(text) <= MOST_CHARACTERS
