"""Continuations as contexts, without a corpus."""

import numpy as np
import pytest
import torch

from curation.files.progress import silent
from mlworkers.plans.fields import PlanError
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.gaps import Form
from mlworkers.science.contexts.pair_scoring import LONG, Pair
from mlworkers.science.contexts.scores_plan import Choice, ContextScoresPlan
from mlworkers.science.contexts.trajectories import TrajectoryScorer, continuations
from mlworkers.science.pretrained.sources import ModelError
from tests.ml.contexts.models import bart, gpt2

PLAN = ContextScoresPlan(
    dataset="scenes", model="gpt2", choice=Choice.TRAJECTORIES, contexts=6, background=2, trajectory_tokens=8
)
PAIR = Pair("The dog slept in the garden.", "A cat likes the kitchen.")
BACKGROUND = ["The quiet dog came.", PAIR.second, "It was night.", "A bird sings."]


def test_continuations_follow_from_model_sentence_and_seed_alone() -> None:
    model = gpt2()
    torch.manual_seed(1)
    first = continuations(model, PAIR.first, count=6, tokens=8, seed=5)
    state = torch.get_rng_state()

    again = continuations(model, PAIR.first, count=6, tokens=8, seed=5)

    assert again == first
    assert len(set(first)) == len(first) > 3
    assert torch.equal(state, torch.get_rng_state())
    assert continuations(model, PAIR.first, count=6, tokens=8, seed=6) != first


def test_an_entry_is_the_mean_log_probability_of_the_continuation_after_the_sentence() -> None:
    model = gpt2()

    [found] = TrajectoryScorer(model, PLAN, BACKGROUND).pairs([PAIR], Questioner(model), silent)

    assert len(found.texts) == len(found.places) == len(found.of_second)
    assert {*found.of_second} == {False, True}
    text, expected = found.texts[0], []
    for sentence in (PAIR.first, PAIR.second, BACKGROUND[0], BACKGROUND[2]):  # none of the pair's own
        given, written = [0, *model.tokens(sentence)], model.tokens(text)[: model.room]
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([given + written])).logits[0].double()
        logs = torch.log_softmax(logits[len(given) - 1 : -1], -1)
        expected.append(float(logs[torch.arange(len(written)), torch.tensor(written)].mean()))
    right = 3
    assert found.first[0, right] == pytest.approx(expected[0], abs=1e-5)
    assert found.second[0, right] == pytest.approx(expected[1], abs=1e-5)
    assert found.background[0, right] == pytest.approx(np.mean(expected[2:]), abs=1e-5)


def test_a_pair_with_a_long_sentence_gets_no_contexts_and_the_others_do() -> None:
    model = gpt2()
    pairs = [Pair("word " * 100, "A dog."), PAIR]

    long, other = TrajectoryScorer(model, PLAN, BACKGROUND).pairs(pairs, Questioner(model), silent)

    assert long.refused == LONG
    assert not other.refused


def test_a_model_that_fills_gaps_is_refused() -> None:
    with pytest.raises(ModelError, match="choose a causal model"):
        TrajectoryScorer(bart(Form.GAP), PLAN, BACKGROUND)


def test_trajectories_take_no_discriminative_model() -> None:
    with pytest.raises(PlanError, match=r"leave “.*” empty"):
        ContextScoresPlan(dataset="scenes", model="gpt2", choice=Choice.TRAJECTORIES, discriminator="run:4")


def test_trajectories_leave_out_the_corpus_that_a_form_begins_with() -> None:
    plan = ContextScoresPlan(dataset="scenes", model="gpt2", choice=Choice.TRAJECTORIES, corpus=3)

    assert plan.corpus == 0


def test_other_choices_need_a_corpus() -> None:
    with pytest.raises(PlanError, match="choose the corpus"):
        ContextScoresPlan(dataset="scenes", model="gpt2")
