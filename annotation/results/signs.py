"""Signs of carelessness in words. A sign stops nobody."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.annotators.carelessness import TIMES_AS_FAST, SignKind
from annotation.models import Participation


@dataclass(frozen=True)
class ShownSign:
    """A sign as a page shows it. accepted: a curator has looked at it and found it harmless."""

    kind: str
    tag: str
    reason: str
    accepted: bool


def signs_shown(person: Participation, signs: Collection[Mapping[str, Any]]) -> list[ShownSign]:
    """The person's signs, those that need a look first. signs: as of a study's row. None of excluded people: nothing
    of theirs counts any more.
    """
    if person.excluded:
        return []
    shown = [ShownSign(sign["kind"], *_words(sign), sign["kind"] in person.signs_accepted) for sign in signs]
    return sorted(shown, key=lambda sign: sign.accepted)


def _words(sign: Mapping[str, Any]) -> tuple[str, str]:
    """A word or two, and the sentence with the figures."""
    facts = {
        "n": sign["count"],
        "value": sign["value"],
        "expected": sign["expected"],
        "percent": 100 * sign["share"],
        "share": 100 * sign["value"],
        "chance": 100 * sign["expected"],
        "position": sign["position"],
        "times": TIMES_AS_FAST,
        "role": _("best") if sign["role"] == "best" else _("worst"),
    }
    kind = SignKind(sign["kind"])
    if kind is SignKind.SPEED:
        return _("too fast"), _(
            "Of the latest %(n)d answers, %(percent).0f %% took less time than reading at "
            "%(times)d times the usual speed: the median is %(value).1f s, and such reading takes %(expected).1f s."
        ) % facts
    if kind is SignKind.POSITION:
        return _("one position"), _(
            "Of %(n)d answers, %(share).0f %% name position %(position)d as %(role)s. By chance, %(chance).0f %% would."
        ) % facts
    if kind is SignKind.ORDER:
        return _("regular order"), _(
            "In %(share).0f %% of the latest %(n)d answers, the position of %(role)s follows from the one before. "
            "By chance, it would in %(chance).0f %%."
        ) % facts
    if kind is SignKind.RHYTHM:
        return _("even times"), _(
            "The latest %(n)d answers took nearly the same time each (standard deviation of log seconds %(value).2f; "
            "people have about .4)."
        ) % facts
    return _("low agreement"), _(
        "In %(n)d judgements, %(share).0f %% of the comparisons agree with everybody else. "
        "That is nearer to guessing (50 %%) than to the median of the others."
    ) % facts
