"""What the benchmarks of encoder training share: pairs, our loop, and sentence-transformers' own."""

import warnings
from collections.abc import Callable

import numpy as np
import torch
from encoding import pairs_made
from sentence_transformers import InputExample, SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from torch.utils.data import DataLoader

from mlworkers.encoders.plan import EncoderPlan
from mlworkers.encoders.rows import Rows
from mlworkers.encoders.training import PairLearner
from mlworkers.pretrained.compute import Compute
from mlworkers.training.loop import train

BATCH = 32
BASELINE = "SentenceTransformer.old_fit with CosineSimilarityLoss"


def rows_made(count: int, *, seed: int) -> Rows:
    first, second = (np.array(side, dtype=object) for side in pairs_made(count, seed=seed))
    numbers = np.arange(count)
    values = np.random.default_rng(seed).uniform(size=count)
    return Rows(numbers, 2 * numbers, 2 * numbers + 1, first, second, values)


def ours(
    encoder: SentenceTransformer, rows: Rows, compute: Compute, *, precision: str = "float32"
) -> Callable[[], object]:
    """One epoch of our loop, from texts on."""
    plan = EncoderPlan("pairs", "model", "scores", epochs=1, batch_size=BATCH, precision=precision)
    weights = np.random.default_rng(1).uniform(size=len(rows))

    def epoch() -> None:
        train(PairLearner(encoder, rows, weights, compute), plan.schedule(len(rows)), plan.loop())
        waited(compute)

    return epoch


def theirs(
    encoder: SentenceTransformer, rows: Rows, compute: Compute, *, amp: bool = False
) -> Callable[[], object]:
    """One epoch of the library's loop over the same pairs, which it does not weigh."""
    facts = zip(rows.first.tolist(), rows.second.tolist(), rows.values.tolist(), strict=True)
    examples = [InputExample(texts=[first, second], label=value) for first, second, value in facts]

    def epoch() -> None:
        loader = DataLoader(examples, shuffle=True, batch_size=BATCH)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoder.old_fit(
                [(loader, CosineSimilarityLoss(encoder))],
                epochs=1,
                warmup_steps=-(-len(loader) // 10),
                show_progress_bar=False,
                use_amp=amp,
            )
        waited(compute)

    return epoch


def waited(compute: Compute) -> None:
    """A GPU goes on computing after its orders are given."""
    if compute.device.type == "cuda":
        torch.cuda.synchronize(compute.device)
