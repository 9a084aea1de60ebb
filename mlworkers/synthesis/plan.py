"""Every number that shapes a generator trained on the spot, and the pairs that a generator writes."""

from dataclasses import dataclass, field
from typing import Any

from mlworkers.plan_fields import Named, SettingError
from mlworkers.synthesis.prompts import Task, labels_listed, task_named

HELD_OUT = frozenset({"dev", "development", "eval", "evaluation", "test", "val", "valid", "validation"})
DINO = "DINO (Schick and Schütze 2021), section 3 and its published settings"
RISE = "RISE (2022), appendix; DINO's post-processing"
OURS = "Measured on two processor cores; docs/guide/generation.md"

_DATASET = {"label": "Dataset", "help": "The dataset's short name.", "refers_to": "dataset"}
_TASK = {
    "label": "Instructions",
    "help": "“sentences” or “questions”, DINO's instructions; or a specification of your own, as JSON in DINO's form.",
    "source": DINO,
}
_DEVICE = {"label": "Device", "help": "“auto” takes a GPU where there is one; else cpu, cuda, cuda:1 or mps."}


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
            "Only pairs of this split are learnt from, and none with a sentence that also stands in another one.",
        ),
    )
    task: str = field(default="sentences", metadata=_TASK)
    steps: int = field(
        default=2000,
        metadata=_about(
            "Steps", "Updates of the weights.", low=1, high=1_000_000, source=OURS, essential=True
        ),
    )
    minutes: float = field(
        default=10.0,
        metadata=_about(
            "Time limit",
            "Training ends here even if steps are left; the result says so, and cannot be repeated exactly.",
            unit="minutes",
            low=0.01,
            high=10_000,
            essential=True,
        ),
    )
    layers: int = field(
        default=4, metadata=_about("Layers", "Of the transformer.", low=1, high=48, source=OURS)
    )
    width: int = field(
        default=256,
        metadata=_about("Width", "Of a token's vector; a multiple of 32.", low=32, high=2048, source=OURS),
    )
    vocabulary: int = field(
        default=4096,
        metadata=_about("Vocabulary", "Tokens at most.", unit="tokens", low=300, high=65_536, source=OURS),
    )
    context: int = field(
        default=256,
        metadata=_about(
            "Longest text",
            "Instruction and both sentences; a longer pair is left out, and counted.",
            unit="tokens",
            low=32,
            high=4096,
        ),
    )
    batch: int = field(
        default=16,
        metadata=_about(
            "Batch", "Examples of one step; a pair is two.", unit="examples", low=2, high=4096, source=OURS
        ),
    )
    learning_rate: float = field(
        default=2e-3,
        metadata=_about("Learning rate", "At its highest.", low=1e-6, high=0.1, source=OURS),
    )
    warmup: float = field(
        default=0.05,
        metadata=_about(
            "Warm-up",
            "Share of the steps in which the learning rate rises; it then falls to 0.",
            low=0,
            high=0.9,
        ),
    )
    weight_decay: float = field(default=0.1, metadata=_about("Weight decay", "Of AdamW.", low=0, high=1))
    device: str = field(default="auto", metadata=_DEVICE)
    seed: int = field(
        default=42, metadata=_about("Seed", "Of the weights and the order.", low=0, high=2**31 - 1)
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
            "Causal: run:ID of a generator trained here, a folder, or a hub id such as openai-community/gpt2-xl.",
            refers_to="model",
            kinds=("generator",),
        )
    )
    split: str = field(
        default="train",
        metadata=_about(
            "Split",
            "Its sentences are continued, but none that also stands in another split, such as dev or test.",
        ),
    )
    task: str = field(default="sentences", metadata=_TASK)
    sources: int = field(
        default=300,
        metadata=_about(
            "Source sentences",
            "Drawn at most.",
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
            "Samples", "Sentences written for each source and label.", low=1, high=100, source=DINO
        ),
    )
    top_k: int = field(
        default=5,
        metadata=_about("Top k", "Only the likeliest tokens; 0: all.", low=0, high=10_000, source=DINO),
    )
    top_p: float = field(
        default=0.9,
        metadata=_about(
            "Top p", "Of those, the fewest with this share of them; 1: all.", low=0.01, high=1, source=DINO
        ),
    )
    decay: float = field(
        default=100.0,
        metadata=_about(
            "Decay",
            "λ: how fast a token loses weight that another label's prompt prefers.",
            low=0,
            high=1e6,
            source=DINO,
        ),
    )
    floor: float = field(
        default=0.01,
        metadata=_about(
            "Floor", "ε: the share of its weight that a token keeps at least.", low=1e-6, high=1, source=DINO
        ),
    )
    max_tokens: int = field(
        default=40,
        metadata=_about(
            "Longest answer",
            "A sentence without a quote by then is dropped.",
            unit="tokens",
            low=1,
            high=1000,
            source=DINO,
        ),
    )
    self_debiasing: bool = field(
        default=True,
        metadata=_about("Self-debiasing", "Without it, each label's own prompt alone decides.", source=DINO),
    )
    keep: int = field(
        default=2,
        metadata=_about(
            "Kept for each label", "Of a source's samples at most.", low=1, high=100, source=RISE
        ),
    )
    sampled: int = field(
        default=2,
        metadata=_about(
            "Sampled partners",
            "Added for each source: sentences written for sources of other groups, with the similarity 0.",
            low=0,
            high=100,
            source=RISE,
        ),
    )
    smoothing: float = field(
        default=0.2,
        metadata=_about(
            "Label smoothing",
            "0.2 makes of 0, 0.5 and 1 the targets 0.1, 0.5 and 0.9.",
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
            "A sampled partner is refused from this share of shared words on (of all the two have).",
            low=0.05,
            high=1,
        ),
    )
    most_rows: int = field(
        default=0,
        metadata=_about(
            "Most rows",
            "Kept at most, sampled ones included; 0: no limit.",
            low=0,
            high=10_000_000,
            essential=True,
        ),
    )
    shard_sources: int = field(
        default=20,
        metadata=_about("Sources of a shard", "Several workers share the run by shards.", low=1, high=10_000),
    )
    rows_at_a_time: int = field(
        default=0,
        metadata=_about(
            "Rows at a time", "0: what suits the device; fewer need less memory.", low=0, high=100_000
        ),
    )
    device: str = field(default="auto", metadata=_DEVICE)
    precision: str = field(
        default="float32",
        metadata=_about(
            "Precision",
            "auto is bfloat16 on a GPU that has it; float32 agrees between machines.",
            choices=("float32", "bfloat16", "float16", "auto"),
        ),
    )
    seed: int = field(
        default=42, metadata=_about("Seed", "Of the draws.", low=0, high=2**31 - 1, source=DINO)
    )

    def __post_init__(self) -> None:
        _refuse_held_out(self.split)
        labels_listed(self.labels, self.instructions)
        if self.model.startswith("packaged:"):
            raise PlanError(
                "%(model)s is a sentence encoder, which writes nothing; name a causal language model, such as "
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
            "The split “%(split)s” is held out: what is written from its sentences could not be told from the answers "
            "to the test; name the split to train on.",
            split=split,
        )
