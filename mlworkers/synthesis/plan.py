"""Every number that shapes a generator trained on the spot, and the pairs that a generator writes."""

from dataclasses import dataclass, field
from typing import Any

from mlworkers.plan_fields import Named, SettingError
from mlworkers.synthesis.prompts import Task, labels_listed, task_named

HELD_OUT = frozenset({"dev", "development", "eval", "evaluation", "test", "val", "valid", "validation"})
DINO = "DINO (Schick and Schütze 2021), section 3 and its published settings"
RISE = "RISE (2022), appendix; DINO's post-processing"
OURS = "Measured on two processor cores; docs/guide/generation.md"

_DATASET = {"label": "Dataset", "help": "Short name of the dataset.", "refers_to": "dataset"}
_TASK = {
    "label": "Instructions",
    "help": "“sentences” or “questions”, DINO's instructions; or a specification of your own, as JSON in "
    "DINO's form.",
    "source": DINO,
}
_DEVICE = {"label": "Device", "help": "auto uses a GPU if there is one. Or choose cpu, cuda, cuda:1 or mps."}


class PlanError(SettingError):
    """Settings that do not go together, or a text that names nothing. One sentence."""


def _about(label: str, text: str, **more: Any) -> dict[str, Any]:
    return {"label": label, "help": text, **more}


@dataclass(frozen=True)
class BootstrapPlan:
    """A small GPT-2 that learns to follow the instructions from a dataset's own scored pairs."""

    dataset: str = field(metadata=_DATASET)
    score_set: str = field(
        metadata=_about(
            "Score set",
            "Its scores, brought to 0..1, say which instruction a pair answers: that of the nearest label.",
            refers_to="score set",
            kinds=("reference", "human", "model"),
        )
    )
    split: str = field(
        default="train",
        metadata=_about(
            "Split",
            "Only pairs of this split are used, and no pair with a near copy of a sentence of another split.",
        ),
    )
    task: str = field(default="sentences", metadata=_TASK)
    steps: int = field(
        default=2000,
        metadata=_about(
            "Steps", "Number of training steps.", low=1, high=1_000_000, source=OURS, essential=True
        ),
    )
    minutes: float = field(
        default=10.0,
        metadata=_about(
            "Time limit",
            "Training ends after this time even if steps are left. The result says so, and cannot be "
            "repeated exactly.",
            unit="minutes",
            low=0.01,
            high=10_000,
            essential=True,
        ),
    )
    layers: int = field(
        default=4,
        metadata=_about("Layers", "Number of layers of the transformer.", low=1, high=48, source=OURS),
    )
    width: int = field(
        default=256,
        metadata=_about(
            "Width", "Length of the vector of a token: a multiple of 32.", low=32, high=2048, source=OURS
        ),
    )
    vocabulary: int = field(
        default=4096,
        metadata=_about(
            "Vocabulary",
            "Maximum number of tokens of the tokenizer.",
            unit="tokens",
            low=300,
            high=65_536,
            source=OURS,
        ),
    )
    context: int = field(
        default=256,
        metadata=_about(
            "Longest text",
            "Maximum length of an instruction with both sentences. Longer pairs are left out and counted.",
            unit="tokens",
            low=32,
            high=4096,
        ),
    )
    batch: int = field(
        default=16,
        metadata=_about(
            "Batch",
            "Number of examples in one training step. A pair makes two examples.",
            unit="examples",
            low=2,
            high=4096,
            source=OURS,
        ),
    )
    learning_rate: float = field(
        default=2e-3,
        metadata=_about("Learning rate", "Peak learning rate.", low=1e-6, high=0.1, source=OURS),
    )
    warmup: float = field(
        default=0.05,
        metadata=_about(
            "Warm-up",
            "Share of the steps in which the learning rate rises. After that it falls to 0.",
            low=0,
            high=0.9,
        ),
    )
    weight_decay: float = field(
        default=0.1, metadata=_about("Weight decay", "Weight decay of AdamW.", low=0, high=1)
    )
    device: str = field(default="auto", metadata=_DEVICE)
    seed: int = field(
        default=42,
        metadata=_about("Seed", "Seed of the weights and of the order of examples.", low=0, high=2**31 - 1),
    )

    def __post_init__(self) -> None:
        task_named(self.task)
        _refuse_held_out(self.split)
        if self.width % 32:
            raise PlanError(
                "“%(setting)s” is %(width)d; give a multiple of 32, the width of an attention head.",
                setting=Named("width"),
                width=self.width,
            )


@dataclass(frozen=True)
class GenerationPlan:
    """Second sentences for human ones, by self-debiased decoding. Defaults: DINO and RISE."""

    dataset: str = field(metadata=_DATASET)
    model: str = field(
        metadata=_about(
            "Language model",
            "A causal language model: run:ID of a generator trained here, a folder, or a hub id such as "
            "openai-community/gpt2-xl.",
            refers_to="model",
            kinds=("generator",),
        )
    )
    split: str = field(
        default="train",
        metadata=_about(
            "Split",
            "The sources are sentences of this split, but no near copy of a sentence of another split such "
            "as dev or test.",
        ),
    )
    task: str = field(default="sentences", metadata=_TASK)
    sources: int = field(
        default=300,
        metadata=_about(
            "Source sentences",
            "Maximum number of sentences that are drawn.",
            low=1,
            high=1_000_000,
            source="RISE: up to 10,000",
            essential=True,
        ),
    )
    labels: str = field(
        default="0,0.5,1",
        metadata=_about("Labels", "The target similarities, separated by commas.", source=DINO),
    )
    samples: int = field(
        default=5,
        metadata=_about(
            "Samples", "Number of sentences written for each source and label.", low=1, high=100, source=DINO
        ),
    )
    top_k: int = field(
        default=5,
        metadata=_about(
            "Top k",
            "Only this many of the most likely tokens can be drawn. 0 means all.",
            low=0,
            high=10_000,
            source=DINO,
        ),
    )
    top_p: float = field(
        default=0.9,
        metadata=_about(
            "Top p",
            "Of these, only the fewest that together have this share of the probability. 1 means all.",
            low=0.01,
            high=1,
            source=DINO,
        ),
    )
    decay: float = field(
        default=100.0,
        metadata=_about(
            "Decay",
            "λ: how fast a token loses probability if the prompt of another label prefers it.",
            low=0,
            high=1e6,
            source=DINO,
        ),
    )
    floor: float = field(
        default=0.01,
        metadata=_about(
            "Floor",
            "ε: the smallest share of its probability that a token keeps.",
            low=1e-6,
            high=1,
            source=DINO,
        ),
    )
    max_tokens: int = field(
        default=40,
        metadata=_about(
            "Longest answer",
            "A sentence that has no closing quote by then is dropped.",
            unit="tokens",
            low=1,
            high=1000,
            source=DINO,
        ),
    )
    self_debiasing: bool = field(
        default=True,
        metadata=_about(
            "Self-debiasing", "If it is off, only the prompt of the label itself decides.", source=DINO
        ),
    )
    keep: int = field(
        default=2,
        metadata=_about(
            "Kept for each label",
            "Maximum number of sentences that are kept for each source and label.",
            low=1,
            high=100,
            source=RISE,
        ),
    )
    sampled: int = field(
        default=2,
        metadata=_about(
            "Sampled partners",
            "Number of partners added for each source: sentences written for other sources, with the "
            "target similarity 0.",
            low=0,
            high=100,
            source=RISE,
        ),
    )
    smoothing: float = field(
        default=0.2,
        metadata=_about(
            "Label smoothing",
            "0.2 turns the labels 0, 0.5 and 1 into the target similarities 0.1, 0.5 and 0.9.",
            low=0,
            high=1,
            source=RISE,
        ),
    )
    least_words: int = field(
        default=1,
        metadata=_about("Fewest words", "A shorter sentence is dropped.", unit="words", low=1, high=100),
    )
    near_duplicate: float = field(
        default=0.7,
        metadata=_about(
            "Near duplicate",
            "A sampled partner is refused if it shares this share, or more, of all words with the source.",
            low=0.05,
            high=1,
        ),
    )
    most_rows: int = field(
        default=0,
        metadata=_about(
            "Most rows",
            "Maximum number of rows that are kept, sampled partners included. 0 means no limit.",
            low=0,
            high=10_000_000,
            essential=True,
        ),
    )
    shard_sources: int = field(
        default=20,
        metadata=_about(
            "Sources of a shard",
            "Number of sources in one shard. Several workers can share the shards of a run.",
            low=1,
            high=10_000,
        ),
    )
    rows_at_a_time: int = field(
        default=0,
        metadata=_about(
            "Rows at a time",
            "0 chooses a number that suits the device. Fewer rows need less memory.",
            low=0,
            high=100_000,
        ),
    )
    device: str = field(default="auto", metadata=_DEVICE)
    precision: str = field(
        default="float32",
        metadata=_about(
            "Precision",
            "float32 gives the same figures on all machines. auto uses bfloat16 on a GPU that supports it.",
            choices=("float32", "bfloat16", "float16", "auto"),
        ),
    )
    seed: int = field(
        default=42, metadata=_about("Seed", "Seed of the draws.", low=0, high=2**31 - 1, source=DINO)
    )

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
