"""What the benchmarks of encoder training share: pairs, our loop, and sentence-transformers' Trainer.

The Trainer has its default settings (learning rate 5e-5 that falls in a line to 0, no warm-up, no weight decay,
gradients clipped at 1), and our loop gets the same.
"""

import csv
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from encoding import pairs_made
from sentence_transformers import SentenceTransformer

from curation.statistics.correlation import spearman
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.plan import EncoderPlan
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.training import PairLearner
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.training.loop import train

BATCH = 32
BASELINE = "SentenceTransformerTrainer with CosineSimilarityLoss, default settings"
TRAINER_PACKAGES = "accelerate and datasets (pip install --constraint constraints.txt '.[bench]')"


def trainer_is_installed() -> bool:
    try:
        import accelerate  # noqa: F401, PLC0415
        import datasets  # noqa: F401, PLC0415
    except ImportError:
        return False
    return True


def stsb_rows(split: str, *, at_most: int | None = None) -> Rows | None:
    """Pairs of the STS benchmark with scores in 0..1, in the order of the file; None where the data is not here."""
    file = Path(os.environ.get("SEMBLANCE_REAL_DATA", "")) / "stsb" / f"stsb-en-{split}.csv"
    if not file.is_file():
        return None
    with file.open(newline="", encoding="utf-8") as lines:
        facts = list(csv.reader(lines))[:at_most]
    first, second = (np.array([fact[column] for fact in facts], dtype=object) for column in (0, 1))
    return _rows(first, second, np.array([float(fact[2]) / 5 for fact in facts]))


def rows_made(count: int, *, seed: int) -> Rows:
    first, second = (np.array(side, dtype=object) for side in pairs_made(count, seed=seed))
    return _rows(first, second, np.random.default_rng(seed).uniform(size=count))


def _rows(first: np.ndarray, second: np.ndarray, values: np.ndarray) -> Rows:
    numbers = np.arange(values.size)
    return Rows(numbers, 2 * numbers, 2 * numbers + 1, first, second, values)


def ours(
    encoder: SentenceTransformer, rows: Rows, compute: Compute, *, precision: str = "float32"
) -> Callable[[], object]:
    """One epoch of our loop, from texts on."""
    plan = EncoderPlan(
        "pairs",
        "model",
        "scores",
        epochs=1,
        batch_size=BATCH,
        learning_rate=5e-5,
        warmup=0.0,
        weight_decay=0.0,
        precision=precision,
    )
    weights = np.ones(len(rows))

    def epoch() -> None:
        train(PairLearner(encoder, rows, weights, compute), plan.schedule(len(rows)), plan.loop())
        waited(compute)

    return epoch


def theirs(
    encoder: SentenceTransformer, rows: Rows, compute: Compute, *, bf16: bool = False
) -> Callable[[], object]:
    """One epoch of the library's Trainer over the same pairs, which it does not weigh, from texts on."""
    # The Trainer's packages are needed for nothing else.
    from datasets import Dataset, disable_progress_bars  # noqa: PLC0415
    from sentence_transformers import (  # noqa: PLC0415
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss  # noqa: PLC0415

    columns = {"sentence1": rows.first.tolist(), "sentence2": rows.second.tolist(), "score": rows.values}
    disable_progress_bars()
    pairs = Dataset.from_dict(columns)

    def epoch() -> None:
        with tempfile.TemporaryDirectory() as folder:
            arguments = SentenceTransformerTrainingArguments(
                folder,
                num_train_epochs=1,
                per_device_train_batch_size=BATCH,
                bf16=bf16,
                use_cpu=compute.device.type == "cpu",
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
            )
            SentenceTransformerTrainer(
                encoder, arguments, train_dataset=pairs, loss=CosineSimilarityLoss(encoder)
            ).train()
        waited(compute)

    return epoch


def agreement(encoder: SentenceTransformer, rows: Rows, compute: Compute) -> float:
    """Spearman's correlation of the encoder's cosines with the scores of pairs."""
    encoder.eval()
    cosines = pair_cosines(encoder, rows.first.tolist(), rows.second.tolist(), compute).values
    return spearman(cosines, rows.values) or float("nan")


def waited(compute: Compute) -> None:
    """A GPU goes on computing after its orders are given."""
    if compute.device.type == "cuda":
        torch.cuda.synchronize(compute.device)
