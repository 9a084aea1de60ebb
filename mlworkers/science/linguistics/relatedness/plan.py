"""Every setting of an analysis of what makes pairs related."""

from dataclasses import dataclass

from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import (
    PlanError,
    dataset_setting,
    generated_pairs_setting,
    seed_setting,
    setting,
    snapshot_setting,
)

FROM_PIPELINE = ""
STR_PAPER = "STR paper, section 5"


@dataclass(frozen=True)
class RelatednessPlan:
    """Every number that shapes an analysis of what makes pairs related."""

    dataset: str = dataset_setting()
    score_set: str = setting(
        "Score set",
        "Human or reference scores, with which each feature is correlated.",
        refers_to="score set",
        kinds=("human", "reference"),
    )
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    pipeline: str = setting(
        "spaCy pipeline",
        "A pipeline such as en_core_web_md, or its folder. It finds parts of speech, subjects and objects. "
        "Empty: these features are left out.",
        default="",
        refers_to="pipeline",
    )
    vectors: str = setting(
        "Word vectors",
        "The path of word vectors (word2vec, GloVe) or of a StaticEmbedding folder. A file may be packed "
        "with gzip. Empty: the vectors of the spaCy pipeline.",
        default=FROM_PIPELINE,
        refers_to="word vectors",
    )
    least_share: float = setting(
        "Least share of pairs",
        "Smallest share of pairs in which both sentences have a part of speech that is shown.",
        default=0.1,
        bounds=(0.0, 1.0),
        source=STR_PAPER,
    )
    resamples: int = setting(
        "Resamples",
        "Number of resamples for the intervals. They are of the pairs.",
        default=1000,
        bounds=(100, 100_000),
        source="docs/guide/explain/relatedness.md",
    )
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    seed: int = seed_setting(default=1234)


class RelatednessError(PlanError):
    """The word vectors or the pipeline cannot be used. One sentence."""
