"""Training a paraphraser: tagged pairs, a grid of learning rates by the loss on dev pairs, and early stopping."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from curation.files.progress import Report, silent
from mlworkers.science.encoders.forward import length_batches
from mlworkers.science.paraphrasing.paraphraser import Paraphraser, TaggedPair
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.pretrained.compute import Fitting
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, TrainingResult, train
from mlworkers.science.training.writing import PairWritingLearner, TokenPair, token_losses


class TooFewPairsError(ValueError):
    """There is nothing to learn from. One sentence."""


@dataclass(frozen=True)
class TrainedParaphraser:
    """training: its curve; the evaluation of a point is the negative loss on dev pairs, in nats per token. fitting: the
    pairs that were trained on; too_long: those that do not fit into the context, of training and dev pairs.
    """

    training: TrainingResult
    fitting: int
    dev: int
    too_long: int

    @property
    def dev_loss(self) -> float:
        return -(self.training.kept.dev or 0.0)


def dev_loss(paraphraser: Paraphraser, pairs: Sequence[TokenPair]) -> float:
    """The mean loss of a token, in nats, dropout off and without smoothing."""
    paraphraser.model.eval()
    pad, total, fitting = paraphraser.tokenizer.pad_token_id, 0.0, Fitting()  # total: nats

    def of_part(places: Sequence[int]) -> float:
        """A sum over tokens, in nats."""
        return float(token_losses(paraphraser.model, [pairs[place] for place in places], pad=pad))

    with torch.inference_mode():
        lengths = [pair.longest for pair in pairs]  # padded sides: the longer one decides
        for places in length_batches(lengths, tokens_per_batch=paraphraser.compute.tokens_per_batch):
            total += sum(fitting.parts(of_part, places))
    # The mean over tokens, not over pairs or batches, does not depend on how the pairs are batched.
    # Its exponential is the perplexity of a token.
    return total / sum(len(pair.write) for pair in pairs)


def warmed_up(
    paraphraser: Paraphraser,
    sentences: Sequence[TaggedPair],
    plan: ParaphraserPlan,
    *,
    folder: Path,
    checkpoints: Path | None = None,
    now: Callable[[], float] = lambda: 0.0,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> float:
    """Train on sentences that are to be written again (`denoising`), and save the last weights.

    Returns the loss of the last steps, in nats per token. checkpoints, now: as in `encoders.training.encoder_train`.
    Raises TooFewPairsError, TrainingError, CheckpointError.
    """
    listed = _tokens(paraphraser, sentences)
    context = min(plan.context, paraphraser.context)
    # Cut pairs would teach unfinished paraphrases.
    fitting = [each for each in listed if each.longest <= context]
    if not fitting:
        raise TooFewPairsError(
            f"Of {len(listed)} sentences none fits into {context} tokens; choose a longer input."
        )
    trained = train(
        PairWritingLearner(paraphraser.model, fitting, pad=paraphraser.tokenizer.pad_token_id),  # unsmoothed
        plan.warm_up_schedule([pair.longest for pair in fitting]),
        plan.loop(plan.warm_up_rate),
        checkpoints=checkpoints_of(checkpoints, plan, fitting, now=now),
        report=report,
        note=note,
        message="Warming up on sentences",
    )
    paraphraser.save(folder)
    return trained.kept.loss


def paraphraser_trained(
    paraphraser: Paraphraser,
    pairs: Sequence[TaggedPair],
    dev: Sequence[TaggedPair],
    plan: ParaphraserPlan,
    *,
    rate: float,
    folder: Path,
    checkpoints: Path | None = None,
    now: Callable[[], float] = lambda: 0.0,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> TrainedParaphraser:
    """Train with one learning rate, and save the weights of the epoch with the lowest loss on dev pairs.

    It ends `plan.patience` epochs after the best one. checkpoints, now: as in `encoders.training.encoder_train`.
    Raises TooFewPairsError, TrainingError, CheckpointError.
    """
    listed, dev_listed = (_tokens(paraphraser, rows) for rows in (pairs, dev))
    context = min(plan.context, paraphraser.context)
    fitting, dev_fitting = (
        [each for each in rows if each.longest <= context] for rows in (listed, dev_listed)
    )
    if not fitting or not dev_fitting:
        raise TooFewPairsError(
            f"Of {len(listed)} training pairs {len(fitting)} fit into {context} tokens, and of {len(dev_listed)} dev "
            f"pairs {len(dev_fitting)}; choose a longer input."
        )
    patience = _Patience(plan.patience)

    def noted(point: CurvePoint) -> None:
        patience.see(point)
        note(point)

    trained = train(
        PairWritingLearner(
            paraphraser.model, fitting, pad=paraphraser.tokenizer.pad_token_id, smoothing=plan.smoothing
        ),
        plan.schedule([pair.longest for pair in fitting]),
        plan.loop(rate),
        evaluate=lambda: -dev_loss(paraphraser, dev_fitting),  # negated: the highest value is kept
        checkpoints=checkpoints_of(checkpoints, plan, (fitting, dev_fitting), now=now, rate=rate),
        report=report,
        note=noted,
        expired=lambda: patience.is_over,
        message="Training the paraphraser",
    )
    paraphraser.save(folder)
    too_long = len(listed) + len(dev_listed) - len(fitting) - len(dev_fitting)
    return TrainedParaphraser(trained, len(fitting), len(dev_fitting), too_long)


class _Patience:
    """Whether so many evaluations have gone by without a better one. A training that goes on from a checkpoint shows
    the evaluations before it again.
    """

    def __init__(self, most: int) -> None:
        self._most, self._best, self._since = most, float("-inf"), 0

    @property
    def is_over(self) -> bool:
        return self._since >= self._most  # patience in evaluations, one an epoch

    def see(self, point: CurvePoint) -> None:
        if point.dev is None:
            return
        # An equal value does not count as better, so that a plateau ends the training.
        self._since = 0 if point.dev > self._best else self._since + 1
        self._best = max(self._best, point.dev)


def _tokens(paraphraser: Paraphraser, pairs: Sequence[TaggedPair]) -> list[TokenPair]:
    return [
        TokenPair(
            paraphraser.input_tokens(pair.source, pair.target), paraphraser.sentence_tokens(pair.paraphrase)
        )
        for pair in pairs
    ]
