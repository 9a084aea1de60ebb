"""One training in two real processes: the losses and the weights of one process, whatever the loss compares."""

from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from curation.files.writing import watched
from mlworkers.plans.fields import devices_wanted
from mlworkers.science.encoders.contrastive.examples import Examples, pair_examples
from mlworkers.science.encoders.contrastive.plan import ContrastPlan, Material, Objective
from mlworkers.science.encoders.contrastive.training import ContrastTraining
from mlworkers.science.encoders.plan import EncoderPlan, Loss, Normalise, Weighting
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.training import EncoderTraining, encoder_train, learner_of
from mlworkers.science.pretrained.compute import ComputeError, devices_of
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.training.group import ALONE, Group
from mlworkers.science.training.loop import CurvePoint
from mlworkers.science.training.ranks import RankLost, together
from mlworkers.science.training.whole_batches import Joining, whole_backward
from tests.ml.devices import (
    CPU,
    ClockOfOneCheckpoint,
    ClockThatRuns,
    CrampedTraining,
    DeadlyClock,
    Trainings,
    trained,
    without_dropout,
)
from tests.ml.tiny import WORDS

PAIRS = 16
# Batches of 5, 5, 5 and 1: parts of unequal size, and a process without any row.
PLAN = EncoderPlan(
    "d", "m", "s", "p", batch_size=5, epochs=4, learning_rate=3e-4, device="cpu", seed=3,
    weighting=Weighting.REALISM,
)  # fmt: skip


def rows_made() -> Rows:
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 12))) for _ in range(2 * PAIRS)]
    first, second = (np.array(side, dtype=object) for side in (texts[:PAIRS], texts[PAIRS:]))
    numbers = np.arange(PAIRS)
    scores, realism = rng.uniform(size=PAIRS), rng.uniform(size=PAIRS)
    return Rows(numbers, 2 * numbers, 2 * numbers + 1, first, second, scores, realism)


ROWS = rows_made()


@pytest.fixture(scope="module")
def still_folder(encoder_folder, tmp_path_factory) -> Path:
    """An encoder without dropout."""
    return without_dropout(encoder_folder, tmp_path_factory.mktemp("still") / "encoder")


def weights_of(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: weight.detach().numpy() for name, weight in module.named_parameters()}


def alike(left: dict[str, np.ndarray], right: dict[str, np.ndarray]) -> bool:
    """Within 1e-5, but for the biases of keys: attention does not depend on them, so their gradients are rounding."""
    names = [name for name in left if not name.endswith("key.bias")]
    return left.keys() == right.keys() and all(
        np.allclose(left[name], right[name], rtol=0, atol=1e-5) for name in names
    )


def losses_of(points: list[CurvePoint]) -> list[float]:
    return [point.loss for point in points]


TRIPLETS = Examples(
    *(
        [
            tuple(
                (f"the {who} {does}", f"a {who} {does} on the grass", f"the {who} is in a tree")
                for who in ("dog", "cat", "bird", "man", "woman", "child", "ball")
                for does in ("runs", "sits")
            )
        ]
        * 2
    )
)
CLASSIFIED = pair_examples(
    [(row[0], row[1 + number % 2]) for number, row in enumerate(TRIPLETS.sides)], [n % 2 for n in range(14)]
)
CONTRAST = ContrastPlan(
    "d", "m", paraphrases="all", material=Material.TRIPLETS, batch_size=5, epochs=4, learning_rate=3e-4,
    device="cpu", seed=3,
)  # fmt: skip
LOSSES = {
    "cosine": replace(PLAN, loss=Loss.COSINE),
    "cosine, normalised by batch": replace(PLAN, loss=Loss.COSINE, normalise=Normalise.BATCH),
    "cosent": replace(PLAN, loss=Loss.COSENT),
    "angle": replace(PLAN, loss=Loss.ANGLE),
    "contrast": replace(CONTRAST, objective=Objective.CONTRAST),
    "contrast, cached": replace(CONTRAST, objective=Objective.CONTRAST, cached=2),
    "triplet": replace(CONTRAST, objective=Objective.TRIPLET),
    "softmax with a head": replace(CONTRAST, objective=Objective.SOFTMAX, material=Material.PAIRS),
}


def recipe_of(base: Path, plan: EncoderPlan | ContrastPlan) -> EncoderTraining | ContrastTraining:
    if isinstance(plan, EncoderPlan):
        return EncoderTraining(base, ROWS, ROWS.taken(np.arange(0)), ROWS.realism, plan, None, None)
    examples = CLASSIFIED if plan.objective is Objective.SOFTMAX else TRIPLETS
    return ContrastTraining(base, examples, plan, None, None, None)


@pytest.fixture(scope="module")
def of_two(still_folder, tmp_path_factory) -> dict[str, tuple[list[CurvePoint], dict[str, np.ndarray]]]:
    """Trained by two processes with every loss that there is."""
    recipes = tuple(recipe_of(still_folder, plan) for plan in LOSSES.values())
    found = together(Trainings(recipes, tmp_path_factory.mktemp("meeting")), 2)
    return dict(zip(LOSSES, found, strict=True))


def test_every_loss_is_tried() -> None:
    assert {plan.loss for plan in LOSSES.values() if isinstance(plan, EncoderPlan)} == set(Loss)
    assert {plan.objective for plan in LOSSES.values() if isinstance(plan, ContrastPlan)} == set(Objective)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.exhaustive
def test_two_processes_learn_what_one_learns(still_folder, of_two, name: str) -> None:
    recipe = recipe_of(still_folder, LOSSES[name])
    before = weights_of(recipe.module(recipe.model(CPU)))

    points, weights = trained(recipe, ALONE)

    others, of_others = of_two[name]
    assert len(points) >= 10
    assert losses_of(others) == pytest.approx(losses_of(points), abs=1e-5)
    assert max(float(abs(weights[weight] - before[weight]).max()) for weight in weights) > 1e-3
    assert alike(weights, of_others)


class Watching:
    """What a store that several machines share is told."""

    def __init__(self) -> None:
        self.written_there: list[str] = []
        self.removed_here: list[str] = []

    def written(self, path: Path) -> None:
        assert path.is_dir()
        self.written_there.append(path.name)

    def removed(self, path: Path) -> None:
        assert not path.exists()
        self.removed_here.append(path.name)


@pytest.mark.exhaustive
def test_a_plan_for_two_devices_ends_with_the_encoder_of_one(still_folder, tmp_path) -> None:
    plan, watching = replace(PLAN, validation_share=0.25, looks=1), Watching()
    points: dict[str, list[CurvePoint]] = {"1": [], "2": []}
    one = encoder_train(still_folder, ROWS, plan, note=points["1"].append)
    with watched(watching):
        two = encoder_train(
            still_folder,
            ROWS,
            replace(plan, devices="2"),
            checkpoints=tmp_path,
            now=ClockThatRuns(),
            note=points["2"].append,
        )

    assert losses_of(points["2"]) == pytest.approx(losses_of(points["1"]), abs=1e-5)
    assert [point.dev for point in points["2"]] == pytest.approx([point.dev for point in points["1"]])
    assert (two.training.kept.step, two.training.devices) == (one.training.kept.step, 2)
    assert two.training.points == tuple(points["2"])
    assert alike(weights_of(one.encoder), weights_of(two.encoder))
    steps = [f"step-{step:09d}" for step in range(1, two.training.steps + 1)]
    assert (watching.written_there, watching.removed_here) == (steps, steps[:-1])
    assert active_children() == []


@pytest.mark.parametrize(("before", "after"), [("2", "1"), ("1", "2")])
@pytest.mark.exhaustive
def test_a_training_goes_on_with_another_number_of_devices(still_folder, tmp_path, before, after) -> None:
    first, again, starts = list[CurvePoint](), list[CurvePoint](), list[int]()
    plan = replace(PLAN, loss=Loss.COSENT)
    encoder_train(
        still_folder,
        ROWS,
        replace(plan, devices=before),
        checkpoints=tmp_path,
        now=ClockOfOneCheckpoint(step=6),
        note=first.append,
    )
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000006"]

    encoder_train(
        still_folder,
        ROWS,
        replace(plan, devices=after),
        checkpoints=tmp_path,
        now=ClockOfOneCheckpoint(step=99),
        note=again.append,
        report=lambda done, total, message: starts.append(done),
    )

    assert next(done for done in starts if done) == 6  # of several, nothing is done while they start
    assert again[:6] == first[:6]
    assert losses_of(again) == pytest.approx(losses_of(first), abs=1e-5)


@pytest.mark.exhaustive
def test_dropout_of_two_processes_is_the_same_again_and_after_a_checkpoint(encoder_folder, tmp_path) -> None:
    plan = replace(PLAN, devices="2")
    whole = encoder_train(
        encoder_folder, ROWS, plan, checkpoints=tmp_path, now=ClockOfOneCheckpoint(step=6)
    ).encoder
    resumed = encoder_train(
        encoder_folder, ROWS, plan, checkpoints=tmp_path, now=ClockOfOneCheckpoint(step=99)
    ).encoder

    left, right = weights_of(whole), weights_of(resumed)
    assert all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.exhaustive
def test_a_process_that_is_killed_ends_the_training_with_a_sentence(still_folder, tmp_path) -> None:
    with pytest.raises(RankLost) as lost:
        encoder_train(
            still_folder, ROWS, replace(PLAN, devices="2"), checkpoints=tmp_path, now=DeadlyClock(rank=1)
        )

    assert str(lost.value) == "Process 2 of the 2 that train together ended by the signal SIGKILL."
    assert active_children() == []


class Cancelled(Exception):  # noqa: N818
    """The run was cancelled."""


def test_a_training_on_two_devices_can_be_cancelled(still_folder) -> None:
    def cancels(done: int, total: int, message: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        encoder_train(still_folder, ROWS, replace(PLAN, epochs=100, devices="2"), report=cancels)

    assert active_children() == []


BATCH = np.array([3, 0, 9, 12, 5, 7, 1])


def gradients_in(folder: Path, group: Group, rows: int, outputs) -> tuple[float, torch.Tensor]:
    encoder = load_encoder(folder, CPU).train()
    learner = learner_of(encoder, ROWS, ROWS.realism, CPU, replace(PLAN, loss=Loss.COSENT))
    join = None if outputs is None else lambda own: [one.clone() for one in outputs]
    loss = whole_backward(learner, BATCH, learner.shares(BATCH), rows=rows, group=group, join=join)
    gradients = [
        torch.zeros_like(one).flatten() if one.grad is None else one.grad.flatten()
        for one in encoder.parameters()
    ]
    return float(loss), torch.cat(gradients)


@pytest.mark.exhaustive
@pytest.mark.parametrize("rows", [7, 2, 1])
def test_where_one_process_is_short_of_memory_the_sum_is_still_the_whole(still_folder, rows) -> None:
    encoder = load_encoder(still_folder, CPU)
    learner = learner_of(encoder, ROWS, ROWS.realism, CPU, replace(PLAN, loss=Loss.COSENT))
    outputs = [output.detach() for output in learner.outputs(BATCH)]
    loss, whole = gradients_in(still_folder, Group(), 7, None)

    shared = [gradients_in(still_folder, Group(rank, 3), rows, outputs) for rank in range(3)]

    assert sum(part for part, _gradients in shared) == pytest.approx(loss, rel=1e-5)
    assert [part != 0 for part, _gradients in shared] == [True, False, False]
    assert torch.allclose(sum(gradients for _part, gradients in shared), whole, rtol=1e-4, atol=1e-3)


def test_what_was_joined_once_is_not_sent_again() -> None:
    sent = []

    class Counted(Group):
        def joined(self, own, rows):
            sent.append(rows)
            return [torch.ones(rows)]

    joining = Joining(Counted(0, 2), 4)

    first, again = joining([torch.ones(2)]), joining([torch.zeros(2)])

    assert sent == [4]
    assert torch.equal(first[0], again[0])
    assert first[0] is not again[0]  # each attempt has gradients of its own


@pytest.mark.exhaustive
def test_rows_that_start_again_after_they_were_joined_go_through_with_one_dropout(
    encoder_folder, tmp_path
) -> None:
    plan = replace(PLAN, loss=Loss.COSENT)
    early, late = (
        CrampedTraining(encoder_folder, ROWS, ROWS.taken(np.arange(0)), ROWS.realism, plan, None, None, short)
        for short in ("before", "after")
    )

    (points, weights), (of_late, others) = together(Trainings((early, late), tmp_path), 2)

    assert of_late == points
    assert all(np.array_equal(weights[name], others[name]) for name in weights)


def test_every_row_is_one_process_s() -> None:
    for rows in range(12):
        for size in (1, 2, 3, 5):
            parts = [range(rows)[Group(rank, size).part(rows)] for rank in range(size)]
            assert [row for part in parts for row in part] == list(range(rows))
            assert max(map(len, parts)) - min(map(len, parts)) <= 1


def gpus(monkeypatch, count: int) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)


@pytest.mark.parametrize(
    ("device", "devices", "expected"),
    [
        ("auto", "1", ("auto",)),
        ("cuda:2", "1", ("cuda:2",)),
        ("auto", "all", ("cuda:0", "cuda:1", "cuda:2", "cuda:3")),
        ("cuda", "2", ("cuda:0", "cuda:1")),
        ("cpu", "all", ("cpu",)),
    ],
)
def test_devices_are_chosen_from_those_there_are(monkeypatch, device, devices, expected) -> None:
    gpus(monkeypatch, 4)

    assert devices_of(device, devices_wanted(devices)) == expected


def test_processes_can_share_a_processor(monkeypatch) -> None:
    gpus(monkeypatch, 0)
    monkeypatch.setattr("mlworkers.science.pretrained.compute._cores", lambda: 4)

    assert devices_of("cpu", 3) == ("cpu", "cpu", "cpu")
    with pytest.raises(
        ComputeError, match=r"by 5 processes, and the processor has 4 cores; set devices to 4 or less\.$"
    ):
        devices_of("cpu", 5)


def test_too_few_gpus_are_one_sentence(monkeypatch) -> None:
    gpus(monkeypatch, 2)

    with pytest.raises(ComputeError) as refused:
        devices_of("auto", 4)

    assert str(refused.value) == (
        "The training is to be shared by 4 devices, and this machine has 2 of the kind cuda; set devices to 2 or less, "
        "or to all."
    )
