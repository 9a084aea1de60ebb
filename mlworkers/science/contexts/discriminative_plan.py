"""Every setting of training a discriminative model: it tells which sentence belongs in a context.

The sentence that belongs in a context is the one that the corpus has between what is before it and what is after it.
Needs neither torch nor Django.
"""

from dataclasses import dataclass
from enum import StrEnum

from mlworkers.plans.fields import (
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
)
from mlworkers.science.contexts.plan import (
    OURS,
    corpus_setting,
    evaluated_setting,
    held_out_setting,
    places_setting,
    steps_setting,
    vocabulary_setting,
    window_setting,
)

_PAPER = "Sun et al. 2022, section 3.2.1"


class Reader(StrEnum):
    """What makes the vector of a sentence."""

    BILSTM = "bilstm"  # [last forward state; last backward state] (section 3.2.1)
    FROZEN = "frozen"


class Head(StrEnum):
    """How the vectors of a sentence and of its context become a probability."""

    INTERACTION = "interaction"  # of [h_c, h_c ∘ h_s, |h_c - h_s|] for each slot c, and h_s
    LITERAL = "literal"  # p = σ(hᵀ [h_<, h_s, h_>]): a sum of one term each


class Sides(StrEnum):
    """How the sentences of each side of a context are put together."""

    CONCATENATED = "concatenated"  # left + right slots
    MEAN = "mean"  # two slots, whatever the window


@dataclass(frozen=True)
class DiscriminativePlan:
    """A small model of p(y = 1 | s, c): 1 for the sentence of the corpus, 0 for another one in its place."""

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose text is used.")
    reader: Reader = setting(
        "Sentence vectors",
        "bilstm learns sentence vectors from the corpus. frozen takes those of the encoder below, which is "
        "faster. Only a small network above them is trained.",
        default=Reader.BILSTM,
        source=_PAPER,
        essential=True,
    )
    encoder: str = setting(
        "Encoder",
        "The encoder of frozen sentence vectors. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or a hub "
        "id.",
        default="packaged:all-MiniLM-L6-v2",
        refers_to="model",
        kinds=("encoder",),
        source=OURS,
    )
    # Interaction: (1 + 3k) · d features for k slots; literal: hᵀ of (1 + k) · d numbers.
    head: Head = setting(
        "Head",
        "interaction compares the sentence with each side of its context. literal is Eq. 1 of the paper, "
        "an ablation, which orders contexts alike for every sentence.",
        default=Head.INTERACTION,
        source="Ours. The paper has Eq. 1",
    )
    sides: Sides = setting(
        "Sides",
        "How the vectors of a side's sentences become one: concatenated, or their mean.",
        default=Sides.CONCATENATED,
        source=_PAPER,
    )
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    steps: int = steps_setting(default=1500)  # 48,000 places: 1.6 epochs of 30,000
    places: int = places_setting(
        "Each gives the sentence that the corpus has there, and another one in its place."
    )
    # Others of the same document are the harder negatives: they share its topic.
    same_document: float = setting(
        "From the same document",
        "Share of the other sentences that come from the same document. The rest come from the whole corpus.",
        default=0.5,
        bounds=(0, 1),
        source=_PAPER,
    )
    held_out: float = held_out_setting(
        "On it, the run measures how often the model finds the right sentence, and the right context."
    )
    evaluated: int = evaluated_setting(default=1000)
    # Both directions side by side: a sentence vector has 2 · 300 = 600 numbers, as in the paper.
    hidden: int = setting(
        "Hidden units",
        "Hidden units of the LSTM in each direction, and of the head.",
        default=300,
        bounds=(2, 2048),
        unit="units",
        source=_PAPER,
    )
    embedding: int = setting(
        "Token vectors",
        "Length of the vector of a token.",
        default=300,
        bounds=(2, 2048),
        source=OURS,
    )
    vocabulary: int = vocabulary_setting(default=8192)
    longest: int = setting(
        "Longest sentence",
        "The LSTM reads so many tokens of a sentence, and leaves out the rest.",
        default=64,
        bounds=(8, 2048),
        unit="tokens",
        source=OURS,
    )
    # Two examples a place: 32 places are 32 right sentences and 32 others.
    batch: int = setting(
        "Batch",
        "Number of examples in one training step.",
        default=32,
        bounds=(2, 4096),
        unit="places",
        source=OURS,
    )
    learning_rate: float = setting(
        "Learning rate", "Peak learning rate of AdamW.", default=1e-3, bounds=(1e-6, 0.1), source=OURS
    )
    warmup: float = setting(
        "Warm-up",
        "Share of all steps in which the learning rate rises. After that it falls to 0.",
        default=0.05,
        bounds=(0, 0.9),
    )
    weight_decay: float = setting("Weight decay", "Weight decay of AdamW.", default=0.01, bounds=(0, 1))
    device: str = device_setting()
    seed: int = seed_setting()
