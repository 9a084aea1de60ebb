"""Every setting of training a language model for contexts on a corpus itself."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    check_width,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    width_setting,
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


@dataclass(frozen=True)
class ContextModelPlan:
    """A small encoder-decoder that learns from a corpus to write a sentence from its context, what is before a sentence
    from the rest, and what is after it from the rest.
    """

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose text is used.")
    steps: int = steps_setting(default=3000)  # 96,000 examples: about an epoch of 3 · 30,000
    places: int = places_setting("Each gives three examples.")
    held_out: float = held_out_setting("On it, the model is compared with the frequencies of tokens.")
    evaluated: int = evaluated_setting(default=500)
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    layers: int = setting(
        "Layers",
        "Number of layers of the encoder and of the decoder.",
        default=2,
        bounds=(1, 48),
        source=OURS,
    )
    width: int = width_setting(default=128, source=OURS)
    vocabulary: int = vocabulary_setting(default=4096)
    # Three parts and the marks around them are the model's longest input.
    part_tokens: int = setting(
        "Longest part",
        "Most tokens of a sentence, and of its context on each side. Longer contexts are cut at their far "
        "ends; places with a longer sentence are left out.",
        default=64,
        bounds=(8, 2048),
        unit="tokens",
        source=OURS,
    )
    batch: int = setting(
        "Batch",
        "Number of examples in one training step.",
        default=32,
        bounds=(1, 4096),
        unit="examples",
        source=OURS,
    )
    learning_rate: float = setting(
        "Learning rate", "Peak learning rate of AdamW.", default=2e-3, bounds=(1e-6, 0.1), source=OURS
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

    def __post_init__(self) -> None:
        check_width(self.width)
