"""A small generator learns to answer instructions, and ends the same whatever happened on the way."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from curation.files.writing import sha256_of
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.synthesis import bootstrap
from mlworkers.science.synthesis.bootstrap import (
    IGNORED,
    BootstrapResult,
    ExampleLearner,
    TokenLists,
    TooFewPairsError,
    generator_trained,
    padded,
)
from mlworkers.science.synthesis.generator import load_generator
from mlworkers.science.synthesis.plan import BootstrapPlan
from mlworkers.science.synthesis.prompts import TASKS, Example, LabelledPair, examples_written
from mlworkers.science.training.checkpoints import CheckpointError
from mlworkers.science.training.loop import CurvePoint

COMPUTE = choose_compute("cpu")
TASK = TASKS["sentences"]
PLAN = BootstrapPlan(
    dataset="scenes", score_set="gold", steps=8, layers=1, width=32, vocabulary=300, batch=6, minutes=5.0
)
WHO, WHAT = ("a dog", "a cat", "the man", "two women"), ("runs", "sleeps", "sings", "plays")


def examples() -> list[Example]:
    sentences = [f"{who} {what}." for who in WHO for what in WHAT]
    pairs = [
        LabelledPair(a, b, float(number % 3) / 2)
        for number, (a, b) in enumerate(zip(sentences, sentences[3:], strict=False))
    ]
    return list(examples_written(pairs, TASK))


class KilledError(Exception):
    pass


def trained(folder: Path, plan: BootstrapPlan = PLAN, **settings) -> BootstrapResult:
    folder.mkdir(parents=True, exist_ok=True)
    return generator_trained(examples(), plan, choose_compute("cpu"), folder=folder, **settings)


def sums(folder: Path) -> dict[str, str]:
    return {file.name: sha256_of(file) for file in folder.iterdir()}


def killed_after(steps: int):
    def report(done: int, _total: int, _message: str) -> None:
        if done == steps:
            raise KilledError

    return report


@pytest.fixture
def frequent_checkpoints(monkeypatch) -> None:
    monkeypatch.setattr(bootstrap, "CHECKPOINT_STEPS", 3)


def test_the_same_plan_makes_the_same_files(tmp_path: Path) -> None:
    trained(tmp_path / "once")
    trained(tmp_path / "again")
    trained(tmp_path / "other", replace(PLAN, seed=1))

    assert sums(tmp_path / "once") == sums(tmp_path / "again")
    assert sums(tmp_path / "once") != sums(tmp_path / "other")


@pytest.mark.usefixtures("frequent_checkpoints")
@pytest.mark.parametrize("steps", [2, 5])  # before the first checkpoint, and after it
def test_a_training_that_was_killed_ends_as_if_it_had_not_been(tmp_path: Path, steps: int) -> None:
    trained(tmp_path / "whole")
    checkpoints = tmp_path / "checkpoints"
    with pytest.raises(KilledError):
        trained(tmp_path / "killed", checkpoints=checkpoints, report=killed_after(steps))

    done = trained(tmp_path / "successor", checkpoints=checkpoints)

    assert done.finished
    assert sums(tmp_path / "successor") == sums(tmp_path / "whole")


def test_a_training_that_was_killed_after_its_last_step_tells_the_same_loss(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(bootstrap, "CHECKPOINT_STEPS", PLAN.steps // 2)
    checkpoints = tmp_path / "checkpoints"
    first = trained(tmp_path / "killed", checkpoints=checkpoints)

    second = trained(tmp_path / "successor", checkpoints=checkpoints)

    assert second == first


@pytest.mark.parametrize("workers", [1, 2])
def test_the_weights_do_not_depend_on_the_number_of_cores(tmp_path: Path, workers: int) -> None:
    compute = replace(choose_compute("cpu"), workers=workers)
    (tmp_path / "some").mkdir()
    generator_trained(examples(), PLAN, compute, folder=tmp_path / "some")
    trained(tmp_path / "usual")

    assert sums(tmp_path / "some") == sums(tmp_path / "usual")


@pytest.mark.usefixtures("frequent_checkpoints")
def test_a_checkpoint_of_another_plan_is_refused(tmp_path: Path) -> None:
    checkpoints = tmp_path / "checkpoints"
    trained(tmp_path / "narrow", checkpoints=checkpoints)

    with pytest.raises(CheckpointError, match="belongs to another training: its width is 32, not 64"):
        trained(tmp_path / "wide", replace(PLAN, width=64), checkpoints=checkpoints)


def test_a_training_whose_time_is_over_ends_and_says_so(tmp_path: Path) -> None:
    answers = iter([False, False, True])

    done = trained(tmp_path / "model", expired=lambda: next(answers))

    assert (done.steps, done.finished) == (2, False)
    assert load_generator(tmp_path / "model", choose_compute("cpu")).context == PLAN.context


def test_the_loss_falls(tmp_path: Path) -> None:
    points: list[CurvePoint] = []

    trained(tmp_path / "model", replace(PLAN, steps=30, learning_rate=5e-3), note=points.append)

    losses = [point.loss for point in points]
    assert len(losses) == 30
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:5])


def test_pairs_that_do_not_fit_the_context_are_counted(tmp_path: Path) -> None:
    long = Example('Sentence 2: "', "word " * 400 + '"')
    tmp_path.joinpath("model").mkdir()

    done = generator_trained([*examples(), long], PLAN, choose_compute("cpu"), folder=tmp_path / "model")

    assert (done.examples, done.too_long) == (len(examples()), 1)


@pytest.mark.parametrize("some", [[], [Example('Sentence 2: "', "word " * 400 + '"')]])
def test_nothing_to_learn_is_said_in_a_sentence(tmp_path: Path, some: list[Example]) -> None:
    with pytest.raises(TooFewPairsError, match="fits into 256 tokens"):
        generator_trained(some, PLAN, choose_compute("cpu"), folder=tmp_path)


def test_targets_are_the_next_tokens_of_what_teaches() -> None:
    tokens, targets = padded([TokenLists([5, 6, 7, 8, 9], given=2), TokenLists([5, 6, 4], given=1)])

    assert tokens.tolist() == [[5, 6, 7, 8], [5, 6, 0, 0]]
    assert targets.tolist() == [[IGNORED, 7, 8, 9], [6, 4, IGNORED, IGNORED]]


@pytest.mark.parametrize(
    ("prompt", "first"),
    [
        ('Write a sentence like "a dog": "', "a"),  # one line: all of it is given
        ('Task: Write two.\nSentence 1: "a dog"\nSentence 2: "', "\n"),
        ('\nSentence 1: "a dog"\nSentence 2: "', "Sentence"),  # nothing stands before the first token
    ],
)
def test_the_loss_is_the_mean_over_all_tokens_after_the_first_line(prompt: str, first: str) -> None:
    example = Example(prompt, 'a cat."')
    tokenizer = tokenizer_learned(example, vocabulary=300, longest=64)
    listed = [bootstrap._tokens(tokenizer, example)]

    learner = ExampleLearner(
        bootstrap._model(PLAN, tokenizer, COMPUTE.device), listed, COMPUTE, ThreadPoolExecutor(1)
    )

    targets = padded(listed)[1][0]
    learned = targets[targets != IGNORED].tolist()
    assert tokenizer.decode(learned).startswith(first)
    assert learner.shares(np.array([0])).tolist() == [len(learned)]
