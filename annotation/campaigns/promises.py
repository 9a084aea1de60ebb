"""A design's certificate in sentences."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


class Promise(NamedTuple):
    """What a design guarantees, or (not kept) where it falls short."""

    kept: bool
    sentence: str


def promises(certificate: Mapping[str, Any]) -> list[Promise]:
    rules = (_balance, _once, _meetings, _connected, _places, _apart)
    return [rule(certificate) for rule in rules] if certificate else []


def _balance(certificate: Mapping[str, Any]) -> Promise:
    fewest, most = certificate["min_appearances"], certificate["max_appearances"]
    if fewest == most:
        return Promise(True, _("Every pair is in exactly %(number)d tuples.") % {"number": fewest})
    sentence = _("Every pair is in %(fewest)d to %(most)d tuples.") % {"fewest": fewest, "most": most}
    return Promise(most - fewest <= 1, sentence)


def _once(certificate: Mapping[str, Any]) -> Promise:
    twice = certificate["duplicate_tuples"]
    if not twice:
        return Promise(True, _("No tuple is in the design twice."))
    return Promise(
        False,
        ngettext("%(n)d tuple is in the design twice.", "%(n)d tuples are in the design twice.", twice)
        % {"n": twice},
    )


def _meetings(certificate: Mapping[str, Any]) -> Promise:
    repeated, fewest = certificate["repeated_meetings"], certificate["fewest_repeated_meetings"]
    if not repeated:
        return Promise(
            True, _("No two pairs are compared more than once, so every judgement compares something new.")
        )
    sentence = _(
        "Pairs are compared again %(repeated)d times. With so few pairs, at least "
        "%(fewest)d repetitions cannot be avoided. "
        "Any two pairs are compared %(least)d to %(most)d times."
    )
    times = [int(number) for number, pairs in certificate["meetings"].items() if pairs]
    facts = {"repeated": repeated, "fewest": fewest, "least": min(times), "most": max(times)}
    return Promise(repeated <= fewest, sentence % facts)


def _connected(certificate: Mapping[str, Any]) -> Promise:
    parts = certificate["components"]
    if parts == 1:
        return Promise(
            True, _("All pairs are connected by comparisons, so their scores are on the same scale.")
        )
    sentence = _(
        "The pairs fall into %(parts)d groups that are never compared with each other. Raise the tuples per pair."
    )
    return Promise(False, sentence % {"parts": parts})


def _places(certificate: Mapping[str, Any]) -> Promise:
    fewest, most = certificate["min_place"], certificate["max_place"]
    if fewest == most:
        sentence = _(
            "Every pair is %(most)d times at each position of the design. Each person sees another order."
        )
    else:
        sentence = _(
            "Every pair is %(fewest)d to %(most)d times at each position of the design. Each person sees another order."
        )
    return Promise(most - fewest <= 1, sentence % {"fewest": fewest, "most": most})


def _apart(certificate: Mapping[str, Any]) -> Promise:
    shared = certificate["shared_sentences"]
    if not shared:
        return Promise(True, _("Two pairs that share a sentence are never annotated together."))
    sentence = ngettext(
        "%(n)d comparison is of pairs that share a sentence.",
        "%(n)d comparisons are of pairs that share a sentence.",
        shared,
    )
    return Promise(False, sentence % {"n": shared})
