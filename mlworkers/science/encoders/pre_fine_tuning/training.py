"""A classifier of inference, or of a task, from a base model and rows."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss

from curation.files.progress import Report, silent
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.pre_fine_tuning.tasks import TaskRows, Values
from mlworkers.science.encoders.text_classifier import TextClassifier, load_trainable
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, TrainingResult, train
from mlworkers.science.training.schedule import Places


class TaskLearner:
    """n rows with the numbers of their classes, or with scores in 0..1, (n,). lengths: tokens of each.

    See `training.loop.Learner`.
    """

    def __init__(self, classifier: TextClassifier, rows: TaskRows, *, classes: int) -> None:
        self.module: nn.Module = classifier
        self._rows = classifier.tokens(rows.first, rows.second)
        self.lengths = [len(row["input_ids"]) for row in self._rows]
        device = next(classifier.parameters()).device
        kind = torch.long if classes else torch.float32  # class numbers, or scores in 0..1
        self._values = torch.as_tensor(rows.values).to(kind).to(device)
        self._classes = classes

    def shares(self, batch: Places) -> Tensor:
        """The mean over the batch, (b,)."""
        return torch.full((len(batch),), 1 / len(batch), device=self._values.device)

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some rows of a batch; returns their cross-entropy, or their squared error for scores."""
        found = self.module([self._rows[place] for place in batch])  # (b, k)
        values = self._values[torch.from_numpy(batch).to(shares.device)]
        if self._classes:
            each = cross_entropy(found, values, reduction="none")  # (b,): -log softmax(z)[class], nats
        else:
            # (b,): (z - y)² of the value itself, without a sigmoid.
            each = mse_loss(found.squeeze(-1), values, reduction="none")
        # Σ_i loss_i / B over the rows of a batch or of a part of it, (b,) · (b,) -> (): parts add up to the
        # mean.
        loss = each @ shares
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


def classifier_trained(
    base: Path,
    rows: TaskRows,
    plan: PreFineTuningPlan,
    compute: Compute,
    *,
    classes: Sequence[str],
    epochs: int,
    seed: int,
    checkpoints: Path | None = None,
    now: Callable[[], float] = lambda: 0.0,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
    message: str = "Fine-tuning",
) -> tuple[TextClassifier, TrainingResult]:
    """The model in the folder `base` with new layers behind it, trained on rows; the last weights are kept.

    classes: their names; none for scores. checkpoints: a folder of this training's own. Raises ModelError,
    TrainingError and CheckpointError, each one sentence.
    """
    # new_head: every row of the comparison begins with the same layers behind its transformer.
    model, tokenizer = load_trainable(base, values=len(classes) or 1, seed=seed, new_head=True)
    model.config.problem_type = "single_label_classification" if classes else "regression"
    if classes:
        model.config.id2label = dict(enumerate(classes))
        model.config.label2id = {name: number for number, name in enumerate(classes)}
    classifier = TextClassifier(model.to(compute.device), tokenizer, longest=plan.max_length, compute=compute)
    learned = (rows.first, rows.second, rows.values.tolist())
    kept = checkpoints_of(checkpoints, plan, learned, now=now, seed=seed, epochs=epochs, base=str(base))
    learner = TaskLearner(classifier, rows, classes=len(classes))
    trained = train(
        learner,
        plan.schedule(learner.lengths, epochs=epochs, seed=seed),  # no dev pairs: the last weights stay
        plan.loop(seed),
        checkpoints=kept,
        report=report,
        note=note,
        message=message,
    )
    return classifier, trained


def predictions(classifier: TextClassifier, rows: TaskRows) -> Values:
    """What the model gives for n rows, (n, k), with dropout off."""
    return classifier.predicted(classifier.tokens(rows.first, rows.second))
