"""Cells that hold both sentences of a pair. What divides such a cell into two is decided here and nowhere else."""

import ast
import re
from collections.abc import Sequence

from curation.files.json_text import json_from

CELL_MOST_CHARACTERS = 20_000

# A text as Python's repr writes it. No other escapes: Python would warn of some, and nobody's repr writes them.
_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_TEXT = rf"""(u?'(?:[^'\\\r\n]|{_ESCAPE})*'|u?"(?:[^"\\\r\n]|{_ESCAPE})*")"""
_LIST_OF_TWO = re.compile(rf"\[\s*{_TEXT}\s*,\s*{_TEXT}\s*,?\s*\]|\(\s*{_TEXT}\s*,\s*{_TEXT}\s*,?\s*\)")
_LIST = re.compile(r"""\[\s*u?['"].*['"]\s*,?\s*\]|\(\s*u?['"].*['"]\s*,?\s*\)""", re.DOTALL)
_LINE_ENDS = re.compile(r"[\r\n]+")
# In a file of one line a row, writers put a backslash and an n for the line end.
_WRITTEN_LINE_ENDS = re.compile(r"(?:\\r)?\\n")


def two_sentences(cell: object) -> tuple[str, str]:
    """The two sentences of a cell, without white space at their ends and otherwise as they stand.

    The cell is a list of two texts (a JSON array, or a text that JSON or Python wrote of such a list), or one text
    with line ends between the sentences (STR-2022, SemRel 2024) or, without these, a tab, or else a line end that
    is written as a backslash and an n. Raises ValueError with the reason where it does not hold exactly two
    sentences, or a line end and a tab both divide it.
    """
    if isinstance(cell, str):
        texts = _texts(cell)
    elif isinstance(cell, list | tuple) and all(isinstance(text, str) for text in cell):
        texts = cell
    else:
        raise ValueError("the cell is empty" if cell is None else "the cell is not text")
    filled = [text.strip() for text in texts if text.strip()]
    if len(filled) != 2:
        count = {0: "is empty", 1: "holds one text only"}.get(len(filled), f"holds {len(filled)} texts")
        raise ValueError(
            f"the cell {count}; it must hold two sentences, with a line end or a tab between them"
        )
    return filled[0], filled[1]


def fault_of_pair(cell: object) -> str:
    """Why the cell does not hold two sentences; empty where it does."""
    try:
        two_sentences(cell)
    except ValueError as error:
        return str(error)
    return ""


def holds_two_sentences(cell: object) -> bool:
    return not fault_of_pair(cell)


def may_hold_two_sentences(cell: object) -> bool:
    """False for most cells that hold one sentence, at little cost."""
    if not isinstance(cell, str):
        return isinstance(cell, list | tuple)
    return "\n" in cell or "\t" in cell or "\r" in cell or "\\n" in cell or cell.lstrip()[:1] in ("[", "(")


def _texts(cell: str) -> Sequence[str]:
    if len(cell) > CELL_MOST_CHARACTERS:
        raise ValueError(f"the cell has more than {CELL_MOST_CHARACTERS:,} characters")
    text = cell.strip()
    if _LIST.fullmatch(text):
        # The texts of a list that JSON or Python wrote.
        try:
            listed = json_from(text)
        except ValueError:
            matched = _LIST_OF_TWO.fullmatch(text)
            if matched is None:
                raise ValueError("the list in the cell cannot be read as two texts") from None
            listed = [ast.literal_eval(each) for each in matched.groups() if each is not None]
        texts = [each for each in listed if isinstance(each, str)]
        if len(texts) < len(listed):
            raise ValueError("the list in the cell holds something other than texts")
        return texts
    by_line, by_tab = (
        [part for part in parts if part.strip()] for parts in (_LINE_ENDS.split(text), text.split("\t"))
    )
    if len(by_line) == len(by_tab) == 2:
        raise ValueError(
            "a line end and a tab both divide the cell into two sentences; leave only one of them"
        )
    divided = next((parts for parts in (by_line, by_tab) if len(parts) > 1), None)
    return divided or _WRITTEN_LINE_ENDS.split(text)
