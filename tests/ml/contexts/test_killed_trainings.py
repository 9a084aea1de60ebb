"""Models that learn from a corpus end with the same weights, whether or not their training was killed in between."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.discriminative_training import discriminative_trained
from mlworkers.science.contexts.model_training import context_model_trained
from tests.ml.contexts import test_discriminative, test_model_training
from tests.ml.contexts.models import COMPUTE
from tests.ml.contexts.small_corpus import corpus_of_stories

TRAININGS: dict[str, Callable[..., object]] = {
    "language model": lambda corpus, **more: context_model_trained(
        corpus, replace(test_model_training.PLAN, steps=130), COMPUTE, **more
    ),
    "discriminative": lambda corpus, **more: discriminative_trained(
        corpus, test_discriminative.PLAN, COMPUTE, **more
    ),
}
KILLED_AT, CHECKPOINT = 115, 100  # steps


class KilledError(Exception):
    pass


@pytest.mark.parametrize("training", TRAININGS.values(), ids=list(TRAININGS))
@pytest.mark.exhaustive
def test_a_training_that_was_killed_ends_with_the_same_weights(training, tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("corpus", "whole", "killed")}
    for folder in folders.values():
        folder.mkdir()
    corpus: Corpus = corpus_of_stories(folders["corpus"])
    again = partial(training, corpus, folder=folders["killed"], checkpoints=tmp_path / "checkpoints")
    training(corpus, folder=folders["whole"])
    steps: list[int] = []

    def killed(done: int, total: int, message: str) -> None:
        if done == KILLED_AT:
            raise KilledError

    with pytest.raises(KilledError):
        again(report=killed)
    again(report=lambda done, total, message: steps.append(done))

    assert min(steps) == CHECKPOINT
    whole, resumed = (load_file(folders[name] / "model.safetensors") for name in ("whole", "killed"))
    assert all(np.array_equal(whole[name], resumed[name]) for name in whole)
