"""Every setting of training a labeller: a cross-encoder that gives the similarity of a pair."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlworkers.plans.fields import (
    clip_setting,
    dataset_setting,
    device_setting,
    setting,
    snapshot_setting,
    warmup_setting,
    weight_decay_setting,
)
from mlworkers.science.encoders.plan import SEEDS_MAX, first_seed_setting
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength

_PAPER = "ConPGS paper, section 3.1 and appendix A"
_CROSS_ENCODERS = "sentence-transformers, CrossEncoder"


@dataclass(frozen=True)
class LabellerPlan:
    """Labellers of several seeds, of which the one that agrees best with the scores of dev pairs is kept."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Base model",
        "The model that is trained further. Give an encoder or a cross-encoder: packaged:all-MiniLM-L6-v2, "
        "run:ID, a folder or a hub id such as microsoft/deberta-v3-large.",
        refers_to="model",
        kinds=("encoder", "labeller"),
    )
    scores: str = setting(
        "Training scores",
        "The training scores: human or reference scores, or those of a model. Similarities from contexts "
        "are those of a model. A scorer that is trained on these is a student encoder.",
        refers_to="score set",
        kinds=("reference", "human", "model"),
    )
    split: str = setting(
        "Training split", "Only pairs of this split are used.", default="train", offered="split"
    )
    dev_split: str = setting(
        "Dev split",
        "The split that chooses the best scorer, by Spearman's correlation. Empty: a share of the training "
        "pairs is drawn for it.",
        default="",
        essential=True,
        offered="split",
    )
    dev_share: float = setting(
        "Share of dev pairs",
        "Share of the training pairs that become dev pairs without a dev split. Pairs that are connected "
        "by shared sentences are on one side.",
        default=0.1,
        bounds=(0.01, 0.5),
    )
    # The paper keeps the best of ten by Spearman's correlation on dev pairs.
    seeds: int = setting(
        "Seeds",
        "Number of trainings, each with another seed. Each gives a scorer.",
        default=10,
        bounds=(1, SEEDS_MAX),
        source=_PAPER,
        essential=True,
    )
    first_seed: int = first_seed_setting()
    benchmark: str = setting(
        "Benchmark",
        "The published benchmark of the scores, such as STS-B. What is chosen by this scorer carries the "
        "name. Empty: found by the names of the dataset and of its sources.",
        default="",
    )
    # The paper states neither the epochs nor the learning rate of its labeller.
    epochs: int = setting("Epochs", "Number of times that each example is used.", default=4, bounds=(1, 100))
    batch_size: int = setting(
        "Batch size",
        "Number of examples in one training step.",
        default=16,
        bounds=(1, 4096),
        unit="pairs",
        source=_CROSS_ENCODERS,
    )
    learning_rate: float = setting(
        "Learning rate",
        "Peak learning rate of AdamW.",
        default=2e-5,
        bounds=(1e-8, 1.0),
        source=_CROSS_ENCODERS,
    )
    warmup: float = warmup_setting(default=0.1)
    weight_decay: float = weight_decay_setting(default=0.01, source=_CROSS_ENCODERS)
    clip: float = clip_setting()
    # Of both texts and the marks together.
    max_length: int = setting(
        "Longest input",
        "A longer pair is cut off. The limit of the model holds too.",
        default=128,
        bounds=(8, 8192),
        unit="tokens",
    )
    snapshot: int = snapshot_setting()
    device: str = device_setting()

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    def loop(self, seed: int) -> LoopPlan:
        return LoopPlan(self.learning_rate, seed, weight_decay=self.weight_decay, clip=self.clip)

    def schedule(self, lengths: Sequence[int], seed: int) -> BatchesOfLikeLength:
        """Of pairs with so many tokens. Dev pairs are scored after each epoch."""
        return BatchesOfLikeLength(
            np.array(lengths, dtype=np.int64),
            batch_size=self.batch_size,
            steps=self.steps(len(lengths)),
            warmup=self.warmup,
            seed=seed,
            evaluated=True,
        )

    def steps(self, pairs: int) -> int:
        return self.epochs * math.ceil(pairs / self.batch_size)
