"""JSON that somebody else may have written. Whatever is wrong with it is a ValueError."""

import json
from typing import Any

# More than anybody needs, and so few that whatever follows each level by calling itself comes to an end.
LEVELS_MOST = 100


def json_from(text: str | bytes) -> Any:
    """What the text says. Raises ValueError for every text that is not JSON, or is more than a parser should follow.

    `json.loads` answers a text that is nested deeply with a RecursionError, and a number of thousands of digits with
    advice to change the interpreter.
    """
    try:
        read = json.loads(text)  # noqa: TID251
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:
        raise ValueError("it holds a number with too many digits") from error
    if nested_deeply(read):
        raise ValueError("it is nested too deeply")
    return read


def nested_deeply(read: Any) -> bool:
    """Whether lists and objects stand in each other on more than LEVELS_MOST levels."""
    level, levels = [read], 0
    while level:
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
        level, levels = [value for value in inner if isinstance(value, dict | list)], levels + 1
        if levels > LEVELS_MOST:
            return True
    return False
