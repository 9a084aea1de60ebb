"""A labeller: a cross-encoder that is trained on the scores that people gave to pairs (ConPGS, section 3.1)."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import AutoConfig

from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores, spearman
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.text_classifier import TextClassifier, load_trainable
from mlworkers.science.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.science.paraphrasing.text import compared_pairs
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.cross_encoder import is_cross_encoder
from mlworkers.science.pretrained.loading import LOADING_FAILS, loading_failed, quiet_transformers
from mlworkers.science.pretrained.sources import ModelError
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, TrainingResult, train
from mlworkers.science.training.schedule import Places


class Labeller(TextClassifier):
    """A transformer with one value for a pair of texts; the sigmoid of the value is the similarity."""

    def forward(self, rows: Sequence[dict[str, Tensor]]) -> Tensor:
        """The values of b pairs before the sigmoid, (b,)."""
        return super().forward(rows).squeeze(-1)

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> Scores:
        """The mean of both orders, in 0..1, (n,), dropout off: what `cross_scores` gives for the saved model."""
        # (2n,), each σ(z).
        values = self.predicted(self.tokens([*first, *second], [*second, *first]), torch.sigmoid)
        # (2n,) -> (2, n): f(a, b) above f(b, a). The mean of the two makes the label symmetric.
        mean: Scores = values.reshape(2, -1).mean(axis=0)
        return mean


class LabellerLearner:
    """n pairs of compared texts with targets in 0..1, (n,). lengths: tokens of each. See `training.loop.Learner`."""

    def __init__(
        self, labeller: Labeller, first: Sequence[str], second: Sequence[str], targets: Scores
    ) -> None:
        self.module: nn.Module = labeller
        self._rows = labeller.tokens(first, second)
        self.lengths = [len(row["input_ids"]) for row in self._rows]  # tokens of both texts and marks
        device = next(labeller.parameters()).device
        self._targets = torch.as_tensor(targets, dtype=torch.float32).to(device)

    def shares(self, batch: Places) -> Tensor:
        """The mean over the batch, (b,)."""
        return torch.full((len(batch),), 1 / len(batch), device=self._targets.device)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some pairs of a batch; returns their binary cross-entropy."""
        logits = self.module([self._rows[place] for place in batch])  # (b,)
        targets = self._targets[torch.from_numpy(batch).to(shares.device)]  # (b,)
        # L = -Σ_i w_i (y_i log σ(z_i) + (1 - y_i) log(1 - σ(z_i))), with dL/dz_i = w_i (σ(z_i) - y_i): the
        # minimum is at σ(z_i) = y_i for soft targets too, and the gradient does not vanish where the sigmoid
        # saturates wrongly.
        loss = binary_cross_entropy_with_logits(logits, targets, reduction="none") @ shares
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


def labeller_trained(
    base: Path,
    rows: Rows,
    dev: Rows,
    plan: LabellerPlan,
    compute: Compute,
    *,
    seed: int,
    folder: Path,
    checkpoints: Path | None = None,
    now: Callable[[], float] = lambda: 0.0,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> TrainingResult:
    """Train a labeller of one seed and save the weights of its best epoch by the Spearman correlation on dev pairs.

    rows, dev: pairs whose sentences have letters or digits (`comparable`). The model reads the compared texts, as
    when it labels. checkpoints, now: as in `encoders.training.encoder_train`.
    Raises ModelError, TrainingError and CheckpointError, each one sentence.
    """
    labeller = load_labeller(base, plan, compute, seed=seed)  # a new head differs from seed to seed
    texts = compared_pairs(rows.first.tolist(), rows.second.tolist())
    kept = checkpoints_of(checkpoints, plan, (texts, rows.values.tolist()), now=now, seed=seed)
    dev_texts = compared_pairs(dev.first.tolist(), dev.second.tolist())
    learner = LabellerLearner(labeller, *texts, rows.values)
    trained = train(
        learner,
        plan.schedule(learner.lengths, seed),
        plan.loop(seed),
        # The best epoch's weights are kept.
        evaluate=lambda: spearman(labeller.similarities(*dev_texts), dev.values),
        checkpoints=kept,
        report=report,
        note=note,
        message="Training the scorer",
    )
    labeller.save(folder)
    return trained


def load_labeller(base: Path, plan: LabellerPlan, compute: Compute, *, seed: int) -> Labeller:
    """The base model with a head of one value; a new head's weights follow from the seed. Raises ModelError."""
    model, tokenizer = load_trainable(base, values=1, seed=seed)
    return Labeller(model.to(compute.device), tokenizer, longest=plan.max_length, compute=compute)


def check_base(base: Path) -> None:
    """Raises ModelError for a classifier of several classes: it has no one value that could be trained further."""
    with quiet_transformers():
        try:
            values = (
                AutoConfig.from_pretrained(base, local_files_only=True).num_labels
                if is_cross_encoder(base)
                else 1
            )
        except LOADING_FAILS as error:
            raise loading_failed(base, error) from error
    if values != 1:
        raise ModelError(
            f"The model in {base} gives {values} values for a pair; train an encoder, or a cross-encoder that "
            "gives one."
        )


def comparable(rows: Rows) -> Rows:
    """The pairs both of whose sentences have a letter or a digit: others are never labelled."""
    first, second = compared_pairs(rows.first.tolist(), rows.second.tolist())
    return rows.taken(np.array([bool(a and b) for a, b in zip(first, second, strict=True)], dtype=bool))
