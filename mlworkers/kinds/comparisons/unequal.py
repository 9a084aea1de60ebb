"""Rows of a comparison that were trained on unequal numbers of examples, which alone can make their figures differ."""

from collections.abc import Mapping

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

MUCH = 1.1  # times as many examples: a tenth more steps


def differ_much(one: int | None, other: int | None) -> bool:
    """Whether a row has so many more examples than another that its steps may explain a difference."""
    return bool(one and other) and _times(one, other) > MUCH


def unequal_note(groups: Mapping[str, Mapping[str, int]]) -> str:
    """One sentence about the group of compared rows whose numbers of examples differ most; "" where none differ.

    groups: of each group the examples of its rows, by their labels.
    """
    extremes = [
        (min(rows.items(), key=_examples), max(rows.items(), key=_examples))
        for rows in groups.values()
        if rows
    ]
    unequal = [(fewest, most) for fewest, most in extremes if fewest[1] < most[1]]
    if not unequal:
        return ""
    fewest, most = max(unequal, key=lambda pair: _times(pair[0][1], pair[1][1]))
    return _(
        "The rows have from %(fewest)s training examples (%(first)s) to %(most)s (%(last)s): a row with fewer takes "
        "fewer steps and stays nearer to the model that training began with, so a difference may be due to that alone."
    ) % {"fewest": intcomma(fewest[1]), "first": fewest[0], "most": intcomma(most[1]), "last": most[0]}


def missing_note(missing: int | None) -> list[str]:
    """How many copies a row lacks; nothing where it lacks none."""
    sentence = ngettext("%(shown)s copy is missing", "%(shown)s copies are missing", missing or 0)
    return [sentence % {"shown": intcomma(missing)}] if missing else []


def _examples(row: tuple[str, int]) -> int:
    return row[1]


def _times(one: int | None, other: int | None) -> float:
    few, many = sorted((one or 0, other or 0))
    return many / few if few else float("inf")
