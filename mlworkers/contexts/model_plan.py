"""Every setting of training a language model for contexts on a corpus itself."""

from dataclasses import dataclass

from mlworkers.contexts.plan import OURS, corpus_setting, window_setting
from mlworkers.plan_fields import SEEDS, check_width, dataset_setting, device_setting, setting, width_setting


@dataclass(frozen=True)
class ContextModelPlan:
    """A small encoder-decoder that learns from a corpus to write a sentence from its context, what is before a sentence
    from the rest, and what is after it from the rest.
    """

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose text the model learns from.")
    steps: int = setting(
        "Steps",
        "Number of training steps.",
        default=3000,
        bounds=(1, 1_000_000),
        source=OURS,
        essential=True,
    )
    places: int = setting(
        "Places",
        "How many places of the corpus are drawn to train on. Each gives three examples. 0 means all.",
        default=30_000,
        bounds=(0, 5_000_000),
        source=OURS,
        essential=True,
    )
    held_out: float = setting(
        "Held-out share",
        "The share of the corpus that the model does not learn from. On it, the model is compared with the frequencies "
        "of tokens.",
        default=0.05,
        bounds=(0.001, 0.5),
        source=OURS,
    )
    evaluated: int = setting(
        "Held-out places",
        "How many held-out places are looked at, at most.",
        default=500,
        bounds=(10, 100_000),
        source=OURS,
    )
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    layers: int = setting(
        "Layers", "Of the encoder and of the decoder.", default=2, bounds=(1, 48), source=OURS
    )
    width: int = width_setting(default=128, source=OURS)
    vocabulary: int = setting(
        "Vocabulary",
        "Maximum number of tokens of the tokenizer, which is learned from the corpus.",
        default=4096,
        bounds=(300, 65_536),
        unit="tokens",
        source=OURS,
    )
    part_tokens: int = setting(
        "Longest part",
        "The most tokens of a sentence, of what is before it and of what is after it. Longer contexts are cut at their "
        "far ends; places with a longer sentence are left out.",
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
        "Learning rate", "Peak learning rate.", default=2e-3, bounds=(1e-6, 0.1), source=OURS
    )
    warmup: float = setting(
        "Warm-up",
        "Share of the steps in which the learning rate rises. After that it falls to 0.",
        default=0.05,
        bounds=(0, 0.9),
    )
    weight_decay: float = setting("Weight decay", "Weight decay of AdamW.", default=0.01, bounds=(0, 1))
    device: str = device_setting()
    seed: int = setting(
        "Seed", "Seed of the weights, of the places and of their order.", default=42, bounds=SEEDS
    )

    def __post_init__(self) -> None:
        check_width(self.width)
