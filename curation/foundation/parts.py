"""Lists of bounded size: a statement has a bounded number of values."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def in_parts(items: Iterable[Item], size: int = 5_000) -> Iterator[list[Item]]:
    """The items in lists of this size: a statement has a bounded number of values."""
    iterator = iter(items)
    while part := list(islice(iterator, size)):
        yield part
