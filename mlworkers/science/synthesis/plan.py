"""Every number that shapes a generator trained on the spot, and the pairs that a generator writes."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import ClassVar

from mlworkers.plans.fields import (
    OF_ENDPOINTS,
    PlanError,
    attempts_setting,
    check_width,
    concurrency_setting,
    dataset_setting,
    device_setting,
    endpoint_setting,
    seed_setting,
    setting,
    shard_sources_setting,
    timeout_setting,
    weight_decay_setting,
    width_setting,
)
from mlworkers.science.pretrained.sources import ModelError, parse_source
from mlworkers.science.synthesis.chat import AnswerForm
from mlworkers.science.synthesis.prompts import Task, labels_listed, task_named

FIRST, SECOND = "first", "writing"  # the stages of a generation, by the sentences that they write
HELD_OUT = frozenset({"dev", "development", "eval", "evaluation", "test", "val", "valid", "validation"})

from_dino = partial(setting, source="DINO (Schick and Schütze 2021)")
from_dino_code = partial(setting, source="DINO's released code")
from_rise_code = partial(setting, source="RISE's released code")
MEASURED = "Measured on two processor cores; docs/guide/how-to/generate-pairs.md"
measured = partial(setting, source=MEASURED)
task_setting = partial(
    from_dino,
    "Instructions",
    "DINO's “sentences” or “questions”, or a specification as JSON in DINO's form.",
    default="sentences",
    refers_to="instructions",
)


class FirstSentences(StrEnum):
    """Where the first sentences of pairs come from: sentences of the dataset, or the model itself."""

    HUMAN = "human"  # RISE: sentences of C_src
    WRITTEN = "written"  # DINO: the same instructions without a first sentence


@dataclass(frozen=True)
class BootstrapPlan:
    """A small GPT-2 that learns to follow the instructions from a dataset's own scored pairs."""

    dataset: str = dataset_setting()
    score_set: str = setting(
        "Score set",
        "The scores that say which instruction a pair answers. They are brought to 0..1, and the "
        "instruction of the nearest label counts.",
        refers_to="score set",
        kinds=("reference", "human", "model"),
    )
    split: str = setting(
        "Split",
        "Only pairs of this split are used. Pairs with a near copy of a sentence of another split are left "
        "out.",
        default="train",
        offered="split",
    )
    task: str = task_setting()
    # 2,000 · 16 = 32,000 examples.
    steps: int = measured(
        "Steps", "Number of training steps.", default=2000, bounds=(1, 1_000_000), essential=True
    )
    minutes: float = setting(
        "Time limit",
        "Training ends after this time even if steps are left. The result says so, and cannot be repeated "
        "exactly.",
        default=10.0,
        bounds=(0.01, 10_000),
        unit="minutes",
        essential=True,
    )
    layers: int = measured("Layers", "Number of layers of the transformer.", default=4, bounds=(1, 48))
    width: int = width_setting(default=256, source=MEASURED)
    vocabulary: int = measured(
        "Vocabulary",
        "Most tokens of the tokenizer, which is learned.",
        default=4096,
        bounds=(300, 65_536),
        unit="tokens",
    )
    context: int = setting(
        "Longest text",
        "Most tokens of an instruction with both sentences. Longer pairs are left out and counted.",
        default=256,
        bounds=(32, 4096),
        unit="tokens",
    )
    batch: int = measured(
        "Batch",
        "Number of examples in one training step. A pair makes two examples.",
        default=16,
        bounds=(2, 4096),
        unit="examples",
    )
    learning_rate: float = measured(
        "Learning rate", "Peak learning rate of AdamW.", default=2e-3, bounds=(1e-6, 0.1)
    )
    warmup: float = setting(
        "Warm-up",
        "Share of all steps in which the learning rate rises. After that it falls to 0.",
        default=0.05,
        bounds=(0, 0.9),
    )
    weight_decay: float = weight_decay_setting(default=0.1)
    device: str = device_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        task_named(self.task)
        _refuse_held_out(self.split)
        check_width(self.width)


@dataclass(frozen=True)
class GenerationPlan:
    """Second sentences for human ones, by self-debiased decoding. Defaults: DINO's and RISE's."""

    stage: ClassVar[str] = SECOND

    dataset: str = dataset_setting()
    model: str = setting(
        "Language model",
        "A causal language model, such as openai-community/gpt2-xl. Give run:ID of a generator trained "
        "here, a folder, a hub id, or openai:NAME for a model behind the endpoint that the worker is set "
        "to.",
        refers_to="model",
        kinds=("generator",),
    )
    split: str = setting(
        "Split",
        "Sources are human sentences of this split. Near copies of sentences of another split, such as dev "
        "or test, are left out.",
        default="train",
        offered="split",
    )
    task: str = task_setting()
    # Cost: sources · Σ over labels of (1 + counter prompts) · samples · tokens.
    sources: int = setting(
        "Source sentences",
        "Most first sentences, drawn or written.",
        default=300,
        bounds=(1, 1_000_000),
        source="Ours. RISE takes 10,000 (appendix E)",
        essential=True,
    )
    labels: str = setting(
        "Labels",
        "The target similarities, separated by commas; empty: all of the instructions.",
        default="0,0.5,1",
        source="DINO; RISE, appendix E",
    )
    # More than are kept: copies, empty ones and those without a quote are dropped.
    samples: int = from_rise_code(
        "Samples", "Sentences written for each source and label.", default=5, bounds=(1, 100)
    )
    # After self-debiasing: first top k, then of these top p.
    top_k: int = from_dino_code(
        "Top k",
        "Number of the most likely tokens that can be drawn; 0: all.",
        default=5,
        bounds=(0, 10_000),
    )
    top_p: float = from_dino_code(
        "Top p",
        "Of these tokens, the fewest with this share of the probability can be drawn; 1: all.",
        default=0.9,
        bounds=(0.01, 1),
    )
    # α = max(ε, exp(-λ Δ)): with 100 and 0.01 the floor is reached at Δ = ln(100) / 100 = 0.046.
    decay: float = from_dino_code(
        "Decay",
        "λ: how fast a token loses probability if another label's prompt prefers it.",
        default=100.0,
        bounds=(0, 1e6),
    )
    floor: float = from_dino_code(
        "Floor",
        "ε: the smallest share of its probability that a token keeps.",
        default=0.01,
        bounds=(1e-6, 1),
    )
    # DINO's code always writes all 40. Ending a row at its first quote changes no sentence.
    max_tokens: int = from_dino_code(
        "Longest answer",
        "Most tokens of an answer. A sentence that has no closing quote by then is dropped.",
        default=40,
        bounds=(1, 1000),
        unit="tokens",
    )
    self_debiasing: bool = from_dino(
        "Self-debiasing",
        "If it is off, only the prompt of the label itself decides. Models openai:NAME are never self-debiased.",
        default=True,
    )
    # With three labels and two sampled partners, at most 3 · 2 + 2 = 8 pairs a source.
    keep: int = from_rise_code(
        "Kept for each label",
        "Most sentences that are kept for each source and label.",
        default=2,
        bounds=(1, 100),
    )
    sampled: int = from_rise_code(
        "Sampled partners",
        "Number of partners added for each source. These are sentences written for other sources, with the "
        "target similarity 0.",
        default=2,
        bounds=(0, 100),
    )
    # (1 - s) · y + s / 2; partners keep 0.
    smoothing: float = from_rise_code(
        "Label smoothing",
        "0.2 turns the labels 0, 0.5 and 1 into 0.1, 0.5 and 0.9.",
        default=0.2,
        bounds=(0, 1),
    )
    least_words: int = setting(
        "Fewest words",
        "Fewest words of a sentence. A shorter one is dropped.",
        default=1,
        bounds=(1, 100),
        unit="words",
    )
    near_duplicate: float = setting(
        "Near duplicate",
        "Share of words in common with the source at which a sampled partner is refused.",
        default=0.7,
        bounds=(0.05, 1),
    )
    most_rows: int = setting(
        "Most rows",
        "Most rows that are kept, sampled partners included; 0 means no limit.",
        default=0,
        bounds=(0, 10_000_000),
        essential=True,
    )
    shard_sources: int = shard_sources_setting()
    rows_at_a_time: int = setting(
        "Rows at a time",
        "Number of rows at a time; 0 chooses one that suits the device. Fewer rows need less memory.",
        default=0,
        bounds=(0, 100_000),
    )
    device: str = device_setting()
    precision: str = setting(
        "Precision",
        "float32 gives the same figures on all machines. auto uses bfloat16 on a GPU that supports it.",
        default="float32",
        choices=("float32", "bfloat16", "float16", "auto"),
    )
    seed: int = seed_setting(source="DINO's released code")
    chat_template: bool = setting(
        "Chat template",
        "Uses the model's own chat template. Models openai:NAME are always asked so.",
        default=False,
    )
    first_sentences: FirstSentences = setting(
        "First sentences",
        "human draws first sentences of the split; with written, the model writes both sentences of a "
        "pair. It writes the first ones from the instruction alone.",
        default=FirstSentences.HUMAN,
        source="RISE. DINO has both",
    )
    answer_form: AnswerForm = setting(
        "Form of answers",
        "json asks the model for a JSON object, quoted for a sentence in quotes. Other answers are dropped.",
        default=AnswerForm.JSON,
        source=OF_ENDPOINTS,
    )
    concurrency: int = concurrency_setting()
    timeout: float = timeout_setting()
    attempts: int = attempts_setting()
    price_in: float = endpoint_setting(
        "Price of a million tokens read",
        "Price of a million tokens read, in any currency; 0: none. It is for the estimate of the cost.",
        default=0.0,
        bounds=(0, 1e6),
    )
    price_out: float = endpoint_setting(
        "Price of a million tokens written",
        "Price of a million tokens written, in the same currency; 0: none.",
        default=0.0,
        bounds=(0, 1e6),
    )

    def __post_init__(self) -> None:
        _refuse_held_out(self.split)
        labels_listed(self.labels, self.instructions)
        if self.writes_first_sentences:
            self.instructions.without_sources()
        if self.model.startswith("openai:"):
            try:
                parse_source(self.model)
            except ModelError as error:
                raise PlanError("%(problem)s", problem=error) from error

    @property
    def instructions(self) -> Task:
        return task_named(self.task)

    @property
    def endpoint_model(self) -> str:
        """The name of the model behind an endpoint; empty for a model that is loaded here."""
        kind, _, name = self.model.partition(":")
        return name if kind == "openai" else ""

    @property
    def debiases(self) -> bool:
        """Whether rows are self-debiased. Endpoints hand out no probabilities of all tokens, which that takes."""
        return self.self_debiasing and not self.endpoint_model

    @property
    def writes_first_sentences(self) -> bool:
        return self.first_sentences is FirstSentences.WRITTEN

    @property
    def label_list(self) -> tuple[str, ...]:
        return labels_listed(self.labels, self.instructions)


def _refuse_held_out(split: str) -> None:
    if split.strip().lower() in HELD_OUT:
        raise PlanError(
            "The split “%(split)s” is held out: sentences written from it would give away the answers to the "
            "test; name the split to train on.",
            split=split,
        )
