"""What became of a file with one rating in each row, as sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def ratings_in_words(facts: Mapping[str, Any]) -> Iterator[str]:
    """facts: of `RatingFacts`."""
    numbers = {name: f"{number:,}" for name, number in facts.items() if isinstance(number, int)}
    made = _("%(ratings)s ratings of %(pairs)s pairs: the score of a pair is their mean.")
    if facts["raters"]:
        made = _(
            "%(ratings)s ratings of %(pairs)s pairs by %(raters)s raters: the score of a pair is their mean."
        )
    yield made % numbers
    yield _(
        "The number of ratings and the standard error of their mean are stored with it. The standard deviation of the "
        "ratings is that error times the square root of their number."
    )
    if agreement := facts.get("agreement"):
        yield agreement_in_words(agreement)
    left_out = (
        ("rejected_assignments", ngettext(
            "%(n)s row of a rejected assignment is left out.",
            "%(n)s rows of rejected assignments are left out.",
            facts["rejected_assignments"],
        )),
        ("second_ratings", ngettext(
            "%(n)s row is a second rating of a pair by the same person and is left out; the first counts.",
            "%(n)s rows are second ratings of a pair by the same person and are left out; the first counts.",
            facts["second_ratings"],
        )),
        ("unrated", ngettext(
            "%(n)s row has no rating.", "%(n)s rows have no rating.", facts["unrated"]
        )),
    )  # fmt: skip
    yield from (sentence % {"n": numbers[name]} for name, sentence in left_out if facts[name])


def agreement_in_words(agreement: Mapping[str, Any]) -> str:
    """agreement: of `RaterAgreement`."""
    values = {
        name: f"{found['value']:.3f}"
        + (f" ({found['low']:.3f} to {found['high']:.3f})" if found["low"] is not None else "")
        for name in ("one", "mean", "two", "two_mean", "alpha")
        if (found := agreement[name])
    }
    sentence = _(
        "How far raters agree on the %(pairs)s pairs with several ratings: ICC(1) %(one)s of one rating and %(mean)s "
        "of a pair’s mean rating, Krippendorff’s alpha %(alpha)s. In brackets: 95 %% intervals."
    )
    if "two" in values:
        sentence += " " + _(
            "All raters rated all pairs: ICC(2) %(two)s of one rater and %(two_mean)s of their mean."
        )
    return sentence % (values | {"pairs": f"{agreement['pairs']:,}"})
