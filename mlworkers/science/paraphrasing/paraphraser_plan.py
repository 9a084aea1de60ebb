"""Every setting of training a paraphraser."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    check_width,
    clip_setting,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    warmup_setting,
    weight_decay_setting,
    width_setting,
)
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength

_PAPER = "ConPGS paper, section 3.4 and appendix A"
_OF_SCRATCH = "docs/guide/how-to/write-paraphrases.md"
# The paper's grid, of which 5e-6 was best there; random weights need larger steps.
FURTHER_RATES, SCRATCH_RATES = (5e-6, 1e-5, 2e-5), (1e-3,)
MOST_RATES = 8


@dataclass(frozen=True)
class ParaphraserPlan:
    """An encoder-decoder that learns to write the paraphrases of a selection from their tags and sources."""

    dataset: str = dataset_setting()
    selection: int = setting(
        "Selection",
        "The run “Select paraphrases” whose pairs are trained on.",
        refers_to="run",
        kinds=("select_paraphrases",),
        bounds=(1, None),
    )
    split: str = setting(
        "Split",
        "Human sentences of this split are warmed up on. None of them is held out.",
        default="train",
        offered="split",
    )
    model: str = setting(
        "Base model",
        "An encoder-decoder that is trained further, such as facebook/bart-base. Give a hub id, a folder, "
        "or run:ID. Empty: a small one with random weights, whose tokenizer is learned from the selection.",
        default="",
        refers_to="model",
        kinds=("paraphraser",),
        source="none",
    )
    learning_rates: str = setting(
        "Learning rates",
        "Numbers to try, separated by commas. The one with the lowest loss on dev pairs is kept. Empty: "
        "5e-6, 1e-5 and 2e-5 for a base model, 1e-3 for random weights.",
        default="",
        source=_PAPER,
        essential=True,
    )
    warm_up_epochs: int = setting(
        "Warm-up on sentences",
        "Number of times that the model first writes each sentence from an incomplete copy. The copies of "
        "the human sentences lack a tenth of the words. A model that begins with random weights needs it. "
        "0: none.",
        default=0,
        bounds=(0, 1000),
        unit="epochs",
        source=_OF_SCRATCH,
        essential=True,
    )
    warm_up_rate: float = setting(
        "Learning rate of the warm-up",
        "Peak learning rate while it writes sentences again.",
        default=2e-3,
        bounds=(1e-8, 1.0),
        source=_OF_SCRATCH,
    )
    # A bound: the patience below ends the training earlier.
    epochs: int = setting(
        "Most epochs",
        "Number of times that each example is used.",
        default=50,
        bounds=(1, 1000),
        essential=True,
    )
    patience: int = setting(
        "Patience",
        "The training ends after so many epochs without a lower loss on dev pairs.",
        default=5,
        bounds=(1, 1000),
        source=_PAPER,
    )
    batch_size: int = setting(
        "Batch size",
        "Number of examples in one training step.",
        default=128,
        bounds=(1, 4096),
        unit="pairs",
        source=_PAPER,
    )
    # The paper names AdamW and states neither of these; 0.01 is AdamW's default in torch.
    warmup: float = warmup_setting(default=0.0)
    weight_decay: float = weight_decay_setting(default=0.01)
    clip: float = clip_setting()
    # Targets (1 - ε) · one-hot + ε / V. Loss on dev pairs is without it.
    smoothing: float = setting(
        "Label smoothing",
        "Share of the probability that is spread over all tokens.",
        default=0.0,
        bounds=(0.0, 0.5),
    )
    layers: int = setting(
        "Layers",
        "Number of layers of the encoder and of the decoder, with random weights.",
        default=3,
        bounds=(1, 48),
        source=_OF_SCRATCH,
    )
    width: int = width_setting(default=256, source=_OF_SCRATCH)
    vocabulary: int = setting(
        "Vocabulary",
        "Most tokens of the tokenizer, which is learned.",
        default=8000,
        bounds=(280, 1_000_000),
        source=_OF_SCRATCH,
    )
    context: int = setting(
        "Longest input",
        "Pairs with a longer sentence are left out. The limit of a base model holds too.",
        default=128,
        bounds=(8, 8192),
        unit="tokens",
    )
    device: str = device_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        check_width(self.width)
        _rates = self.rates

    def loop(self, rate: float) -> LoopPlan:
        return LoopPlan(rate, self.seed, weight_decay=self.weight_decay, clip=self.clip)

    def schedule(self, lengths: Sequence[int]) -> BatchesOfLikeLength:
        """Of pairs with so many tokens, (n,)."""
        return self._schedule(lengths, self.epochs, evaluated=True)

    def warm_up_schedule(self, lengths: Sequence[int]) -> BatchesOfLikeLength:
        return self._schedule(lengths, self.warm_up_epochs, evaluated=False)

    def _schedule(self, lengths: Sequence[int], epochs: int, *, evaluated: bool) -> BatchesOfLikeLength:
        return BatchesOfLikeLength(
            np.array(lengths, dtype=np.int64),
            batch_size=self.batch_size,
            steps=self.steps(len(lengths), epochs),
            warmup=self.warmup,
            seed=self.seed,
            evaluated=evaluated,
        )

    def steps(self, rows: int, epochs: int) -> int:
        # An epoch's last batch may be smaller.
        return epochs * math.ceil(rows / self.batch_size)

    @property
    def rates(self) -> tuple[float, ...]:
        """The learning rates to try, in rising order. Raises PlanError for what is none."""
        if not self.learning_rates.strip():
            return FURTHER_RATES if self.model else SCRATCH_RATES
        try:
            rates = sorted({float(part) for part in self.learning_rates.split(",")})
        except ValueError:
            rates = []
        if not rates or len(rates) > MOST_RATES or not all(0 < rate <= 1 for rate in rates):
            raise PlanError(
                "“%(setting)s” is “%(value)s”; give 1 to %(most)d numbers above 0, separated by commas.",
                setting=SettingName("learning_rates"),
                value=self.learning_rates,
                most=MOST_RATES,
            )
        return tuple(rates)
