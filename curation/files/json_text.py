"""JSON that somebody else may have written. Whatever is wrong with it is a ValueError."""

import json
from typing import Any


def json_from(text: str | bytes) -> Any:
    """What the text says. Raises ValueError for every text that is not JSON, or is more than a parser should follow.

    `json.loads` answers a text that is nested deeply with a RecursionError, and a number of thousands of digits with
    advice to change the interpreter.
    """
    try:
        return json.loads(text)  # noqa: TID251
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:
        raise ValueError("it holds a number with too many digits") from error
