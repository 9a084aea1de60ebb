"""The names of the measures and of the groups of pairs, for code that computes and for pages that show."""

from enum import StrEnum

BLEU = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4")
DISTINCT = ("Distinct-1", "Distinct-2", "Distinct-3")
ZIPF = "Zipf coefficient"
OVERLAP = (*BLEU, "BLEU-N", "Jaccard")
DIVERSITY = (*DISTINCT, "Distinct-N", ZIPF)
MEASURES = (*OVERLAP, *DIVERSITY)
SUMMARY = ("BLEU-N", "Jaccard", "Distinct-N", ZIPF)  # RISE, Table 1


class Group(StrEnum):
    HUMAN = "human"
    GENERATED = "generated"
    HIGHEST = "highest p_D"
    LOWEST = "lowest p_D"
