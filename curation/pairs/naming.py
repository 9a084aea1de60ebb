"""What files call pairs."""

from collections import Counter
from collections.abc import Iterable


def file_ids(ids: Iterable[tuple[str, str, str]]) -> list[str]:
    """The ids of pairs in a file, from (source, split, id): behind source and split where others have the id too."""
    named = list(ids)
    times = Counter(name for *_rest, name in named)
    return [
        name if times[name] == 1 else "/".join(filter(None, (source, split, name)))
        for source, split, name in named
    ]
