"""The training loop: the same whatever happens on the way, and the same as others' where they can be compared."""

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import InputExample, SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CosineSimilarityLoss
from torch import nn
from torch.utils.data import DataLoader

from mlworkers.science.encoders.plan import EncoderPlan, Loss, Normalise, Weighting
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.training import (
    PairLearner,
    RankingLearner,
    encoder_train,
    learner_of,
    steps_planned,
)
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.training.checkpoints import CheckpointError, Checkpoints
from mlworkers.science.training.loop import Learner, TrainingError, TrainingResult, train
from mlworkers.science.training.whole_batches import whole_backward
from tests.ml.tiny import WORDS, tiny_encoder

PLAN = EncoderPlan("d", "m", "s", "p", batch_size=4, epochs=2, learning_rate=1e-3, device="cpu", seed=3)
PAIRS = 14  # seven steps, the last of each epoch with half a batch


def rows_made(count: int = PAIRS) -> Rows:
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 12))) for _ in range(2 * count)]
    first, second = (np.array(side, dtype=object) for side in (texts[:count], texts[count:]))
    numbers = np.arange(count)
    return Rows(
        numbers, 2 * numbers, 2 * numbers + 1, first, second, rng.uniform(size=count), rng.uniform(size=count)
    )


ROWS = rows_made()
ONES = np.ones(PAIRS)


@pytest.fixture(scope="session")
def compute() -> Compute:
    return replace(choose_compute("cpu"), workers=2)


@pytest.fixture
def fresh(encoder_folder) -> SentenceTransformer:
    return load_encoder(encoder_folder, choose_compute("cpu"))


def without_dropout(encoder: SentenceTransformer) -> SentenceTransformer:
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return encoder


def weights_of(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in module.named_parameters()}


def same_bits(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def learned(learner: Learner, plan: EncoderPlan = PLAN, **about) -> TrainingResult:
    return train(learner, plan.schedule(PAIRS), plan.loop(), **about)


def trained(
    folder: Path, compute: Compute, weights=ONES, plan: EncoderPlan = PLAN, **about
) -> dict[str, torch.Tensor]:
    encoder = load_encoder(folder, compute)
    learned(PairLearner(encoder, ROWS, weights, compute, normalise=plan.normalise), plan, **about)
    return weights_of(encoder)


@pytest.mark.exhaustive
def test_training_is_the_same_again_with_dropout_and_several_cores(encoder_folder, compute) -> None:
    first, again = (trained(encoder_folder, compute) for _ in range(2))
    other = trained(encoder_folder, compute, plan=replace(PLAN, seed=4))

    assert same_bits(first, again)
    assert not same_bits(first, other)


def test_random_numbers_of_others_are_left_as_they_were(encoder_folder, compute) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)

    trained(encoder_folder, compute)

    assert torch.equal(torch.rand(3), expected)


def test_realism_of_one_for_every_pair_is_plain_training_bit_for_bit(encoder_folder) -> None:
    real = replace(ROWS, realism=ONES)

    plain = encoder_train(encoder_folder, real, replace(PLAN, weighting=Weighting.PLAIN))
    weighed = encoder_train(encoder_folder, real, replace(PLAN, weighting=Weighting.REALISM))

    assert same_bits(weights_of(plain.encoder), weights_of(weighed.encoder))


def test_the_order_of_pairs_does_not_depend_on_their_weights(encoder_folder, compute) -> None:
    seen = []

    class Watched(PairLearner):
        def backward(self, batch, shares):
            seen.append(batch.tolist())
            return super().backward(batch, shares)

    for weights in (ONES, ROWS.realism):
        learned(Watched(load_encoder(encoder_folder, compute), ROWS, weights, compute), PLAN)

    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert len(seen) == 2 * PLAN.schedule(PAIRS).steps


def test_the_loop_agrees_with_sentence_transformers_own(encoder_folder, compute, fresh) -> None:
    ours = without_dropout(load_encoder(encoder_folder, compute))
    learned(PairLearner(ours, ROWS, ONES, compute), replace(PLAN, clip=0.01))
    theirs, schedule = without_dropout(fresh), PLAN.schedule(PAIRS)
    examples = [
        [
            InputExample(texts=[ROWS.first[row], ROWS.second[row]], label=float(ROWS.values[row]))
            for row in batch
        ]
        for batch in map(schedule.batch, range(schedule.steps))
    ]

    theirs.old_fit(
        [(Batches(examples), CosineSimilarityLoss(theirs))],
        epochs=1,
        warmup_steps=schedule.rising_steps,
        optimizer_params={"lr": PLAN.learning_rate, "eps": 1e-6},
        weight_decay=PLAN.weight_decay,
        max_grad_norm=0.01,
        show_progress_bar=False,
    )

    before = weights_of(load_encoder(encoder_folder, compute))
    assert max(float((weight - before[name]).abs().max()) for name, weight in weights_of(ours).items()) > 1e-3
    for name, weight in weights_of(theirs).items():
        assert torch.allclose(weights_of(ours)[name], weight, atol=2e-6), name


class Batches(DataLoader):
    """Batches that are made already, as their loop takes them."""

    def __init__(self, batches: list[list[InputExample]]) -> None:
        super().__init__([example for batch in batches for example in batch], batch_size=1)
        self.batches = batches

    def __iter__(self):
        return (self.collate_fn(batch) for batch in self.batches)

    def __len__(self) -> int:
        return len(self.batches)


@pytest.mark.parametrize("normalise", [Normalise.NONE, Normalise.BATCH])
def test_a_batch_in_parts_has_the_gradients_of_the_whole(encoder_folder, compute, normalise) -> None:
    found = []
    for parts in ([slice(0, 6)], [slice(0, 1), slice(1, 4), slice(4, 6)]):
        encoder = without_dropout(load_encoder(encoder_folder, compute).train())
        learner = PairLearner(encoder, ROWS, ROWS.realism, compute, normalise=normalise)
        batch = np.array([3, 0, 9, 12, 5, 7])
        shares = learner.shares(batch)
        loss = sum(float(learner.backward(batch[part], shares[part])) for part in parts)
        found.append(
            (
                loss,
                {name: weight.grad for name, weight in encoder.named_parameters() if weight.grad is not None},
            )
        )

    (whole, gradients), (summed, others) = found
    assert summed == pytest.approx(whole, rel=1e-5)
    assert all(torch.allclose(gradients[name], others[name], atol=1e-6) for name in gradients)


def test_where_memory_runs_short_batches_are_learned_in_halves_with_the_same_loss(
    encoder_folder, compute
) -> None:
    class Cramped(PairLearner):
        def backward(self, batch, shares):
            if len(batch) > 1:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super().backward(batch, shares)

    said, points = [], []
    for kind in (PairLearner, Cramped):
        learner = kind(without_dropout(load_encoder(encoder_folder, compute)), ROWS, ONES, compute)
        points.append(learned(learner, report=lambda done, total, message: said.append(message)).points)

    losses = [[point.loss for point in each] for each in points]
    assert losses[1] == pytest.approx(losses[0], rel=1e-3)
    assert [text for text in said if "Memory" in text] == [
        "Memory ran short: going on with 2 rows at a time",
        "Memory ran short: going on with 1 rows at a time",
    ]


RANKED = [replace(PLAN, loss=Loss.COSENT), replace(PLAN, loss=Loss.ANGLE, normalise=Normalise.BATCH)]


@pytest.mark.parametrize("plan", RANKED)
def test_where_memory_runs_short_a_ranking_loss_still_compares_the_whole_batch(
    encoder_folder, compute, plan
) -> None:
    batch, found = np.array([3, 0, 9, 12, 5, 7, 1]), []
    for rows in (7, 3, 1):
        encoder = without_dropout(load_encoder(encoder_folder, compute).train())
        learner = learner_of(encoder, ROWS, ROWS.realism, compute, plan)
        loss = whole_backward(learner, batch, learner.shares(batch), rows=rows)
        gradients = [weight.grad for weight in encoder.parameters() if weight.grad is not None]
        found.append((float(loss), torch.cat([gradient.flatten() for gradient in gradients])))

    whole, *in_parts = found
    for loss, gradients in in_parts:
        assert loss == pytest.approx(whole[0], rel=1e-5)
        assert torch.allclose(gradients, whole[1], rtol=1e-4, atol=1e-3)


def test_parts_of_a_ranking_loss_go_through_twice_with_the_same_dropout(encoder_folder, compute) -> None:
    seen: list[torch.Tensor] = []

    class Watched(RankingLearner):
        def outputs(self, batch):
            seen.extend(super().outputs(batch))
            return seen[-1:]

    learner = Watched(
        load_encoder(encoder_folder, compute).train(), ROWS, ONES, compute, loss=Loss.COSENT, scale=20.0
    )
    batch = np.arange(6)

    whole_backward(learner, batch, learner.shares(batch), rows=2)

    assert [one.requires_grad for one in seen] == [False] * 3 + [True] * 3
    assert all(torch.equal(before, after) for before, after in zip(seen[:3], seen[3:], strict=True))
    [later] = learner.outputs(batch[:2])
    assert not torch.equal(later, seen[0])  # dropout changes from one pass to the next


@pytest.mark.exhaustive
@pytest.mark.parametrize("loss", [Loss.COSENT, Loss.ANGLE])
def test_a_ranking_loss_goes_down_and_halves_batches_where_memory_runs_short(
    encoder_folder, compute, loss: Loss
) -> None:
    class Cramped(RankingLearner):
        def _vectors(self, batch):
            if len(batch) > 4:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return super()._vectors(batch)

    plan = replace(PLAN, epochs=20, batch_size=PAIRS)
    points = []
    for kind in (RankingLearner, Cramped):
        encoder = without_dropout(load_encoder(encoder_folder, compute))
        points.append(learned(kind(encoder, ROWS, ONES, compute, loss=loss, scale=20.0), plan).points)

    whole, halved = points
    assert whole[-1].loss < whole[0].loss / 2
    assert halved[0].loss == pytest.approx(whole[0].loss, rel=1e-4)
    assert halved[-1].loss < halved[0].loss / 2


class Stopped(Exception):  # noqa: N818 - somebody wished it
    """The worker is killed, or the run cancelled."""


def stopping_at(step: int):
    def report(done: int, total: int, message: str) -> None:
        if done == step:
            raise Stopped

    return report


def checkpoints_in(folder: Path, every_steps: int = 2, **about) -> Checkpoints:
    return Checkpoints(folder, about={"plan": "one", **about}, every_steps=every_steps)


def dev_of(encoder: SentenceTransformer) -> float:
    """A figure of the weights that rises and falls, without encoding anything."""
    return float(next(encoder.parameters()).detach().sum().sin())


@dataclass(frozen=True)
class Course:
    """What a training with looks at dev came to, and the points of its curve."""

    weights: dict[str, torch.Tensor]
    end: object
    points: list[object]


def nobody_stops(*_standing: object) -> None:
    """Training goes through."""


def course(encoder_folder: Path, compute: Compute, kept: Path, report=nobody_stops) -> Course:
    encoder, points = load_encoder(encoder_folder, compute), []
    end = learned(
        PairLearner(encoder, ROWS, ROWS.realism, compute),
        replace(PLAN, looks=2),
        evaluate=partial(dev_of, encoder),
        checkpoints=checkpoints_in(kept),
        report=report,
        note=points.append,
    )
    return Course(weights_of(encoder), end, points)


@pytest.fixture(scope="module")
def whole(encoder_folder, compute, tmp_path_factory) -> Course:
    return course(encoder_folder, compute, tmp_path_factory.mktemp("whole"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("step", range(9))
def test_a_training_that_was_stopped_anywhere_ends_bit_for_bit_as_one_that_was_not(
    encoder_folder, compute, whole, tmp_path, step: int
) -> None:
    with pytest.raises(Stopped):
        course(encoder_folder, compute, tmp_path, stopping_at(step))

    resumed = course(encoder_folder, compute, tmp_path)

    assert same_bits(resumed.weights, whole.weights)
    assert resumed.end == whole.end
    assert resumed.points == whole.points


def test_a_checkpoint_that_was_cut_off_by_a_kill_is_not_looked_at(encoder_folder, compute, tmp_path) -> None:
    whole = trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path / "whole"))
    with pytest.raises(Stopped):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path / "cut"), report=stopping_at(5))
    half = tmp_path / "cut" / ".step-000000006.abc.part"
    half.mkdir()
    (half / "tensors.safetensors").write_bytes(b"half")

    resumed = trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path / "cut"))

    assert same_bits(whole, resumed)


def test_only_the_newest_checkpoint_is_kept(encoder_folder, compute, tmp_path) -> None:
    trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path, every_steps=3))

    assert [path.name for path in tmp_path.iterdir()] == ["step-000000006"]


def test_checkpoints_are_due_by_the_clock_too(tmp_path) -> None:
    time = [0.0]
    checkpoints = Checkpoints(tmp_path, about={}, every_seconds=60, now=lambda: time[0])

    due = []
    for time[0] in (30.0, 59.9, 60.0):
        due.append(checkpoints.is_due(1))

    assert due == [False, False, True]


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        (
            {"plan": "two"},
            "The checkpoint at step 4 belongs to another training: its plan is 'one', not 'two'",
        ),
        ({"pairs": "abc"}, "belongs to another training: its pairs is None, not 'abc'"),
    ],
)
def test_a_checkpoint_of_another_plan_or_other_pairs_is_refused(
    encoder_folder, compute, tmp_path, about, sentence: str
) -> None:
    with pytest.raises(Stopped):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path), report=stopping_at(5))

    with pytest.raises(CheckpointError, match=re.escape(sentence)):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path, **about))


def test_a_checkpoint_of_another_architecture_is_refused(compute, tmp_path, encoder_folder) -> None:
    with pytest.raises(Stopped):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path / "kept"), report=stopping_at(5))
    encoder = load_encoder(encoder_folder, compute)
    encoder.append(nn.Linear(4, 4))

    with pytest.raises(
        CheckpointError, match=r"another architecture: its weight 3\.bias is missing, the model's is \(4,\)"
    ):
        learned(
            PairLearner(encoder, ROWS, ONES, compute), PLAN, checkpoints=checkpoints_in(tmp_path / "kept")
        )


def test_a_damaged_checkpoint_is_refused(encoder_folder, compute, tmp_path) -> None:
    with pytest.raises(Stopped):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path), report=stopping_at(5))
    (tmp_path / "step-000000004" / "tensors.safetensors").write_bytes(b"damaged")

    with pytest.raises(CheckpointError, match="is damaged; remove it and start again"):
        trained(encoder_folder, compute, checkpoints=checkpoints_in(tmp_path))


@pytest.mark.parametrize(("looks", "best"), [([0.1, 0.7, None, 0.7], 1), ([0.0, -0.3, None, -0.1], 0)])
def test_the_weights_of_the_best_look_are_kept(encoder_folder, compute, looks, best) -> None:
    encoder = load_encoder(encoder_folder, compute)
    seen: list[tuple[float, dict[str, torch.Tensor]]] = []
    figures = iter(looks)

    def evaluate() -> float | None:
        seen.append((0.0, weights_of(encoder)))
        return next(figures)

    end = learned(PairLearner(encoder, ROWS, ONES, compute), replace(PLAN, looks=2), evaluate=evaluate)

    assert same_bits(weights_of(encoder), seen[best][1])
    assert (end.kept.step, end.kept.dev) == (2 + 2 * best, looks[best])
    assert [point.dev for point in end.points if point.step in (2, 4, 6, 8)] == looks


def test_a_loss_that_is_no_number_stops_with_a_sentence(encoder_folder, compute) -> None:
    with pytest.raises(
        TrainingError, match=r"The loss is not a number any more at step 2 of 8; choose a lower"
    ):
        trained(encoder_folder, compute, plan=replace(PLAN, learning_rate=1e38, clip=1e6, warmup=0.0))


def test_training_learns_what_it_is_told(encoder_folder, compute) -> None:
    learner = PairLearner(without_dropout(load_encoder(encoder_folder, compute)), ROWS, ONES, compute)

    points = learned(learner, replace(PLAN, epochs=20, batch_size=PAIRS)).points

    assert points[-1].loss < points[0].loss / 3


def test_lower_precision_rounds_what_is_computed_and_not_the_weights(encoder_folder, compute) -> None:
    losses = []
    for low in (compute, replace(compute, dtype=torch.bfloat16)):
        encoder = without_dropout(load_encoder(encoder_folder, compute))
        losses.append(learned(PairLearner(encoder, ROWS, ONES, low), PLAN).points[0].loss)
        assert {weight.dtype for weight in encoder.parameters()} == {torch.float32}

    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_validation_pairs_choose_the_weights_and_are_not_trained_on(encoder_folder) -> None:
    plan = replace(PLAN, validation_share=0.25, looks=2, realism="")
    fit = encoder_train(encoder_folder, rows_made(40), plan)

    assert steps_planned(rows_made(40), plan) == fit.training.steps
    assert (len(fit.rows), fit.validation, fit.tied) == (30, 10, 0)
    looked = [point for point in fit.training.points if point.dev is not None]
    assert len(looked) == 4
    assert fit.training.kept.dev == max(point.dev for point in looked)


@pytest.fixture(scope="module")
def longer(tmp_path_factory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("models"), normalise=False)


def test_the_longest_input_is_the_plan_s_and_never_above_the_model_s(longer) -> None:
    own = encoder_train(longer, ROWS, replace(PLAN, epochs=1)).encoder
    short = encoder_train(longer, ROWS, replace(PLAN, epochs=1, max_length=6)).encoder

    assert (own.max_seq_length, short.max_seq_length) == (24, 6)
