"""From a base model, scored pairs and a plan to a trained encoder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike
from sentence_transformers import SentenceTransformer
from torch import Tensor
from torch.nn.functional import cosine_similarity

from curation.files.progress import Report, silent
from curation.statistics.correlation import spearman
from mlworkers.plans.fields import devices_wanted
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.forward import TokenizedSentences, vectors
from mlworkers.science.encoders.losses import batch_shares, weighted_cosine_loss
from mlworkers.science.encoders.plan import EncoderPlan, Loss, Normalise, Pooling
from mlworkers.science.encoders.ranking import angle_similarities, ranking_loss
from mlworkers.science.encoders.rows import Rows, validation_split
from mlworkers.science.encoders.weighting import RowWeights, Weights, weigh
from mlworkers.science.pretrained.compute import Compute, choose_compute, devices_of, sent
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.group import Group
from mlworkers.science.training.loop import TrainingResult, train
from mlworkers.science.training.schedule import Places
from mlworkers.science.training.several import Note, trained_on

# Tokens of a forward pass that gradients flow through; measured with MiniLM on two cores, log of experiments, W-01.
TOKENS_PER_PASS = {"cpu": 512, "mps": 8192, "cuda": 65536}


class Pairs:
    """`rows` n pairs with targets in 0..1; weights (n,), 0 or more. What learners of pairs have in common."""

    def __init__(
        self,
        encoder: SentenceTransformer,
        rows: Rows,
        weights: ArrayLike,
        compute: Compute,
        *,
        normalise: Normalise = Normalise.NONE,
    ) -> None:
        self.module = encoder
        self._normalise = normalise
        self._precision = compute.dtype
        sentences = rows.sentences
        index_of = {sentence: number for number, sentence in enumerate(sentences)}
        self._tokenized = TokenizedSentences(encoder, sentences)
        # (n,) twice: numbers of sentences, each of which is tokenized once.
        self._sides = [
            np.array([index_of[text] for text in side.tolist()], dtype=np.int64)
            for side in (rows.first, rows.second)
        ]
        self._targets = _column(rows.values, encoder.device)  # (n,), float32
        self._weights = _column(weights, encoder.device)
        self._tokens = TOKENS_PER_PASS[compute.device.type]

    def shares(self, batch: Places) -> Tensor:
        """What each pair adds to its batch's loss, (b,)."""
        # (b,): w_i / B, or w_i / Σw.
        return batch_shares(self._weights[self._on_device(batch)], self._normalise)

    def _vectors(self, batch: Places) -> tuple[Tensor, Tensor]:
        """Of both sides of b pairs, (b, d) and (b, d), which go through the encoder together."""
        # One call for (2b,) sentences: both sides of a pair have the same weights and one padding budget.
        # (2b,): all first sentences, then all second.
        both = np.concatenate([side[batch] for side in self._sides])
        # Weights stay in float32: only what is computed with them is rounded.
        lower = self._precision is not torch.float32
        with torch.autocast(self.module.device.type, dtype=self._precision, enabled=lower):
            both_vectors = vectors(self.module, self._tokenized, both, tokens_per_pass=self._tokens)
        left, right = both_vectors.float().chunk(2)  # (2b, d) -> (b, d), (b, d)
        return left, right

    def _on_device(self, batch: Places) -> Tensor:
        return sent(torch.from_numpy(batch), self._targets.device)


class PairLearner(Pairs):
    """Of the weighted cosine loss. See `training.loop.Learner`."""

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some pairs of a batch; returns their loss."""
        left, right = self._vectors(batch)
        # Σ_i w_i / B · (cos_i - y_i)².
        loss = weighted_cosine_loss(left, right, self._targets[self._on_device(batch)], shares)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()


class RankingLearner(Pairs):
    """Of a loss that compares all pairs of a batch with one another, CoSENT or AnglE. It needs one number of each pair.
    See `training.whole_batches.WholeBatchLearner`.
    """

    rows_kept = 0

    def __init__(
        self,
        encoder: SentenceTransformer,
        rows: Rows,
        weights: ArrayLike,
        compute: Compute,
        *,
        loss: Loss,
        scale: float,
        normalise: Normalise = Normalise.NONE,
    ) -> None:
        super().__init__(encoder, rows, weights, compute, normalise=normalise)
        # One number of each pair, (b, d), (b, d) -> (b,): the cosine in -1..1, or AnglE's in 0..√2.
        self._similarities_of = angle_similarities if loss is Loss.ANGLE else cosine_similarity
        self._scale = scale

    def outputs(self, batch: Places) -> list[Tensor]:
        """The similarity of each pair, (b,)."""
        return [self._similarities_of(*self._vectors(batch))]  # (b, d), (b, d) -> (b,)

    def loss(self, outputs: Sequence[Tensor], batch: Places, shares: Tensor) -> Tensor:
        # With shares w_i / B this is w_i again; with shares w_i / Σw it is B w_i / Σw, weights of the mean 1.
        weights = shares * len(batch)  # the loss is not a mean over the batch
        return ranking_loss(outputs[0], self._targets[self._on_device(batch)], weights, scale=self._scale)


def learner_of(
    encoder: SentenceTransformer, rows: Rows, weights: ArrayLike, compute: Compute, plan: EncoderPlan
) -> PairLearner | RankingLearner:
    """The learner of the plan's loss."""
    if plan.loss is Loss.COSINE:
        return PairLearner(encoder, rows, weights, compute, normalise=plan.normalise)
    return RankingLearner(
        encoder, rows, weights, compute, loss=plan.loss, scale=plan.loss_scale, normalise=plan.normalise
    )


def _column(values: ArrayLike, device: torch.device) -> Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float32)).to(device)


@dataclass(frozen=True)
class TrainedEncoder:
    """A trained encoder, the rows it was trained on, and the weight of each.

    validation: how many rows were used to choose the best weights. tied: how many rows were used for neither, because
    they share a sentence with those.
    """

    encoder: SentenceTransformer
    training: TrainingResult
    rows: Rows
    weights: RowWeights
    validation: int
    tied: int


def encoder_train(
    base: Path,
    rows: Rows,
    plan: EncoderPlan,
    *,
    checkpoints: Path | None = None,
    now: Callable[[], float] | None = None,
    report: Report = silent,
    note: Note = lambda point: None,
) -> TrainedEncoder:
    """Train the encoder in the folder `base` on rows, as the plan says.

    checkpoints: a folder of this training's own, in which it finds and leaves its checkpoints; now: a clock in seconds,
    a function of a module where there are several devices. Raises the errors of `rows`, `weighting`, `training` and
    `backbone`, each one sentence.
    """
    unfiltered, validation, tied, weighed = _split_and_weighed(rows, plan)
    used = unfiltered.taken(weighed.places)  # a filter's dropped pairs take no step
    recipe = EncoderTraining(base, used, validation, weighed.weights, plan, checkpoints, now)
    devices = devices_of(plan.device, devices_wanted(plan.devices))
    encoder, training = trained_on(devices, plan.precision, recipe, report=report, note=note)
    return TrainedEncoder(encoder, training, used, weighed, len(validation), tied)


@dataclass(frozen=True)
class EncoderTraining:
    """All that a process needs to train the encoder (`training.several.Recipe`)."""

    base: Path
    used: Rows
    validation: Rows
    weights: Weights
    plan: EncoderPlan
    checkpoints: Path | None
    now: Callable[[], float] | None

    def model(self, compute: Compute) -> SentenceTransformer:
        return base_encoder(self.base, self.plan, compute)

    def module(self, model: SentenceTransformer) -> SentenceTransformer:
        return model

    def train(
        self, model: SentenceTransformer, compute: Compute, *, report: Report, note: Note, group: Group
    ) -> TrainingResult:
        used, plan, validation = self.used, self.plan, self.validation
        learned = (
            *(column.tolist() for column in (used.first, used.second, used.values)),
            self.weights.tolist(),
        )

        def evaluate() -> float | None:
            # The validation pairs are not weighted, so that all weightings are judged by the same measure.
            first, second = validation.first.tolist(), validation.second.tolist()
            return spearman(pair_cosines(model, first, second, compute).values, validation.values)

        return train(
            learner_of(model, used, self.weights, compute, plan),
            plan.schedule(len(used)),
            plan.loop(),
            evaluate=evaluate if len(validation) else None,
            checkpoints=checkpoints_of(self.checkpoints, plan, learned, now=self.now),
            report=report,
            note=note,
            group=group,
        )


def steps_planned(rows: Rows, plan: EncoderPlan) -> int:
    """The steps that `encoder_train` will take. Raises what it would raise about rows and weights."""
    *_rows, weighed = _split_and_weighed(rows, plan)
    return plan.schedule(weighed.places.size).steps


def _split_and_weighed(rows: Rows, plan: EncoderPlan) -> tuple[Rows, Rows, int, RowWeights]:
    """Rows to train on, the validation pairs, how many are in neither, and the weights of the first."""
    # No validation pairs: the last weights stay.
    training, validation, tied = rows, rows.taken(np.arange(0)), 0
    # By Spearman on these pairs the best weights are chosen; they are split off before weights are made.
    if plan.validation_share:
        training, validation, tied = validation_split(rows, plan.validation_share, seed=plan.seed)
    weighed = weigh(
        plan.weighting,
        training.weighable,
        share=plan.filter_share,
        unjudged=plan.unjudged_weight,
        normalise=plan.normalise,
        seed=plan.seed,
    )
    return training, validation, tied, weighed


def base_encoder(base: Path, plan: EncoderPlan, compute: Compute) -> SentenceTransformer:
    """The base model in float32 whatever the precision (weights are kept so), its pooling and its longest input
    as the plan says.
    """
    encoder = load_encoder(base, replace(compute, dtype=choose_compute("cpu").dtype))
    own = encoder.max_seq_length
    if plan.pooling is not Pooling.OWN:
        pooling_set(encoder, plan.pooling.value)
    # Positions are learned: never above the model's own.
    encoder.max_seq_length = plan.max_length if own is None else min(own, plan.max_length)
    return encoder
