"""Every setting of a scoring of realism. Defaults: RISE's released code, where it has one."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from mlworkers.plans.fields import (
    WRITING,
    PlanError,
    SettingName,
    dataset_setting,
    seed_setting,
    setting,
)


class ClassifierKind(StrEnum):
    HEAD = "head"  # σ(w · v + b) of an encoder's vector v, which does not change
    FINE_TUNED = "fine-tuned"  # softmax(W v + b), and the encoder is trained too: RISE, section 3


from_rise = partial(setting, source="RISE's released code")
_FINE_TUNED_ONLY = "Used only by a fine-tuned classifier."


@dataclass(frozen=True)
class RealismPlan:
    """Every number that shapes p_D."""

    dataset: str = dataset_setting()
    run: int = setting(
        "Generation",
        "Number of the run that wrote the sentences.",
        bounds=(1, None),
        refers_to="run",
        kinds=WRITING,
    )
    model: str = setting(
        "Encoder",
        "The model that turns sentences into vectors for the classifier. RISE used BERT.",
        default="packaged:all-MiniLM-L6-v2",
        refers_to="model",
        kinds=("encoder",),
    )
    classifier: ClassifierKind = setting(
        "Classifier",
        "“head” is a logistic regression on the encoder's vectors and takes seconds. “fine-tuned” trains "
        "the encoder as RISE's released code does and takes hours without a GPU.",
        default=ClassifierKind.HEAD,
        essential=True,
    )
    # Of k folds one is scored, the next chooses penalty or epoch, and k - 2 are trained on.
    folds: int = setting(
        "Folds",
        "Number of parts, each scored by a classifier that learned from the others. A sentence's "
        "classifier was trained without it and its near copies.",
        default=5,
        bounds=(3, 20),
    )
    # p_D = softmax(logits / τ)[human]: below 1 it is nearer to 0 and 1, and no τ changes an order.
    temperature: float = setting(
        "Temperature",
        "The logits are divided by it; 0 chooses the best. That is the temperature under which the labels "
        "of held-out sentences are most likely. RISE chose it by a grid search: 0.5 (STSb), 0.7 (MRPC), "
        "0.9 (QQP).",
        default=0.0,
        bounds=(0.0, 100.0),
        source="RISE, table 9",
    )
    most_humans: int = setting(
        "Maximum number of human sentences",
        "Most human sentences, drawn at random; 0 means no limit.",
        default=20_000,
        bounds=(0, None),
        unit="sentences",
    )
    learn_from_verdicts: bool = setting(
        "Learn from decisions",
        "Learns from the decisions of blind reviewers too. Machine sentences that they kept count as human "
        "ones, and those that they rejected as machine ones, each for several sentences. The result says "
        "what this changes. Needs the classifier “head”.",
        default=False,
    )
    # Within its class only: the two classes weigh one half each, whatever is counted.
    verdict_count: float = setting(
        "Weight of a decision",
        "Number of sentences for which a reviewed sentence counts. Used only if the run learns from "
        "decisions.",
        default=20.0,
        bounds=(1.0, 1000.0),
        unit="sentences",
    )
    # The epoch with the lowest loss on the inner fold is kept (in RISE, on the validation set).
    epochs: int = from_rise("Epochs", _FINE_TUNED_ONLY, default=5, bounds=(1, 50), unit="epochs")
    batch_size: int = from_rise(
        "Batch size", _FINE_TUNED_ONLY, default=32, bounds=(1, 4096), unit="sentences"
    )
    learning_rate: float = from_rise("Learning rate", _FINE_TUNED_ONLY, default=1e-5, bounds=(1e-8, 1.0))
    # A linear schedule: up over this share of the steps, then down to 0.
    warmup: float = from_rise(
        "Warm-up",
        f"Share of all steps in which the learning rate rises. {_FINE_TUNED_ONLY}",
        default=0.1,
        bounds=(0.0, 0.9),
    )
    max_length: int = from_rise(
        "Longest sentence",
        f"Longer sentences are cut off. {_FINE_TUNED_ONLY}",
        default=128,
        bounds=(8, 512),
        unit="tokens",
    )
    checkpoint_steps: int = setting(
        "Steps between checkpoints",
        f"If the worker dies, at most this many steps are repeated. {_FINE_TUNED_ONLY}",
        default=100,
        bounds=(1, None),
        unit="steps",
    )
    seed: int = seed_setting(bounds=(0, None), source="RISE's released code")

    def __post_init__(self) -> None:
        if self.learn_from_verdicts and self.classifier != ClassifierKind.HEAD:
            raise PlanError(
                "%(learn)s needs the classifier “head”; choose it in %(classifier)s.",
                learn=SettingName("learn_from_verdicts"),
                classifier=SettingName("classifier"),
            )
