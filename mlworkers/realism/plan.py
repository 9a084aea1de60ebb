"""What a scoring of realism is made of. Defaults: RISE, appendix E, where it says one."""

from dataclasses import dataclass, field
from enum import StrEnum


class ClassifierKind(StrEnum):
    HEAD = "head"
    FINE_TUNED = "fine-tuned"


_FINE_TUNED_ONLY = "Only for a fine-tuned classifier."


@dataclass(frozen=True)
class RealismPlan:
    """Every number that shapes p_D."""

    dataset: str = field(
        metadata={"label": "Dataset", "help": "The dataset's short name.", "refers_to": "dataset"}
    )
    run: int = field(
        metadata={
            "label": "Generation",
            "help": "The number of the run that generated the pairs.",
            "refers_to": "run",
            "kinds": ("generate_pairs",),
            "low": 1,
        }
    )
    model: str = field(
        default="packaged:all-MiniLM-L6-v2",
        metadata={
            "label": "Encoder",
            "help": "What the classifier reads sentences with; RISE used bert-base-uncased.",
            "refers_to": "model",
            "kinds": ("encoder",),
        },
    )
    classifier: ClassifierKind = field(
        default=ClassifierKind.HEAD,
        metadata={
            "label": "Classifier",
            "help": "A logistic regression on frozen vectors (seconds), or the encoder trained as RISE did (hours "
            "without a GPU).",
            "essential": True,
        },
    )
    folds: int = field(
        default=5,
        metadata={
            "label": "Folds",
            "help": "Every sentence is scored by the classifier of its fold, which saw neither it nor its doubles.",
            "low": 3,
            "high": 20,
        },
    )
    temperature: float = field(
        default=0.0,
        metadata={
            "label": "Temperature",
            "help": "Divides the logits. 0: the one under which held-out sentences are likeliest. RISE tuned it by "
            "hand: 0.5 (STSb), 0.7 (MRPC), 0.9 (QQP).",
            "source": "RISE, table 9",
            "low": 0.0,
            "high": 100.0,
        },
    )
    most_humans: int = field(
        default=20_000,
        metadata={
            "label": "Human sentences, at most",
            "help": "More are drawn from at random. 0: no limit.",
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
            "source": "RISE, appendix E",
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
            "source": "RISE, appendix E",
            "low": 1,
            "high": 4096,
        },
    )
    learning_rate: float = field(
        default=1e-5,
        metadata={
            "label": "Learning rate",
            "help": _FINE_TUNED_ONLY,
            "source": "RISE, appendix E",
            "low": 1e-8,
            "high": 1.0,
        },
    )
    warmup: float = field(
        default=0.1,
        metadata={
            "label": "Warm-up",
            "help": f"The share of steps over which the learning rate rises. {_FINE_TUNED_ONLY}",
            "source": "RISE's code",
            "low": 0.0,
            "high": 0.9,
        },
    )
    max_length: int = field(
        default=128,
        metadata={
            "label": "Longest sentence",
            "help": f"What is longer is cut. {_FINE_TUNED_ONLY}",
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
            "help": f"What a killed worker costs at most. {_FINE_TUNED_ONLY}",
            "unit": "steps",
            "low": 1,
        },
    )
    seed: int = field(
        default=42,
        metadata={"label": "Seed", "help": "Of folds, draws and dropout.", "source": "RISE's code", "low": 0},
    )
