"""Which generated pairs belong to an export, to a snapshot, and to what a run trains and evaluates on."""

from enum import StrEnum


class Inclusion(StrEnum):
    """All pairs that people made are included, and of generated pairs those that are active and

    ALL_BUT_REJECTED: were not rejected, so also those that nobody has reviewed;
    KEPT: have a sentence that a curator kept or edited;
    HUMAN: none.
    """

    ALL_BUT_REJECTED = "all but rejected"
    KEPT = "kept only"
    HUMAN = "human only"


# What snapshots, exports and plans meant before they named a choice.
UNNAMED = Inclusion.ALL_BUT_REJECTED
INCLUSIONS = tuple(choice.value for choice in Inclusion)
EXPLAINED = (
    "Which pairs with a machine-written sentence count. “all but rejected” includes sentences that nobody "
    "has reviewed, “kept only” includes those that a curator kept or edited, and “human only” includes "
    "none."
)
