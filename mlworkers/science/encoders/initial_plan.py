"""Every number that shapes an encoder that has learned nothing yet."""

from dataclasses import dataclass
from functools import partial

from mlworkers.plans.fields import (
    check_width,
    dataset_setting,
    seed_setting,
    setting,
    width_setting,
)

SOURCE = "docs/guide/how-to/train-and-compare.md"
ours = partial(setting, source=SOURCE)


@dataclass(frozen=True)
class InitialEncoderPlan:
    """A small BERT with random weights, and a tokenizer learned from a dataset's own sentences."""

    dataset: str = dataset_setting()
    split: str = setting(
        "Split",
        "Only pairs of this split are used. The tokenizer learns from the sentences that people wrote in "
        "them, without near copies of sentences of other splits.",
        default="train",
        offered="split",
    )
    layers: int = ours(
        "Layers", "Number of layers of the transformer.", default=2, bounds=(1, 48), essential=True
    )
    width: int = width_setting(default=128, source=SOURCE, essential=True)  # heads of equal width share it
    vocabulary: int = ours(
        "Vocabulary",
        "Most tokens of the tokenizer, which is learned.",
        default=4096,
        bounds=(300, 65_536),
        unit="tokens",
    )
    context: int = ours(
        "Longest text", "Longer sentences are cut off.", default=128, bounds=(8, 4096), unit="tokens"
    )
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        check_width(self.width)
