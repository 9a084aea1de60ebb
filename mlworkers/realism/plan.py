"""Every setting of a scoring of realism. Defaults: RISE's code, where it has one."""

from dataclasses import dataclass
from enum import StrEnum

from mlworkers.plan_fields import setting


class ClassifierKind(StrEnum):
    HEAD = "head"
    FINE_TUNED = "fine-tuned"


_FINE_TUNED_ONLY = "Used only by a fine-tuned classifier."


@dataclass(frozen=True)
class RealismPlan:
    """Every number that shapes p_D."""

    dataset: str = setting("Dataset", "Short name of the dataset.", refers_to="dataset")
    run: int = setting(
        "Generation",
        "Number of the run that generated the pairs.",
        refers_to="run",
        kinds=("generate_pairs",),
        low=1,
    )
    model: str = setting(
        "Encoder",
        "The model that turns sentences into vectors for the classifier. RISE used bert-base-uncased.",
        default="packaged:all-MiniLM-L6-v2",
        refers_to="model",
        kinds=("encoder",),
    )
    classifier: ClassifierKind = setting(
        "Classifier",
        "“head” is a logistic regression on the encoder's vectors and takes seconds. "
        "“fine-tuned” trains the "
        "encoder as RISE did and takes hours without a GPU.",
        default=ClassifierKind.HEAD,
        essential=True,
    )
    folds: int = setting(
        "Folds",
        "Every sentence is scored by the classifier of its fold, which was trained without it "
        "and its near copies.",
        default=5,
        low=3,
        high=20,
    )
    temperature: float = setting(
        "Temperature",
        "The logits are divided by it. 0 chooses the temperature under which the labels of "
        "held-out sentences are "
        "most likely. RISE chose it by hand: 0.5 (STSb), 0.7 (MRPC), 0.9 (QQP).",
        default=0.0,
        source="RISE, table 9",
        low=0.0,
        high=100.0,
    )
    most_humans: int = setting(
        "Maximum number of human sentences",
        "If the dataset has more, this many are drawn at random. 0 means no limit.",
        default=20_000,
        unit="sentences",
        low=0,
    )
    epochs: int = setting(
        "Epochs", _FINE_TUNED_ONLY, default=5, unit="epochs", source="RISE's code", low=1, high=50
    )
    batch_size: int = setting(
        "Batch size", _FINE_TUNED_ONLY, default=32, unit="sentences", source="RISE's code", low=1, high=4096
    )
    learning_rate: float = setting(
        "Learning rate", _FINE_TUNED_ONLY, default=1e-5, source="RISE's code", low=1e-8, high=1.0
    )
    warmup: float = setting(
        "Warm-up",
        f"The share of the steps in which the learning rate rises. {_FINE_TUNED_ONLY}",
        default=0.1,
        source="RISE's code",
        low=0.0,
        high=0.9,
    )
    max_length: int = setting(
        "Longest sentence",
        f"Longer sentences are cut off. {_FINE_TUNED_ONLY}",
        default=128,
        unit="tokens",
        source="RISE's code",
        low=8,
        high=512,
    )
    checkpoint_steps: int = setting(
        "Steps between checkpoints",
        f"If the worker dies, at most this many steps are repeated. {_FINE_TUNED_ONLY}",
        default=100,
        unit="steps",
        low=1,
    )
    seed: int = setting(
        "Seed", "Seed of the folds, of the draws and of dropout.", default=42, source="RISE's code", low=0
    )
