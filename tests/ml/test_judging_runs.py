"""Runs in which machines judge tuples of a campaign: an encoder, a chat model, and one that is killed."""

import json
import re

import numpy as np
import pytest

from annotation.campaigns.machine_block import tuples_reserve
from annotation.models import Judgement
from curation.datasets.machine_judges import texts_of, tuples_of
from curation.foundation.errors import UserError
from curation.models import MachineJudge
from mlworkers.kinds.judges.judging import judge_tuples
from mlworkers.models import Run
from mlworkers.runs.jobs import Job
from mlworkers.runs.services import run_start
from mlworkers.runs.shards import Shards
from mlworkers.runs.storage import Curve
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.judges.asking import Asking
from mlworkers.science.judges.plan import JudgingPlan
from mlworkers.science.judges.writing import WritingJudge
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.gguf import gguf_folder
from mlworkers.science.synthesis.endpoint import EndpointError
from mlworkers.science.synthesis.generator import load_generator
from tests.factories import CampaignFactory, DatasetFactory, PairFactory, RunFactory, TupleFactory
from tests.ml.endpoint_server import KEY, Reply, completion, serving
from tests.ml.gguf_model import gguf_write, llama
from tests.ml.tiny import WORDS
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def block(db):
    dataset = DatasetFactory()
    words = np.random.default_rng(3).permuted(np.tile(WORDS, (48, 1)), axis=1)[:, :5]
    texts = [" ".join(row) for row in words.tolist()]  # which the small encoder tells apart
    pairs = [
        PairFactory(dataset=dataset, a__text=a, b__text=b)
        for a, b in zip(texts[:24], texts[24:], strict=True)
    ]
    campaign = CampaignFactory(dataset=dataset)
    for start in range(0, len(pairs), 4):
        TupleFactory(campaign=campaign, pairs=pairs[start : start + 4])
    return tuples_reserve(campaign=campaign, number=5)


def carried_out(block, model: object, **settings: object) -> Run:
    values = {
        "dataset": block.dataset.slug,
        "block": block.pk,
        "model": str(model),
        "device": "cpu",
        **settings,
    }
    return run_execute(run_plan("judge_tuples", block.dataset, values))


def answers_of(run: Run) -> dict[tuple[int, bool], tuple[int | None, int | None]]:
    rows = MachineJudge.objects.get(run_ref=run.pk).judgements.all()
    return {(row.place, row.reversed): (row.best_slot, row.worst_slot) for row in rows}


def test_an_encoder_chooses_the_highest_and_the_lowest_cosine_in_both_orders(
    block, encoder, encoder_folder
) -> None:
    run = carried_out(block, encoder_folder, shard_tuples=2)

    assert run.state == "succeeded", run.message
    found = answers_of(run)
    assert len(found) == 10
    for place, pairs in enumerate(texts_of(block)):
        cosines = pair_cosines(encoder, *zip(*pairs, strict=True), choose_compute("cpu")).values
        expected = (int(np.argmax(cosines)), int(np.argmin(cosines)))
        assert found[place, False] == found[place, True] == expected
    assert run.result["answered"] == 10
    assert not Judgement.objects.exists()


def test_a_language_model_of_this_machine_gives_an_answer_in_both_orders_and_its_weights_are_noted(
    block, tmp_path
) -> None:
    file = gguf_write(tmp_path / "small.gguf", llama())
    run = carried_out(block, file, shard_tuples=2)

    assert run.state == "succeeded", run.message
    generator = load_generator(gguf_folder(file, tmp_path / "converted"), choose_compute("cpu"))
    asking = Asking(block.question, block.best_label, block.worst_label, block.guidelines)
    judge = WritingJudge(generator, asking)
    found = answers_of(run)
    for (place, backwards), chosen in found.items():
        order = tuples_of(block)[place].shown(backwards=backwards)
        choice = judge.choice([texts_of(block)[place][slot] for slot in order])
        assert chosen == (order[choice.best], order[choice.worst])
    assert (len(found), run.result["answered"], run.result["unanswered"]) == (10, 10, 0)
    assert run.result["way"] == "calibrated answer of a language model"
    assert len(run.result["model_sha256"]) == 64


def second_and_first(request) -> Reply:
    """A model that always takes the second place for best and the first for worst."""
    return completion('{"best": 2, "worst": 1}')


def test_a_chat_model_is_asked_in_two_orders_and_its_places_become_slots(block, settings) -> None:
    settings.OPENAI_API_KEY = KEY
    with serving(second_and_first) as server:
        settings.OPENAI_BASE_URL = server.address
        run = carried_out(block, "openai:tiny", shard_tuples=2, guidelines=True)

    assert run.state == "succeeded", run.message
    for (place, backwards), chosen in answers_of(run).items():
        order = tuples_of(block)[place].order[:: -1 if backwards else 1]
        assert chosen == (order[1], order[0])
    asked = [request["messages"][0]["content"] for request in server.requests]
    assert len(set(asked)) == 10
    assert all(block.question in text for text in asked)
    first, second = texts_of(block)[0][0]
    assert sum(f"Sentence A: {first}\nSentence B: {second}" in text for text in asked) >= 2
    assert {request["temperature"] for request in server.requests} == {0}


def test_answers_in_another_form_are_kept_as_none_and_counted(block, settings) -> None:
    def answering(request) -> Reply:
        shown = re.findall(r"Sentence A: (.*)", request["messages"][0]["content"])
        return completion("The second one." if shown < shown[::-1] else '{"best": 1, "worst": 4}')

    with serving(answering) as server:
        settings.OPENAI_BASE_URL = server.address
        run = carried_out(block, "openai:tiny")

    # Of two orders of one tuple, each the reverse of the other, one is answered.
    assert (run.state, run.result["answered"], run.result["unanswered"]) == ("succeeded", 5, 5)
    assert sum(best is None for best, _worst in answers_of(run).values()) == 5


def test_a_model_that_never_answers_fails_with_a_sentence_and_leaves_nothing(block, settings) -> None:
    with serving(lambda _request: completion("I would rather not.")) as server:
        settings.OPENAI_BASE_URL = server.address
        run = carried_out(block, "openai:tiny")

    assert run.state == "failed"
    assert "gave no answer in the form that was asked for" in run.message
    assert not MachineJudge.objects.exists()


def test_a_run_that_goes_on_asks_only_for_what_it_lacks(block, settings, tmp_path) -> None:
    """A worker breaks off in the middle of a shard; what had been answered is not asked again."""
    asked: list[str] = []

    def answering(request) -> Reply:
        asked.append(json.dumps(request["messages"]))
        return Reply(status=401) if len(asked) == 7 else completion('{"best": 1, "worst": 2}')

    def silent(_done: int, _total: int, _message: str) -> None:
        return None

    run = RunFactory(kind="judge_tuples", dataset=block.dataset)
    plan = JudgingPlan(dataset=block.dataset.slug, block=block.pk, model="openai:tiny", concurrency=1)
    job = Job(
        run_id=run.pk, dataset=block.dataset, attempt=1, folder=tmp_path, kept=tmp_path, report=silent,
        shards=Shards(tmp_path / "shards", silent), curve=Curve(run.pk),
    )  # fmt: skip
    with serving(answering) as server:
        settings.OPENAI_BASE_URL = server.address
        with pytest.raises(EndpointError, match="refused the key"):
            judge_tuples(plan, job)
        outcome = judge_tuples(plan, job)

    assert outcome.result["answered"] == 10
    assert len(set(asked)) == 10
    assert len(asked) <= 12  # one refused, and one that was underway when it was


@pytest.mark.parametrize("model", ["openai:", "openai:http://evil.example/?x"])
def test_a_name_that_is_no_model_is_refused_before_the_run(block, model) -> None:
    with pytest.raises(UserError, match="names no model of an endpoint"):
        run_start(
            kind="judge_tuples",
            plan={"dataset": block.dataset.slug, "block": block.pk, "model": model},
            by=None,
        )


def test_the_block_must_be_the_dataset_s_own(block) -> None:
    other = DatasetFactory()
    plan = {"dataset": other.slug, "block": block.pk, "model": "packaged:all-MiniLM-L6-v2"}
    with pytest.raises(UserError, match="has no block of tuples"):
        run_start(kind="judge_tuples", plan=plan, by=None)
