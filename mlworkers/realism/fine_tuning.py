"""The training of a fine-tuned classifier: of each fold, and of all sentences.

Cross-entropy, AdamW without decay, a linear schedule with warm-up, dropout on in every epoch (RISE's code leaves it off
after the first), and of the epochs the one of the lowest loss on an inner fold that is not learnt from.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from mlworkers.compute import Compute
from mlworkers.encoders.forward import TokenizedSentences
from mlworkers.encoders.plan import ADAM_EPSILON
from mlworkers.progress import Report, silent
from mlworkers.realism.calibration import negative_log_likelihood
from mlworkers.realism.dataset import SdiData
from mlworkers.realism.fine_tuned import FineTuned
from mlworkers.realism.grouping import Integers, Marks
from mlworkers.realism.plan import RealismPlan
from mlworkers.training.checkpoints import Checkpoints
from mlworkers.training.loop import CurvePoint, train
from mlworkers.training.plan import LoopPlan
from mlworkers.training.schedule import Places, ShuffledEpochs


@dataclass(frozen=True)
class Part:
    """What one classifier learns from and is chosen by: places of sentences.

    Both classes are learnt from as often: of the larger one, as many are drawn as the smaller has.
    """

    number: int
    learnt: Integers
    inner: Integers


def part_of(data: SdiData, plan: RealismPlan, number: int) -> Part:
    """The part of a fold, or, of the number past the last fold, that of the classifier of all: chosen by fold 0."""
    seen, inner = (
        (data.learnt, data.inner(-1)) if number == data.folds else (data.seen_by(number), data.inner(number))
    )
    fitted = seen & ~inner
    classes = [np.flatnonzero(fitted & (data.human == kind)) for kind in (False, True)]
    fewest = min(map(len, classes))
    rng = np.random.default_rng([plan.seed, number])
    drawn = [np.sort(rng.permutation(places)[:fewest]) for places in classes]
    return Part(number, np.concatenate(drawn), np.flatnonzero(inner))


def steps_of(part: Part, plan: RealismPlan) -> int:
    """Of its training."""
    return _schedule(plan, part).steps


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

    Raises TrainingError where the loss is no number any more, CheckpointError where the checkpoints are of another
    training, and TooLittleMemory.
    """
    model = FineTuned(encoder, longest=plan.max_length, seed=plan.seed + part.number)
    inner_texts, inner_human = [data.texts[place] for place in part.inner], data.human[part.inner]

    def evaluate() -> float:
        return -negative_log_likelihood(model.logits(inner_texts, compute), inner_human, 1.0)

    learner = SdiLearner(model, [data.texts[place] for place in part.learnt], data.human[part.learnt])
    kept = None
    if checkpoints is not None:
        about = {"part": part.number, "plan": repr(plan)}
        kept = Checkpoints(checkpoints, about=about, every_steps=plan.checkpoint_steps)
    train(
        learner,
        _schedule(plan, part),
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
        loss = cross_entropy(logits, human, reduction="none") @ shares
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


def _schedule(plan: RealismPlan, part: Part) -> ShuffledEpochs:
    """After each epoch the classifier is evaluated on the inner fold."""
    return ShuffledEpochs.planned(
        part.learnt.size,
        batch_size=plan.batch_size,
        epochs=plan.epochs,
        warmup=plan.warmup,
        seed=plan.seed + part.number,
    )
