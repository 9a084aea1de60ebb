"""The fine-tuned classifier on a tiny encoder: what it learns, and that a killed training resumes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.realism.calibration import negative_log_likelihood
from mlworkers.science.realism.dataset import SdiData, sdi_data
from mlworkers.science.realism.discrimination import auc
from mlworkers.science.realism.fine_tuning import FineTuned, fine_tune, part_of, schedule_of
from mlworkers.science.realism.plan import ClassifierKind, RealismPlan
from mlworkers.science.training.checkpoints import CheckpointError
from tests.ml.tiny import WORDS

CPU = choose_compute("cpu")


class KilledError(Exception):
    """The worker is gone."""


def plan_of(**settings) -> RealismPlan:
    asked = {"epochs": 2, "batch_size": 16, "learning_rate": 3e-3, "folds": 3, "checkpoint_steps": 2}
    return RealismPlan(dataset="scenes", run=1, classifier=ClassifierKind.FINE_TUNED, **{**asked, **settings})


@pytest.fixture(scope="module")
def data() -> SdiData:
    """A machine that ends on “ball”, and people who end on “tree”."""
    rng = np.random.default_rng(1)
    drawn = dict.fromkeys(" ".join(rng.choice(WORDS[:14], 4)) for _ in range(120))
    texts = [f"{text} {'tree' if place % 2 else 'ball'}" for place, text in enumerate(drawn)]
    human = np.arange(len(texts)) % 2 == 1
    return sdi_data(texts, human, np.ones(len(texts), dtype=bool), folds=3, seed=1)


def trained(encoder_folder, data, plan, number: int = 0, **about) -> FineTuned:
    encoder = load_encoder(encoder_folder, CPU)
    return fine_tune(encoder, data, plan, part_of(data, plan, number), CPU, **about)


def weights(model: FineTuned) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in model.named_parameters()}


def test_it_learns_what_sets_the_classes_apart(encoder_folder, data) -> None:
    model = trained(encoder_folder, data, plan_of(epochs=4))

    own = np.flatnonzero(data.fold == 0)
    margins = np.diff(model.logits([data.texts[place] for place in own], CPU), axis=1)[:, 0]
    assert auc(margins, data.human[own]) > 0.95


def test_a_part_holds_both_classes_alike_and_nothing_of_what_it_scores(data) -> None:
    plan = plan_of()

    for number in range(3):
        part = part_of(data, plan, number)
        assert data.human[part.learned].mean() == 0.5
        assert not (data.fold[part.learned] == number).any()
        assert not (data.fold[part.inner] == number).any()
        assert not set(part.learned) & set(part.inner)


def test_the_classifier_of_all_learns_from_every_fold_but_the_one_it_is_chosen_by(data) -> None:
    part = part_of(data, plan_of(), 3)

    assert set(data.fold[part.learned]) == {1, 2}
    assert set(data.fold[part.inner]) == {0}


@pytest.mark.exhaustive
@pytest.mark.parametrize("killed_at", [1, 3, 5])
def test_a_training_that_was_killed_ends_with_the_same_weights_bit_for_bit(
    encoder_folder, data, tmp_path, killed_at: int
) -> None:
    plan = plan_of()
    assert schedule_of(part_of(data, plan, 0), plan).steps > killed_at
    undisturbed = weights(trained(encoder_folder, data, plan, checkpoints=tmp_path / "one"))

    def kill(done: int, total: int, message: str) -> None:
        if done == killed_at:
            raise KilledError

    with pytest.raises(KilledError):
        trained(encoder_folder, data, plan, checkpoints=tmp_path / "other", report=kill)
    torch.manual_seed(99)  # another process has other random numbers
    taken_up = weights(trained(encoder_folder, data, plan, checkpoints=tmp_path / "other"))

    assert all(torch.equal(undisturbed[name], taken_up[name]) for name in undisturbed)


def test_the_epoch_of_the_lowest_inner_loss_is_kept(encoder_folder, data) -> None:
    points = []
    # A rate at which later epochs ruin what the first ones learned.
    model = trained(encoder_folder, data, plan_of(epochs=5, learning_rate=0.05), note=points.append)

    losses = [-point.dev for point in points if point.dev is not None]
    inner = np.flatnonzero(data.inner(0))
    logits = model.logits([data.texts[place] for place in inner], CPU)
    assert negative_log_likelihood(logits, data.human[inner], 1.0) == pytest.approx(min(losses), rel=1e-5)
    assert len(losses) == 5


def test_dropout_is_on_in_every_epoch(encoder_folder, data) -> None:
    seen = []
    model = FineTuned(load_encoder(encoder_folder, CPU))
    model.dropout.register_forward_hook(lambda module, *_: seen.append(module.training))
    plan = plan_of(epochs=3)
    encoder = model.encoder
    encoder[0].register_forward_hook(
        lambda module, *_: seen.append(module.training) if torch.is_grad_enabled() else None
    )

    fine_tune(encoder, data, plan, part_of(data, plan, 0), CPU)

    steps = schedule_of(part_of(data, plan, 0), plan).steps
    assert len(seen) == steps
    assert all(seen)


def test_a_checkpoint_of_another_plan_or_of_other_sentences_is_refused(
    encoder_folder, data, tmp_path
) -> None:
    def kill(done: int, total: int, message: str) -> None:
        if done == 3:
            raise KilledError

    with pytest.raises(KilledError):
        trained(encoder_folder, data, plan_of(), checkpoints=tmp_path, report=kill)

    with pytest.raises(CheckpointError, match="belongs to another training"):
        trained(encoder_folder, data, plan_of(learning_rate=1e-4), checkpoints=tmp_path)
    other = replace(data, texts=[f"the {text}" for text in data.texts])
    with pytest.raises(CheckpointError, match="its examples is"):
        trained(encoder_folder, other, plan_of(), checkpoints=tmp_path)
