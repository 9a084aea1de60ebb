"""Every number that shapes a generator trained on the spot, and the pairs that a generator writes."""

from dataclasses import dataclass
from typing import Any

from mlworkers.plan_fields import DATASET, DEVICE, PlanError, SettingName, setting
from mlworkers.synthesis.prompts import Task, labels_listed, task_named

HELD_OUT = frozenset({"dev", "development", "eval", "evaluation", "test", "val", "valid", "validation"})
DINO = "DINO (Schick and Schütze 2021), section 3 and its published settings"
RISE = "RISE (2022), appendix; DINO's post-processing"
OURS = "Measured on two processor cores; docs/guide/generation.md"

_TASK: dict[str, Any] = {
    "label": "Instructions",
    "help": "“sentences” or “questions”, DINO's instructions; or a specification of your own, as JSON in "
    "DINO's form.",
    "source": DINO,
}


@dataclass(frozen=True)
class BootstrapPlan:
    """A small GPT-2 that learns to follow the instructions from a dataset's own scored pairs."""

    dataset: str = setting(**DATASET)
    score_set: str = setting(
        "Score set",
        "Its scores, brought to 0..1, say which instruction a pair answers: that of the nearest label.",
        refers_to="score set",
        kinds=("reference", "human", "model"),
    )
    split: str = setting(
        "Split",
        "Only pairs of this split are used, and no pair with a near copy of a sentence of another split.",
        default="train",
    )
    task: str = setting(default="sentences", **_TASK)
    steps: int = setting(
        "Steps", "Number of training steps.", default=2000, low=1, high=1_000_000, source=OURS, essential=True
    )
    minutes: float = setting(
        "Time limit",
        "Training ends after this time even if steps are left. The result says so, and cannot be "
        "repeated exactly.",
        default=10.0,
        unit="minutes",
        low=0.01,
        high=10_000,
        essential=True,
    )
    layers: int = setting(
        "Layers", "Number of layers of the transformer.", default=4, low=1, high=48, source=OURS
    )
    width: int = setting(
        "Width",
        "Length of the vector of a token: a multiple of 32.",
        default=256,
        low=32,
        high=2048,
        source=OURS,
    )
    vocabulary: int = setting(
        "Vocabulary",
        "Maximum number of tokens of the tokenizer.",
        default=4096,
        unit="tokens",
        low=300,
        high=65_536,
        source=OURS,
    )
    context: int = setting(
        "Longest text",
        "Maximum length of an instruction with both sentences. Longer pairs are left out and counted.",
        default=256,
        unit="tokens",
        low=32,
        high=4096,
    )
    batch: int = setting(
        "Batch",
        "Number of examples in one training step. A pair makes two examples.",
        default=16,
        unit="examples",
        low=2,
        high=4096,
        source=OURS,
    )
    learning_rate: float = setting(
        "Learning rate", "Peak learning rate.", default=2e-3, low=1e-6, high=0.1, source=OURS
    )
    warmup: float = setting(
        "Warm-up",
        "Share of the steps in which the learning rate rises. After that it falls to 0.",
        default=0.05,
        low=0,
        high=0.9,
    )
    weight_decay: float = setting("Weight decay", "Weight decay of AdamW.", default=0.1, low=0, high=1)
    device: str = setting(default="auto", **DEVICE)
    seed: int = setting(
        "Seed", "Seed of the weights and of the order of examples.", default=42, low=0, high=2**31 - 1
    )

    def __post_init__(self) -> None:
        task_named(self.task)
        _refuse_held_out(self.split)
        if self.width % 32:
            raise PlanError(
                "“%(setting)s” is %(width)d; give a multiple of 32, the width of an attention head.",
                setting=SettingName("width"),
                width=self.width,
            )


@dataclass(frozen=True)
class GenerationPlan:
    """Second sentences for human ones, by self-debiased decoding. Defaults: DINO and RISE."""

    dataset: str = setting(**DATASET)
    model: str = setting(
        "Language model",
        "A causal language model: run:ID of a generator trained here, a folder, or a hub id such as "
        "openai-community/gpt2-xl.",
        refers_to="model",
        kinds=("generator",),
    )
    split: str = setting(
        "Split",
        "The sources are sentences of this split, but no near copy of a sentence of another split such "
        "as dev or test.",
        default="train",
    )
    task: str = setting(default="sentences", **_TASK)
    sources: int = setting(
        "Source sentences",
        "Maximum number of sentences that are drawn.",
        default=300,
        low=1,
        high=1_000_000,
        source="RISE: up to 10,000",
        essential=True,
    )
    labels: str = setting(
        "Labels", "The target similarities, separated by commas.", default="0,0.5,1", source=DINO
    )
    samples: int = setting(
        "Samples",
        "Number of sentences written for each source and label.",
        default=5,
        low=1,
        high=100,
        source=DINO,
    )
    top_k: int = setting(
        "Top k",
        "Only this many of the most likely tokens can be drawn. 0 means all.",
        default=5,
        low=0,
        high=10_000,
        source=DINO,
    )
    top_p: float = setting(
        "Top p",
        "Of these, only the fewest that together have this share of the probability. 1 means all.",
        default=0.9,
        low=0.01,
        high=1,
        source=DINO,
    )
    decay: float = setting(
        "Decay",
        "λ: how fast a token loses probability if the prompt of another label prefers it.",
        default=100.0,
        low=0,
        high=1e6,
        source=DINO,
    )
    floor: float = setting(
        "Floor",
        "ε: the smallest share of its probability that a token keeps.",
        default=0.01,
        low=1e-6,
        high=1,
        source=DINO,
    )
    max_tokens: int = setting(
        "Longest answer",
        "A sentence that has no closing quote by then is dropped.",
        default=40,
        unit="tokens",
        low=1,
        high=1000,
        source=DINO,
    )
    self_debiasing: bool = setting(
        "Self-debiasing",
        "If it is off, only the prompt of the label itself decides.",
        default=True,
        source=DINO,
    )
    keep: int = setting(
        "Kept for each label",
        "Maximum number of sentences that are kept for each source and label.",
        default=2,
        low=1,
        high=100,
        source=RISE,
    )
    sampled: int = setting(
        "Sampled partners",
        "Number of partners added for each source: sentences written for other sources, with the "
        "target similarity 0.",
        default=2,
        low=0,
        high=100,
        source=RISE,
    )
    smoothing: float = setting(
        "Label smoothing",
        "0.2 turns the labels 0, 0.5 and 1 into the target similarities 0.1, 0.5 and 0.9.",
        default=0.2,
        low=0,
        high=1,
        source=RISE,
    )
    least_words: int = setting(
        "Fewest words", "A shorter sentence is dropped.", default=1, unit="words", low=1, high=100
    )
    near_duplicate: float = setting(
        "Near duplicate",
        "A sampled partner is refused if it shares this share, or more, of all words with the source.",
        default=0.7,
        low=0.05,
        high=1,
    )
    most_rows: int = setting(
        "Most rows",
        "Maximum number of rows that are kept, sampled partners included. 0 means no limit.",
        default=0,
        low=0,
        high=10_000_000,
        essential=True,
    )
    shard_sources: int = setting(
        "Sources of a shard",
        "Number of sources in one shard. Several workers can share the shards of a run.",
        default=20,
        low=1,
        high=10_000,
    )
    rows_at_a_time: int = setting(
        "Rows at a time",
        "0 chooses a number that suits the device. Fewer rows need less memory.",
        default=0,
        low=0,
        high=100_000,
    )
    device: str = setting(default="auto", **DEVICE)
    precision: str = setting(
        "Precision",
        "float32 gives the same figures on all machines. auto uses bfloat16 on a GPU that supports it.",
        default="float32",
        choices=("float32", "bfloat16", "float16", "auto"),
    )
    seed: int = setting("Seed", "Seed of the draws.", default=42, low=0, high=2**31 - 1, source=DINO)

    def __post_init__(self) -> None:
        _refuse_held_out(self.split)
        labels_listed(self.labels, self.instructions)
        if self.model.startswith("packaged:"):
            raise PlanError(
                "%(model)s is a sentence encoder, which writes nothing; name a causal language model, such "
                "as "
                "run:ID of a generator trained here.",
                model=self.model,
            )

    @property
    def instructions(self) -> Task:
        return task_named(self.task)

    @property
    def label_list(self) -> tuple[str, ...]:
        return labels_listed(self.labels, self.instructions)


def _refuse_held_out(split: str) -> None:
    if split.strip().lower() in HELD_OUT:
        raise PlanError(
            "The split “%(split)s” is held out: sentences written from it would give away the answers to "
            "the test; name "
            "the split to train on.",
            split=split,
        )
