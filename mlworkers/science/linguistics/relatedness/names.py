"""The names of the features, for code that computes and for pages that show."""

from collections.abc import Mapping

DICE, ALL, SUBJECTS, OBJECTS = "Dice", "all words", "subjects", "objects"
GROUPS: Mapping[str, frozenset[str]] = {  # STR paper, table 4
    "noun group": frozenset({"NOUN", "PRON", "PROPN"}),
    "verb group": frozenset({"VERB", "AUX"}),
    "adjective group": frozenset({"ADJ", "ADP", "ADV"}),
}
MAIN = (DICE, ALL, *GROUPS, SUBJECTS, OBJECTS)  # the others are parts of these
