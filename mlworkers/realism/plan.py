"""Every setting of a scoring of realism. Defaults: RISE's code, where it has one."""

from dataclasses import dataclass, field
from enum import StrEnum


class ClassifierKind(StrEnum):
    HEAD = "head"
    FINE_TUNED = "fine-tuned"


_FINE_TUNED_ONLY = "Used only by a fine-tuned classifier."


@dataclass(frozen=True)
class RealismPlan:
    """Every number that shapes p_D."""

    dataset: str = field(
        metadata={"label": "Dataset", "help": "Short name of the dataset.", "refers_to": "dataset"}
    )
    run: int = field(
        metadata={
            "label": "Generation",
            "help": "Number of the run that generated the pairs.",
            "refers_to": "run",
            "kinds": ("generate_pairs",),
            "low": 1,
        }
    )
    model: str = field(
        default="packaged:all-MiniLM-L6-v2",
        metadata={
            "label": "Encoder",
            "help": "The model that turns sentences into vectors for the classifier. RISE used "
            "bert-base-uncased.",
            "refers_to": "model",
            "kinds": ("encoder",),
        },
    )
    classifier: ClassifierKind = field(
        default=ClassifierKind.HEAD,
        metadata={
            "label": "Classifier",
            "help": "“head” is a logistic regression on the encoder's vectors and takes seconds. "
            "“fine-tuned” trains the "
            "encoder as RISE did and takes hours without a GPU.",
            "essential": True,
        },
    )
    folds: int = field(
        default=5,
        metadata={
            "label": "Folds",
            "help": "Every sentence is scored by the classifier of its fold, which was trained without it "
            "and its near copies.",
            "low": 3,
            "high": 20,
        },
    )
    temperature: float = field(
        default=0.0,
        metadata={
            "label": "Temperature",
            "help": "The logits are divided by it. 0 chooses the temperature under which the labels of "
            "held-out sentences are "
            "most likely. RISE chose it by hand: 0.5 (STSb), 0.7 (MRPC), 0.9 (QQP).",
            "source": "RISE, table 9",
            "low": 0.0,
            "high": 100.0,
        },
    )
    most_humans: int = field(
        default=20_000,
        metadata={
            "label": "Maximum number of human sentences",
            "help": "If the dataset has more, this many are drawn at random. 0 means no limit.",
            "unit": "sentences",
            "low": 0,
        },
    )
    epochs: int = field(
        default=5,
        metadata={
            "label": "Epochs",
            "help": _FINE_TUNED_ONLY,
            "unit": "epochs",
            "source": "RISE's code",
            "low": 1,
            "high": 50,
        },
    )
    batch_size: int = field(
        default=32,
        metadata={
            "label": "Batch size",
            "help": _FINE_TUNED_ONLY,
            "unit": "sentences",
            "source": "RISE's code",
            "low": 1,
            "high": 4096,
        },
    )
    learning_rate: float = field(
        default=1e-5,
        metadata={
            "label": "Learning rate",
            "help": _FINE_TUNED_ONLY,
            "source": "RISE's code",
            "low": 1e-8,
            "high": 1.0,
        },
    )
    warmup: float = field(
        default=0.1,
        metadata={
            "label": "Warm-up",
            "help": f"The share of the steps in which the learning rate rises. {_FINE_TUNED_ONLY}",
            "source": "RISE's code",
            "low": 0.0,
            "high": 0.9,
        },
    )
    max_length: int = field(
        default=128,
        metadata={
            "label": "Longest sentence",
            "help": f"Longer sentences are cut off. {_FINE_TUNED_ONLY}",
            "unit": "tokens",
            "source": "RISE's code",
            "low": 8,
            "high": 512,
        },
    )
    checkpoint_steps: int = field(
        default=100,
        metadata={
            "label": "Steps between checkpoints",
            "help": f"If the worker dies, at most this many steps are repeated. {_FINE_TUNED_ONLY}",
            "unit": "steps",
            "low": 1,
        },
    )
    seed: int = field(
        default=42,
        metadata={
            "label": "Seed",
            "help": "Seed of the folds, of the draws and of dropout.",
            "source": "RISE's code",
            "low": 0,
        },
    )
