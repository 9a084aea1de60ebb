"""A run that makes an encoder with random weights, and one that trains it."""

import pytest

from mlworkers.models import Run
from tests.factories import PairFactory
from tests.ml.encoder_data import dataset_with_pairs
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
TINY = {"layers": 1, "width": 32, "vocabulary": 300, "context": 16}


@pytest.fixture
def dataset(db):
    dataset = dataset_with_pairs()
    for number in range(4):
        PairFactory(
            dataset=dataset, split="train", a__text=f"a dog sits {number}", b__text=f"a cat runs {number}"
        )
    return dataset


def carried_out(kind: str, dataset, **settings) -> Run:
    return run_execute(run_plan(kind, dataset, {"dataset": dataset.slug, **settings}))


def test_the_encoder_that_it_makes_can_be_named_as_a_base_model(dataset) -> None:
    start = carried_out("initialise_encoder", dataset, **TINY)

    scores = {"scores": "run 7: target", "realism": "run 7: p_D"}
    short = {"epochs": 1, "batch_size": 8, "learning_rate": 0.001, "device": "cpu"}
    trained = carried_out("train_encoder", dataset, model=f"run:{start.pk}", **scores, **short)

    made = start.artifacts.get()
    assert (made.kind, made.card) == ("encoder", start.result)
    assert "random weights; a tokenizer of" in start.message
    assert (trained.state, trained.artifacts.get().card["base"]) == ("succeeded", f"run:{start.pk}")


def test_its_tokenizer_reads_neither_machine_sentences_nor_those_that_are_held_out(dataset) -> None:
    before = carried_out("initialise_encoder", dataset, **TINY)
    held_out = PairFactory(dataset=dataset, split="test", a__text="A whale sleeps.", b__text="A ship sinks.")
    PairFactory(dataset=dataset, split="train", a=held_out.a, b__text="A whale sleeps!")

    after = carried_out("initialise_encoder", dataset, **TINY)

    assert after.artifacts.get().sha256 == before.artifacts.get().sha256


def test_a_split_without_sentences_of_people_is_refused(dataset) -> None:
    run = carried_out("initialise_encoder", dataset, split="nowhere")

    assert run.state == "failed"
    assert f"“{dataset.slug}” has no sentence of a person in the split “nowhere”" in run.message
