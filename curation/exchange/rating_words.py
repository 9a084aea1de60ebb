"""What became of a file with one rating in each row, as sentences."""

from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


def ratings_in_words(facts: Mapping[str, int]) -> Iterator[str]:
    """facts: of `RatingFacts`."""
    numbers = {name: f"{number:,}" for name, number in facts.items()}
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
