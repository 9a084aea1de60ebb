"""From a dataset's scored pairs to a generator, and from its sentences to pairs, on models of two tiny layers."""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from django.db import connections

from curation.files.writing import sha256_of
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.judged_by import SIMULATED
from curation.pairs.text import near_copy_key, sentence_key
from mlworkers import tasks
from mlworkers.kinds.generation.generating import bootstrap_generator, generate_pairs
from mlworkers.kinds.generation.previewing import preview_generation
from mlworkers.models import Artifact, Run
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.runs.invitations import kept_forget
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.services import run_cancel, run_start
from mlworkers.runs.shards import Shards
from mlworkers.runs.storage import Curve, home_relative, kept_folder, run_folder, runs_with_kept
from mlworkers.science.synthesis.plan import BootstrapPlan, FirstSentences, GenerationPlan
from semblance.demo.scenes import scene_pairs
from tests.factories import DatasetFactory, PairFactory, RunFactory, ScoreSetFactory, SentenceFactory
from tests.ml.endpoint_server import KEY, Reply, Server, completion, serving
from tests.runs import run_execute

pytestmark = pytest.mark.django_db

TRAINING = BootstrapPlan(
    dataset="scenes",
    score_set="gold",
    steps=150,
    layers=2,
    width=32,
    vocabulary=500,
    batch=8,
    learning_rate=8e-3,
)
WRITING = GenerationPlan(
    dataset="scenes", model="", sources=9, samples=2, shard_sources=3, max_tokens=60, keep=2
)


def sentence(dataset: Dataset, text: str) -> Sentence:
    known = Sentence.objects.filter(dataset=dataset, key=sentence_key(text)).first()
    return known or SentenceFactory(dataset=dataset, text=text, key=sentence_key(text))


def pair(dataset: Dataset, a: str, b: str, split: str = "train", **facts) -> Pair:
    return PairFactory(dataset=dataset, a=sentence(dataset, a), b=sentence(dataset, b), split=split, **facts)


@pytest.fixture
def scenes(db) -> Dataset:
    dataset = DatasetFactory(slug="scenes")
    scores = ScoreSetFactory(dataset=dataset, name="gold", low=0, high=1)
    scenes = scene_pairs(60, seed=5)
    texts = list(dict.fromkeys(text for scene in scenes for text in (scene.a, scene.b)))
    made = Sentence.objects.bulk_create(
        Sentence(dataset=dataset, text=text, key=sentence_key(text)) for text in texts
    )
    by_text = dict(zip(texts, made, strict=True))
    pairs = Pair.objects.bulk_create(
        Pair(
            dataset=dataset,
            external_id=f"scene-{number}",
            a=by_text[scene.a],
            b=by_text[scene.b],
            split="test" if number >= 40 else "train",
        )
        for number, scene in enumerate(scenes)
    )
    PairScore.objects.bulk_create(
        PairScore(score_set=scores, pair=pair, value=scene.latent)
        for pair, scene in zip(pairs, scenes, strict=True)
    )
    return dataset


@pytest.fixture(scope="module")
def generator_folder(tmp_path_factory) -> Path:
    """Trained once for all of these tests, on other scenes."""
    from mlworkers.science.pretrained.compute import choose_compute
    from mlworkers.science.synthesis.bootstrap import generator_trained
    from mlworkers.science.synthesis.prompts import TASKS, LabelledPair, examples_written

    folder = tmp_path_factory.mktemp("generator")
    pairs = [LabelledPair(scene.a, scene.b, scene.latent) for scene in scene_pairs(60, seed=6)]
    generator_trained(
        list(examples_written(pairs, TASKS["sentences"])), TRAINING, choose_compute("cpu"), folder=folder
    )
    return folder


def work_of(run: Run, *, report=lambda done, total, message: None, attempt: int = 1) -> Job:
    folder, kept = run_folder(run.pk) / str(attempt), run_folder(run.pk) / "kept"
    for each in (folder, kept):
        each.mkdir(parents=True, exist_ok=True)
    return Job(
        run_id=run.pk,
        dataset=run.dataset,
        attempt=attempt,
        folder=folder,
        kept=kept,
        report=report,
        shards=Shards(kept / "shards", report),
        curve=Curve(run.pk),
    )


class KilledError(Exception):
    pass


def killed_when(message: str, done: int):
    def report(count: int, _total: int, said: str) -> None:
        if said == message and count >= done:
            raise KilledError

    return report


def generated(dataset: Dataset, folder: Path, **settings) -> tuple[Run, Outcome]:
    run = RunFactory(dataset=dataset)
    return run, published(generate_pairs(replace(WRITING, model=str(folder), **settings), work_of(run)))


def published(outcome: Outcome) -> Outcome:
    """As a run that succeeds ends."""
    return replace(outcome, result={**outcome.result, **outcome.publish()})


def rows_of(outcome: Outcome) -> list[dict]:
    return [json.loads(line) for line in outcome.made[0].path.read_text().splitlines()]


@pytest.mark.django_db(transaction=True)  # inside a transaction, a run's heartbeat waits for the test's own
def test_a_run_trains_a_generator_and_another_writes_pairs_with_it(scenes: Dataset) -> None:
    simulated = {"annotators": 3, "simulated_annotators": 3}
    scenes.score_sets.update(kind="human", parameters=simulated)
    values = {"score_set": "gold", "steps": 150, "layers": 2, "width": 32, "vocabulary": 500, "batch": 8}
    training = run_start(
        kind="bootstrap_generator", plan={"dataset": "scenes", **values, "learning_rate": 8e-3}, by=None
    )
    tasks.execute(training.pk)
    writing = run_start(
        kind="generate_pairs",
        plan={"dataset": "scenes", "model": f"run:{training.pk}", "sources": 6, "max_tokens": 60},
        by=None,
    )

    tasks.execute(writing.pk)

    for run in (training, writing):
        run.refresh_from_db()
        assert run.state == "succeeded", run.message
    generator = Artifact.objects.get(run=training)
    assert (generator.kind, generator.card["judged_by"], training.judges) == (
        "generator",
        SIMULATED,
        SIMULATED,
    )
    assert (training.result["pairs"], training.result["held_out"]) == (40, 0)
    assert Curve(training.pk).read()[-1]["step"] == 150
    assert Pair.objects.filter(origin="generated", run_ref=writing.pk).count() == writing.result["kept"] > 0
    assert ScoreSet.objects.get(run_ref=writing.pk).name == writing.result["score_set"]


def test_figures_rows_and_pairs_agree(scenes: Dataset, generator_folder: Path) -> None:
    run, outcome = generated(scenes, generator_folder)

    rows, result = rows_of(outcome), outcome.result
    kept = [row for row in rows if row["dropped"] is None]
    pairs = Pair.objects.filter(run_ref=run.pk).order_by("pk")
    assert (result["sources"], result["generated"]) == (9, 9 * 3 * 2)
    assert result["kept"] == len(kept) == pairs.count() == result["written"] + result["sampled"]
    assert sum(result["dropped"].values()) == len(rows) - len(kept)
    assert [(row["source"], row["text"]) for row in kept] == list(pairs.values_list("a", "b__text"))
    scores = ScoreSet.objects.get(name=result["score_set"]).scores.order_by("pair")
    assert [row["target"] for row in kept] == [score.value for score in scores]


@pytest.mark.exhaustive
def test_a_run_killed_between_shards_ends_as_if_it_had_not_been(
    scenes: Dataset, generator_folder: Path
) -> None:
    plan = replace(WRITING, model=str(generator_folder))
    _run, whole = generated(scenes, generator_folder)
    run = RunFactory(dataset=scenes)
    with pytest.raises(KilledError):
        generate_pairs(plan, work_of(run, report=killed_when("Writing sentences", 19)))
    assert len(list((run_folder(run.pk) / "kept" / "shards" / "writing").iterdir())) == 1
    PairFactory(dataset=scenes, split="train")  # what comes later changes nothing

    outcome = published(generate_pairs(plan, work_of(run, attempt=2)))

    assert sha256_of(outcome.made[0].path) == sha256_of(whole.made[0].path)
    timing = {"score_set", "rows_per_second"}
    assert {name: value for name, value in outcome.result.items() if name not in timing} == {
        name: value for name, value in whole.result.items() if name not in timing
    } | {"human_sentences": outcome.result["human_sentences"]}


@pytest.mark.exhaustive
@pytest.mark.parametrize("speed", [{"shard_sources": 1}, {"shard_sources": 9}, {"rows_at_a_time": 5}])
def test_the_size_of_shards_and_batches_changes_no_sentence(
    scenes: Dataset, generator_folder: Path, speed: dict
) -> None:
    _run, usual = generated(scenes, generator_folder)

    _run, other = generated(scenes, generator_folder, **speed)

    assert rows_of(other) == rows_of(usual)


WRITTEN = {"first_sentences": FirstSentences.WRITTEN, "sources": 8}


def test_first_sentences_are_written_without_a_source_and_then_continued(
    scenes: Dataset, generator_folder: Path
) -> None:
    run, outcome = generated(scenes, generator_folder, **WRITTEN)

    first = [json.loads(line) for line in outcome.made[1].path.read_text().splitlines()]
    kept = [row["text"] for row in first if row["dropped"] is None]
    assert len(first) == 9  # three for each label
    assert len(set(map(near_copy_key, kept))) == len(kept) == outcome.result["first_sentences"]["kept"] > 3
    # What follows is as for human sources: each kept first sentence is continued under every label.
    places = Counter((row["source"], row["label"]) for row in rows_of(outcome) if not row["sampled"])
    assert places == {(number + 1, label): 2 for number in range(len(kept)) for label in ("0", "0.5", "1")}
    pairs = Pair.objects.filter(run_ref=run.pk)
    assert set(pairs.values_list("a__text", flat=True)) <= set(kept)
    assert pairs.count() == outcome.result["kept"] > 0
    new = Sentence.objects.filter(run_ref=run.pk)
    assert new.filter(pairs_as_a__isnull=False).exists()
    assert set(new.values_list("origin", flat=True)) == {Sentence.Origin.MACHINE}
    assert ScoreSet.objects.get(run_ref=run.pk).parameters["first_sentences"] == "written"
    assert outcome.message.endswith("; first sentences written by the model too")


@pytest.mark.exhaustive
@pytest.mark.parametrize("speed", [{"shard_sources": 1}, {"shard_sources": 9}])
def test_the_size_of_shards_changes_no_first_sentence(
    scenes: Dataset, generator_folder: Path, speed: dict
) -> None:
    _run, usual = generated(scenes, generator_folder, **WRITTEN)

    _run, other = generated(scenes, generator_folder, **WRITTEN, **speed)

    for one, two in zip(usual.made, other.made, strict=True):
        assert sha256_of(one.path) == sha256_of(two.path)


@pytest.mark.exhaustive
def test_a_run_killed_while_it_writes_first_sentences_ends_as_if_it_had_not_been(
    scenes: Dataset, generator_folder: Path
) -> None:
    plan = replace(WRITING, model=str(generator_folder), **WRITTEN, shard_sources=1)
    whole = generate_pairs(plan, work_of(RunFactory(dataset=scenes)))
    run = RunFactory(dataset=scenes)
    for attempt, message in enumerate(("Writing first sentences", "Writing sentences"), 1):
        with pytest.raises(KilledError):
            generate_pairs(plan, work_of(run, report=killed_when(message, 4), attempt=attempt))

    outcome = generate_pairs(plan, work_of(run, attempt=3))

    for one, two in zip(whole.made, outcome.made, strict=True):
        assert sha256_of(one.path) == sha256_of(two.path)


@pytest.mark.exhaustive
def test_no_first_sentence_is_a_copy_of_a_held_out_one(scenes: Dataset, generator_folder: Path) -> None:
    _run, usual = generated(scenes, generator_folder, **WRITTEN)
    first = [json.loads(line) for line in usual.made[1].path.read_text().splitlines()]
    text = next(row["text"] for row in first if row["dropped"] is None)
    pair(scenes, text.upper(), "Something else.", "test")

    _run, outcome = generated(scenes, generator_folder, **WRITTEN)

    rows = [json.loads(line) for line in outcome.made[1].path.read_text().splitlines()]
    assert next(row["dropped"] for row in rows if row["text"] == text) == "stands in held-out pairs"


def test_a_preview_shows_the_first_sentences_that_the_run_writes(
    scenes: Dataset, generator_folder: Path
) -> None:
    preview = previewed(scenes, str(generator_folder), **WRITTEN)

    _run, outcome = generated(scenes, generator_folder, **WRITTEN)
    kept = [json.loads(line)["text"] for line in outcome.made[1].path.read_text().splitlines()]
    assert {row["source"] for row in preview.result["rows"]} <= set(kept)
    assert preview.result["rows_of_the_run"] == 8 * 3 * 2


def test_first_sentences_through_an_endpoint_are_asked_for_and_counted(
    scenes: Dataset, endpoint: Server
) -> None:
    run = RunFactory(dataset=scenes)

    outcome = generate_pairs(replace(WRITING, model="openai:tiny", **WRITTEN), work_of(run))

    asked = [request["messages"][0]["content"] for request in endpoint.requests]
    first = [text for text in asked if "Sentence 2" not in text]
    assert len(first) == 9
    assert all(text.startswith("Task: Write two sentences") and "Sentence 1:" in text for text in first)
    kept = outcome.result["first_sentences"]["kept"]
    assert outcome.result["tokens_read"] == len(asked) * 30 == (9 + kept * 6) * 30
    assert outcome.result["estimate"]["requests"] == len(asked)


def test_pairs_enter_when_the_run_ends_and_not_before(scenes: Dataset, generator_folder: Path) -> None:
    before = (Pair.objects.count(), Sentence.objects.count())

    outcome = generate_pairs(
        replace(WRITING, model=str(generator_folder)), work_of(RunFactory(dataset=scenes))
    )

    assert (Pair.objects.count(), Sentence.objects.count()) == before
    assert outcome.publish()["pairs"] == outcome.result["kept"] == Pair.objects.count() - before[0]


@pytest.mark.exhaustive
def test_a_training_killed_in_the_middle_ends_with_the_same_generator(scenes: Dataset) -> None:
    plan = replace(TRAINING, steps=60)
    whole = bootstrap_generator(plan, work_of(RunFactory(dataset=scenes)))
    run = RunFactory(dataset=scenes)
    with pytest.raises(KilledError):
        bootstrap_generator(plan, work_of(run, report=killed_when("Training the generator", 55)))

    outcome = bootstrap_generator(plan, work_of(run, attempt=2))

    sums = [{file.name: sha256_of(file) for file in each.made[0].path.iterdir()} for each in (whole, outcome)]
    assert sums[0] == sums[1]


def test_no_source_stands_in_a_pair_of_another_split(scenes: Dataset) -> None:
    shared = scenes.pairs.filter(split="train").first()
    pair(scenes, shared.a.text, "Something else.", "test")
    pair(scenes, "A HELD-OUT sentence", "And its partner.", "dev")
    pair(scenes, "A held-out sentence.", "A sentence of train alone.")

    sources = sources_drawn(scenes, "train", most=1000, seed=1)

    held_out = {
        near_copy_key(text)
        for texts in scenes.pairs.exclude(split="train").values_list("a__text", "b__text")
        for text in texts
    }
    found = {near_copy_key(source.text) for source in sources}
    assert len(found) > 50
    assert not held_out & found
    assert near_copy_key("a sentence of train alone") in found


def test_sources_are_different_human_sentences_of_active_pairs(db) -> None:
    dataset = DatasetFactory()
    pair(dataset, "A dog runs.", "a dog runs")
    pair(dataset, "A cat sleeps.", "…", status="rejected")
    written = pair(dataset, "A dog runs.", "Written by a machine.", origin="generated")
    Sentence.objects.filter(pk=written.b_id).update(origin="machine")

    sources = sources_drawn(dataset, "train", most=10, seed=1)

    assert [source.text for source in sources] == ["A dog runs."]


def test_sentences_of_pairs_that_hang_together_are_of_one_group(db) -> None:
    dataset = DatasetFactory()
    pair(dataset, "one", "two")
    pair(dataset, "two", "three")
    pair(dataset, "four", "five")

    groups = {source.text: source.group for source in sources_drawn(dataset, "train", most=10, seed=1)}

    assert groups["one"] == groups["two"] == groups["three"] != groups["four"] == groups["five"]


def test_sources_are_drawn_by_the_seed(scenes: Dataset) -> None:
    first, again, other = (sources_drawn(scenes, "train", most=5, seed=seed) for seed in (1, 1, 2))

    assert first == again != other
    assert len(first) == 5


def test_a_generator_learns_nothing_of_held_out_sentences(scenes: Dataset) -> None:
    test = scenes.pairs.filter(split="test").first()
    leaking = pair(scenes, test.a.text.upper(), "Something else.")
    PairScore.objects.create(score_set=scenes.score_sets.get(), pair=leaking, value=0.5)

    outcome = bootstrap_generator(replace(TRAINING, steps=1), work_of(RunFactory(dataset=scenes)))

    assert (outcome.result["pairs"], outcome.result["held_out"]) == (40, 1)


def test_a_source_longer_than_the_context_is_refused_and_the_others_are_continued(
    scenes: Dataset, generator_folder: Path
) -> None:
    pair(scenes, "A dog " + "and a dog " * 120 + "run.", "A cat sleeps.")

    _run, outcome = generated(scenes, generator_folder, sources=1000, samples=1, labels="1", shard_sources=50)

    assert outcome.result["refused"] == 1
    assert "exceed the model's context of 256" in outcome.result["refused_because"][0]
    assert outcome.result["kept"] > 0


def test_sources_that_are_all_too_long_end_the_run_with_that_sentence(db, generator_folder: Path) -> None:
    dataset = DatasetFactory()
    pair(dataset, "A dog " + "and a dog " * 120 + "run.", "A cat " + "and a cat " * 120 + "sleep.")

    with pytest.raises(UserError, match="exceed the model's context"):
        generated(dataset, generator_folder)


def test_rows_of_which_none_can_be_kept_end_the_run_with_their_reasons(
    scenes: Dataset, generator_folder: Path
) -> None:
    with pytest.raises(UserError, match=r"No row could be kept \(no closing quote 54\)"):
        generated(scenes, generator_folder, max_tokens=1, top_k=1)

    assert not Pair.objects.filter(origin="generated").exists()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"model": "packaged:all-MiniLM-L6-v2"}, "is a sentence encoder"),
        ({"model": "run:999"}, "made no generator"),
        ({"model": "openai:"}, "names no model of an endpoint"),
        ({"model": "openai:http://evil.example/?x"}, "names no model of an endpoint"),
        ({"model": "x", "split": "dev"}, "is held out"),
        ({"model": "x", "top_p": 0}, "must be at least"),
        ({"model": "x", "labels": "0,7"}, "has no label '7'"),
        ({"model": "x", "temprature": 1}, "not a setting of “Generate pairs”"),
        (
            {"model": "x", "task": '{"task_name": "t", "labels": {"1": {"instruction": "<X1>"}}}'},
            "end in a quote",
        ),
    ],
)
def test_a_plan_that_is_wrong_is_refused_before_it_is_queued(
    scenes: Dataset, values: dict, says: str
) -> None:
    with pytest.raises(UserError, match=says):
        run_start(kind="generate_pairs", plan={"dataset": "scenes", **values}, by=None)

    assert not Run.objects.exists()


def test_an_encoder_folder_is_refused_with_a_sentence(scenes: Dataset, tmp_path: Path) -> None:
    from tests.ml.tiny import tiny_encoder

    with pytest.raises(ValueError, match="holds a sentence encoder"):
        generated(scenes, tiny_encoder(tmp_path))


def test_a_split_without_sentences_is_refused(scenes: Dataset, generator_folder: Path) -> None:
    with pytest.raises(UserError, match="has no human sentence"):
        generated(scenes, generator_folder, split="extra")


def test_a_score_set_without_scores_in_the_split_is_refused(scenes: Dataset) -> None:
    ScoreSetFactory(dataset=scenes, name="other")

    with pytest.raises(UserError, match="No pair of the split “train” has a score"):
        bootstrap_generator(replace(TRAINING, score_set="other"), work_of(RunFactory(dataset=scenes)))


def answered(request: dict) -> Reply:
    """A sentence that follows from the request, some of them in another form than the one that was asked for."""
    if request["seed"] % 7 == 0:
        return completion("I cannot do that.")
    return completion(json.dumps({"sentence": f"A dog barks {request['seed']} times."}))


@pytest.fixture
def endpoint(settings) -> Iterator[Server]:
    with serving(answered) as server:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.address, KEY
        yield server


@pytest.mark.django_db(transaction=True)
def test_a_run_writes_pairs_through_an_endpoint_and_marks_them_as_not_self_debiased(
    scenes: Dataset, endpoint: Server
) -> None:
    run = run_start(
        kind="generate_pairs",
        plan={
            "dataset": "scenes",
            "model": "openai:org/tiny:1b",
            "sources": 9,
            "samples": 2,
            "shard_sources": 4,
        },
        by=None,
    )

    run_execute(run, "succeeded")
    assert run.message.endswith("; not self-debiased")
    assert {request["model"] for request in endpoint.requests} == {"org/tiny:1b"}
    assert len(endpoint.requests) == 9 * 3 * 2
    other_form = sum(request["seed"] % 7 == 0 for request in endpoint.requests)
    assert run.result["dropped"].get("answer not in the form that was asked for", 0) == other_form
    assert (run.result["tokens_read"], run.result["tokens_written"]) == (54 * 30, 54 * 9)
    assert run.result["estimate"]["requests"] == 54
    assert run.result["draws"] is True
    assert Pair.objects.filter(run_ref=run.pk).count() == run.result["kept"] > 0
    scores = ScoreSet.objects.get(run_ref=run.pk)
    assert scores.parameters["self_debiased"] is run.result["self_debiased"] is False
    assert "not self-debiased" in scores.method


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (None, "No endpoint is set"),
        (Reply(401, {"error": {"message": f"wrong key {KEY}"}}), "refused the key (401)"),
        (Reply(404), "has no model “tiny”"),
    ],
)
def test_a_run_that_gets_no_answer_says_why_and_leaves_no_trace_of_the_key(
    scenes: Dataset, settings, reply: Reply | None, says: str
) -> None:
    with serving(lambda _request: reply) as server:
        if reply is not None:
            settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.address, KEY
        run = run_start(kind="generate_pairs", plan={"dataset": "scenes", "model": "openai:tiny"}, by=None)
        tasks.execute(run.pk)

    run.refresh_from_db()
    assert run.state == "failed"
    assert says in run.message
    stored = [run.message, json.dumps(run.plan), json.dumps(run.result)]
    stored += [file.read_text() for file in run_folder(run.pk).rglob("*") if file.is_file()]
    assert not [text for text in stored if KEY in text or server.address in text]


@pytest.mark.exhaustive
def test_a_run_through_an_endpoint_that_was_killed_asks_only_for_what_is_missing(
    scenes: Dataset, endpoint: Server
) -> None:
    plan = replace(WRITING, model="openai:tiny", concurrency=1, shard_sources=9)
    run = RunFactory(dataset=scenes)
    with pytest.raises(KilledError):
        generate_pairs(plan, work_of(run, report=killed_when("Writing sentences", 20)))
    before = len(endpoint.requests)

    outcome = generate_pairs(plan, work_of(run, attempt=2))

    assert outcome.result["generated"] == 54
    assert before >= 20
    # Besides the requests that were open when the run was killed, none is sent twice.
    seeds = [request["seed"] for request in endpoint.requests]
    assert len(seeds) - len(set(seeds)) <= 2 * plan.concurrency
    assert not list((run_folder(run.pk) / "kept" / "shards" / "writing").glob("*.answers"))


ASKING = {"dataset": "scenes", "model": "openai:tiny", "sources": 6, "samples": 2, "shard_sources": 2}


def started(**changes) -> Run:
    return run_start(kind="generate_pairs", plan={**ASKING, "concurrency": 1, **changes}, by=None)


def carried_out(run: Run, settings, answering=answered) -> tuple[Run, Server]:
    with serving(answering) as server:
        settings.OPENAI_BASE_URL = server.address
        tasks.execute(run.pk)
    run.refresh_from_db()
    return run, server


def breaking_off(after: int, broken):
    """Answers so many requests, and then what `broken` says."""
    asked = []

    def answering(request: dict) -> Reply:
        asked.append(request)
        return answered(request) if len(asked) <= after else broken(request)

    return answering


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("cancelled", [False, True])
def test_the_answers_of_a_run_that_failed_or_was_cancelled_are_not_asked_for_again(
    scenes: Dataset, settings, cancelled: bool
) -> None:
    broken_run = started()

    def broken(request: dict) -> Reply:
        if not cancelled:
            return Reply(401)
        run_cancel(run=broken_run, by=None)
        connections.close_all()  # of the server's thread
        return answered(request)

    broken_run, before = carried_out(broken_run, settings, breaking_off(20, broken))
    run, after = carried_out(started(concurrency=2, shard_sources=5, sources=7), settings)

    assert broken_run.state == ("cancelled" if cancelled else "failed")
    assert run.state == "succeeded", run.message
    artifact = Artifact.objects.get(run=broken_run)
    kept = len((run_folder(broken_run.pk) / "answers.jsonl").read_text().splitlines())
    assert (artifact.kind, artifact.card["rows"]) == ("answers", kept)
    assert kept >= sum(request["seed"] % 7 != 0 for request in before.requests[:20]) > 10
    assert run.result["earlier_answers"] == {f"run {broken_run.pk}": kept}
    assert len(after.requests) == 7 * 3 * 2 - kept == run.result["answers"] - kept
    assert f"; {kept} of 42 answers come from run {broken_run.pk}" in run.message
    alone, _server = carried_out(started(sources=7, seed=43), settings)
    assert "earlier_answers" not in alone.result  # another seed asks other questions
    Artifact.objects.all().delete()
    fresh, _server = carried_out(started(sources=7), settings)
    rows = [next(run_folder(each.pk).rglob("rows.jsonl")).read_text() for each in (run, fresh)]
    assert rows[0] == rows[1]


def test_the_answers_of_a_run_whose_worker_was_killed_before_it_tidied_up_are_stored_later(
    scenes: Dataset, endpoint: Server
) -> None:
    plan = replace(WRITING, model="openai:tiny", concurrency=1)
    run = RunFactory(dataset=scenes, kind="generate_pairs", plan=asdict(plan), state="failed")
    with pytest.raises(KilledError):
        generate_pairs(plan, work_of(run, report=killed_when("Writing sentences", 20)))

    kept_forget(runs_with_kept())
    kept_forget(runs_with_kept())

    assert Artifact.objects.get(run=run).card["rows"] > 10
    assert not kept_folder(run.pk).exists()


def test_a_run_says_that_its_endpoint_does_not_draw(scenes: Dataset, settings) -> None:
    with serving(lambda _request: completion('{"sentence": "A dog barks."}')) as server:
        settings.OPENAI_BASE_URL = server.address
        outcome = generate_pairs(
            replace(WRITING, model="openai:tiny", labels="1"), work_of(RunFactory(dataset=scenes))
        )

    assert outcome.result["draws"] is False
    assert outcome.message.endswith("so it does not draw at random")


def test_an_encoder_cannot_be_behind_an_endpoint(scenes: Dataset) -> None:
    plan = {"dataset": "scenes", "model": "openai:tiny", "score_set": "gold"}

    with pytest.raises(UserError, match="openai:tiny is behind an endpoint, which writes sentences"):
        run_start(kind="evaluate_encoder", plan=plan, by=None)


def test_a_generator_is_found_by_its_run(scenes: Dataset, generator_folder: Path) -> None:
    made_by = RunFactory(dataset=scenes, state="succeeded")
    folder = run_folder(made_by.pk) / "1" / "generator"
    shutil.copytree(generator_folder, folder)
    Artifact.objects.create(run=made_by, kind="generator", path=home_relative(folder), sha256="0" * 64)

    _run, outcome = generated(scenes, Path(f"run:{made_by.pk}"))

    assert outcome.result["kept"] > 0


def previewed(dataset: Dataset, model: str, **settings) -> Outcome:
    run = RunFactory(dataset=dataset)
    return preview_generation(replace(WRITING, model=model, **settings), work_of(run))


def test_a_preview_shows_the_rows_that_the_run_writes_first_and_adds_nothing(
    scenes: Dataset, generator_folder: Path
) -> None:
    pairs = Pair.objects.count()

    preview = previewed(scenes, str(generator_folder))

    shown = preview.result["rows"]
    assert len(shown) == preview.result["written"] == 12  # of four sources, for three labels
    assert preview.result["rows_of_the_run"] == 9 * 3 * 2
    assert preview.result["most_seconds"] > 0
    assert not preview.made
    assert (Pair.objects.count(), ScoreSet.objects.filter(run_ref__isnull=False).count()) == (pairs, 0)
    _run, outcome = generated(scenes, generator_folder)
    first = {
        (row["source"], row["label"]): row["text"]
        for row in rows_of(outcome)
        if not row["sample"] and not row["sampled"]
    }
    texts = dict(Sentence.objects.values_list("text", "pk"))
    written = {(texts[row["source"]], row["label"]): row["text"] for row in shown if not row["dropped"]}
    assert written
    assert written == {place: first[place] for place in written}


@pytest.mark.django_db(transaction=True)
def test_a_preview_through_an_endpoint_sends_a_request_for_each_of_its_rows(
    scenes: Dataset, endpoint: Server
) -> None:
    plan = {"dataset": "scenes", "model": "openai:tiny", "sources": 9, "samples": 5, "price_out": 2}
    run = run_start(kind="preview_generation", plan=plan, by=None)

    run_execute(run, "succeeded")
    assert len(endpoint.requests) == 12
    assert run.result["rows_of_the_run"] == 9 * 3 * 5
    assert run.result["endpoint"].startswith("135 requests")
    assert not Pair.objects.filter(origin="generated").exists()
