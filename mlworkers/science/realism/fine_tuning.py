"""An encoder with a two-way head, trained end to end: the classifier of RISE (section 3), with the settings of its
released code.

Cross-entropy, AdamW without decay, a linear schedule with warm-up, dropout on in every epoch (RISE's code leaves it off
after the first), and of the epochs the one of the lowest loss on an inner fold that is not learned from.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from curation.files.progress import Report, silent
from mlworkers.science.encoders.forward import TokenizedSentences, length_batches
from mlworkers.science.encoders.plan import ADAM_EPSILON
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.realism.calibration import negative_log_likelihood
from mlworkers.science.realism.dataset import Integers, Marks, SdiData
from mlworkers.science.realism.plan import RealismPlan
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import Places, ShuffledEpochs

Floats = NDArray[np.float64]
DROPOUT = 0.1  # BERT's own, before its classification head


class FineTuned(nn.Module):
    """Tokens of B sentences -> logits of machine and human, (B, 2): pooled vector, dropout, one linear layer.

    The vector is taken before it is brought to length 1: a head on unit vectors would have to grow for long.
    """

    def __init__(self, encoder: SentenceTransformer, *, longest: int | None = None, seed: int = 0) -> None:
        super().__init__()
        self.encoder = encoder
        if longest is not None:
            encoder.max_seq_length = min(longest, encoder.max_seq_length or longest)
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Linear(encoder.get_embedding_dimension() or 0, 2)
        generator = torch.Generator().manual_seed(seed)
        # kaiming_uniform_ with a = √5: √(6 / (1 + 5)) / √d = 1 / √d.
        reach = 1 / math.sqrt(self.head.in_features)  # as PyTorch initialises a layer, but with a seed
        with torch.no_grad():
            self.head.weight.uniform_(-reach, reach, generator=generator)
            self.head.bias.zero_()
        self.head.to(encoder.device)

    def forward(self, features: dict[str, Any]) -> Tensor:
        """The logits (B, 2) of a batch of tokens. Layers of the encoder that normalise vectors are skipped."""
        for module in self.encoder:
            if not isinstance(module, Normalize):  # tokens (B, T) -> pooled vector (B, d)
                features = module(features)
        logits: Tensor = self.head(self.dropout(features["sentence_embedding"]))
        return logits

    def logits(self, texts: Sequence[str], compute: Compute, *, report: Report = silent) -> Floats:
        """Logits (n, 2) of n dressed texts, dropout off."""
        self.eval()
        tokenized, values, done = TokenizedSentences(self.encoder, texts), np.empty((len(texts), 2)), 0
        fitting = Fitting()

        @torch.inference_mode()
        def of_part(places: Places) -> Floats:
            """(b, 2)."""
            logits: Floats = self(tokenized.features(places, self.encoder.device)).double().cpu().numpy()
            return logits

        for places in length_batches(tokenized.lengths, tokens_per_batch=compute.tokens_per_batch):
            values[places] = fitting.values(of_part, places)  # back to the order of the texts
            done += len(places)
            report(done, len(texts), "Scoring sentences")
        return values


@dataclass(frozen=True)
class Part:
    """What one classifier learns from and is chosen by: places of sentences.

    Both classes are learned from as often: of the larger one, as many are drawn as the smaller has.
    """

    number: int
    learned: Integers
    inner: Integers


def part_of(data: SdiData, plan: RealismPlan, number: int) -> Part:
    """The part of a fold, or, of the number past the last fold, that of the classifier of all: chosen by fold 0."""
    seen, inner = (
        (data.learned, data.inner(-1)) if number == data.folds else (data.seen_by(number), data.inner(number))
    )
    fitted = seen & ~inner
    # Places of machine and of human sentences.
    classes = [np.flatnonzero(fitted & (data.human == kind)) for kind in (False, True)]
    fewest = min(map(len, classes))
    rng = np.random.default_rng([plan.seed, number])  # a stream for each fold, so folds may run in any order
    # RISE, section 3: "in the same proportion". Only training is balanced; the inner fold stays as it is.
    drawn = [np.sort(rng.permutation(places)[:fewest]) for places in classes]
    return Part(number, np.concatenate(drawn), np.flatnonzero(inner))


def schedule_of(part: Part, plan: RealismPlan) -> ShuffledEpochs:
    """After each epoch the classifier is evaluated on the inner fold."""
    return ShuffledEpochs(
        part.learned.size,
        batch_size=plan.batch_size,
        epochs=plan.epochs,
        warmup=plan.warmup,
        seed=plan.seed + part.number,
    )


def fine_tune(
    encoder: SentenceTransformer,
    data: SdiData,
    plan: RealismPlan,
    part: Part,
    compute: Compute,
    *,
    checkpoints: Path | None = None,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> FineTuned:
    """Train the encoder, in place, with a new head. A training that was stopped goes on from its checkpoints.

    Raises TrainingError where the loss is not a number any more, CheckpointError where the checkpoints are of another
    training, and TooLittleMemory.
    """
    model = FineTuned(encoder, longest=plan.max_length, seed=plan.seed + part.number)
    inner_texts, inner_human = [data.texts[index] for index in part.inner], data.human[part.inner]

    def evaluate() -> float:
        # Negated: the training loop keeps the weights of the highest value.
        return -negative_log_likelihood(model.logits(inner_texts, compute), inner_human, 1.0)

    learned, human = [data.texts[index] for index in part.learned], data.human[part.learned]
    learner = SdiLearner(model, learned, human)
    examples = (learned, human.tolist(), inner_texts, inner_human.tolist())
    kept = checkpoints_of(checkpoints, plan, examples, every_steps=plan.checkpoint_steps, part=part.number)
    train(
        learner,
        schedule_of(part, plan),
        # RISE's code clips no gradient and lets no weight decay.
        LoopPlan(learning_rate=plan.learning_rate, epsilon=ADAM_EPSILON, seed=plan.seed + part.number),
        evaluate=evaluate,
        checkpoints=kept,
        report=report,
        note=note,
    )
    if kept is not None:
        kept.remove()
    return model


class SdiLearner:
    """n dressed texts and their classes (n,), as `training.loop` takes them."""

    def __init__(self, model: FineTuned, texts: Sequence[str], human: Marks) -> None:
        self.module: nn.Module = model
        self._tokenized = TokenizedSentences(model.encoder, texts)
        self._human = torch.from_numpy(human.astype(np.int64)).to(model.encoder.device)

    def shares(self, batch: Places) -> Tensor:
        """The mean over the batch, (b,)."""
        return torch.full((len(batch),), 1 / len(batch), device=self._human.device)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some sentences of a batch; returns their loss."""
        logits = self.module(self._tokenized.features(batch, self._human.device))
        human = self._human[torch.from_numpy(batch).to(self._human.device)]
        # Σ_i share_i · -log p(class of i): parts of a batch add up to the mean over the whole batch.
        loss = cross_entropy(logits, human, reduction="none") @ shares
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()
