"""A labeller: a cross-encoder that is trained on the scores that people gave to pairs (ConPGS, section 3.1)."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from curation.files.progress import Report, silent
from curation.statistics.correlation import Scores, spearman
from mlworkers.encoders.forward import length_batches
from mlworkers.encoders.rows import Rows
from mlworkers.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.paraphrasing.text import compared_pairs
from mlworkers.pretrained.compute import Compute
from mlworkers.pretrained.cross_encoder import is_cross_encoder
from mlworkers.pretrained.encoder import transformer_folder
from mlworkers.pretrained.loading import LOADING_FAILS, check_loaded, loading_failed
from mlworkers.pretrained.quiet import quiet_transformers
from mlworkers.pretrained.sources import ModelError
from mlworkers.training.checkpoints import Checkpoints
from mlworkers.training.loop import CurvePoint, TrainingResult, train
from mlworkers.training.schedule import Places

SECONDS_BETWEEN_CHECKPOINTS = 60.0
_HEAD = ("classifier.", "pooler.", "score.", "head.")  # weights that a base model need not have


class Labeller(nn.Module):
    """A transformer with one value for a pair of texts; the sigmoid of the value is the similarity."""

    def __init__(self, model: Any, tokenizer: Any, *, longest: int, compute: Compute) -> None:
        super().__init__()
        self.transformer, self._tokenizer, self._compute = model, tokenizer, compute
        limits = (
            longest,
            tokenizer.model_max_length,
            getattr(model.config, "max_position_embeddings", longest),
        )
        tokenizer.model_max_length = self._longest = min(limits)

    def tokens(self, first: Sequence[str], second: Sequence[str]) -> list[dict[str, Tensor]]:
        """n pairs as the model reads them, cut at the longest input."""
        read = self._tokenizer(list(first), list(second), truncation=True, max_length=self._longest)
        names = [name for name in self._tokenizer.model_input_names if name in read]
        return [{name: torch.tensor(read[name][row]) for name in names} for row in range(len(first))]

    def forward(self, rows: Sequence[dict[str, Tensor]]) -> Tensor:
        """The values of b pairs before the sigmoid, (b,)."""
        fill = {"input_ids": int(self._tokenizer.pad_token_id or 0)}
        padded = {
            name: pad_sequence([row[name] for row in rows], True, fill.get(name, 0)).to(self._compute.device)
            for name in rows[0]
        }
        logits: Tensor = self.transformer(**padded).logits.squeeze(-1)
        return logits

    def similarities(self, first: Sequence[str], second: Sequence[str]) -> Scores:
        """The mean of both orders, in 0..1, (n,), dropout off: what `cross_scores` gives for the saved model."""
        self.eval()
        rows = self.tokens([*first, *second], [*second, *first])
        values = np.empty(len(rows))
        with torch.inference_mode():
            lengths = [row["input_ids"].numel() for row in rows]
            for places in length_batches(lengths, tokens_per_batch=self._compute.tokens_per_batch):
                values[places] = self([rows[place] for place in places]).sigmoid().double().cpu().numpy()
        mean: Scores = values.reshape(2, -1).mean(axis=0)
        return mean

    def save(self, folder: Path) -> None:
        with quiet_transformers():
            self.transformer.save_pretrained(folder)
            self._tokenizer.save_pretrained(folder)


class LabellerLearner:
    """n pairs of compared texts with targets in 0..1, (n,). See `training.loop.Learner`."""

    def __init__(
        self, labeller: Labeller, first: Sequence[str], second: Sequence[str], targets: Scores
    ) -> None:
        self.module: nn.Module = labeller
        self._rows = labeller.tokens(first, second)
        device = next(labeller.parameters()).device
        self._targets = torch.as_tensor(targets, dtype=torch.float32).to(device)

    def shares(self, batch: Places) -> Tensor:
        """The mean over the batch, (b,)."""
        return torch.full((len(batch),), 1 / len(batch), device=self._targets.device)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some pairs of a batch; returns their binary cross-entropy."""
        logits = self.module([self._rows[place] for place in batch])  # (b,)
        targets = self._targets[torch.from_numpy(batch).to(shares.device)]
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
    labeller = load_trainable(base, plan, compute, seed=seed)
    texts = compared_pairs(rows.first.tolist(), rows.second.tolist())
    kept = None
    if checkpoints is not None:
        digest = hashlib.sha256(repr((texts, rows.values.tolist())).encode()).hexdigest()
        about = {**asdict(plan), "pairs": digest, "seed": seed}
        kept = Checkpoints(checkpoints, about=about, every_seconds=SECONDS_BETWEEN_CHECKPOINTS, now=now)
    dev_texts = compared_pairs(dev.first.tolist(), dev.second.tolist())
    trained = train(
        LabellerLearner(labeller, *texts, rows.values),
        plan.schedule(len(rows), seed),
        plan.loop(seed),
        evaluate=lambda: spearman(labeller.similarities(*dev_texts), dev.values),
        checkpoints=kept,
        report=report,
        note=note,
        message="Training the labeller",
    )
    labeller.save(folder)
    return trained


def load_trainable(base: Path, plan: LabellerPlan, compute: Compute, *, seed: int) -> Labeller:
    """The base model with a head of one value; a new head's weights follow from the seed. Raises ModelError."""
    crossed = is_cross_encoder(base)
    place = base if crossed else transformer_folder(base)
    loader: Any = AutoModelForSequenceClassification
    with quiet_transformers(), torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            model, told = loader.from_pretrained(
                place,
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                **({} if crossed else {"num_labels": 1}),
            )
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False)
            missing = [name for name in told["missing_keys"] if not name.startswith(_HEAD)]
            check_loaded(model.state_dict().keys(), {**told, "missing_keys": missing})
        except LOADING_FAILS as error:
            raise loading_failed(base, error) from error
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
