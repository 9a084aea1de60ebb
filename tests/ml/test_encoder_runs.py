"""Runs that train, measure and compare encoders, on a tiny model."""

import json
import shutil
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from django.utils import timezone
from scipy.stats import rankdata, spearmanr
from sentence_transformers import SentenceTransformer

from curation.exchange.exporting import snapshot_create
from curation.foundation.heartbeats import LOST_MAX
from curation.models import Pair, PairScore, ScoreSet, Snapshot
from curation.review.verdicts import review_decide
from mlworkers.kinds.comparisons import weightings
from mlworkers.kinds.comparisons.comparison import comparison_of
from mlworkers.kinds.encoders import training as encoders
from mlworkers.models import Run
from mlworkers.pipelines import encoder_data
from mlworkers.pipelines.seen import seen_upstream
from mlworkers.runs.reporting import WorkerLeaves
from mlworkers.runs.storage import content_of, home_path, kept_folder, run_folder
from mlworkers.science.encoders.saving import learned_save, seen_by
from mlworkers.science.training import checkpoints
from mlworkers.science.training.ranks import RankLost
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    GeneratedPairFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    UserFactory,
    client_of,
)
from tests.ml.devices import DeadlyClock
from tests.ml.encoder_data import dataset_with_pairs, pairs_with_gold_add, scene, split_set_here
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = {"epochs": 1, "batch_size": 8, "learning_rate": 0.001, "device": "cpu"}
SETS = {"scores": "run 7: target", "realism": "run 7: p_D"}
COMPARED = {**SETS, **SHORT, "test_score_set": "gold", "bootstrap": 100, "seeds": 1, "controls": False}


@pytest.fixture
def dataset(db):
    return dataset_with_pairs()


def queued(kind: str, dataset, model, **settings) -> Run:
    return run_plan(kind, dataset, {"dataset": dataset.slug, "model": str(model), **settings})


def carried_out(run: Run, state: str = "succeeded") -> Run:
    return run_execute(run, state)


def trained(dataset, model, **settings) -> Run:
    return carried_out(queued("train_encoder", dataset, model, **SETS, **SHORT, **settings))


def artifact_folder(run: Run) -> Path:
    return home_path(run.artifacts.get().path)


def test_training_leaves_an_encoder_that_says_where_it_comes_from(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, weighting="realism")

    card, snapshot = run.artifacts.get().card, Snapshot.objects.get()
    assert (run.artifacts.get().kind, run.message) == ("encoder", "Trained on 24 pairs in 3 steps")
    assert (card["label"], card["seed"], card["base"], card["training_pairs"]) == (
        "realism", 42, str(encoder_folder), 24
    )  # fmt: skip
    assert (card["snapshot"], card["snapshot_sha256"]) == (1, snapshot.sha256)
    assert card["base_sha256"] == content_of(encoder_folder)[0]
    assert card["plan"]["learning_rate"] == 0.001
    assert card["generated_pairs"] == snapshot.filter["generated_pairs"] == "all but rejected"
    assert run.result["effective_pairs"] < 24
    assert SentenceTransformer(str(artifact_folder(run)), device="cpu").get_embedding_dimension() == 32
    assert "Licence of the data: CC0-1.0" in (artifact_folder(run) / "README.md").read_text()


def test_precision_weighs_scores_by_their_standard_errors_and_needs_them(dataset, encoder_folder) -> None:
    run = carried_out(
        queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT, weighting="precision"), "failed"
    )
    assert "The snapshot has no standard errors of these scores" in run.message

    scores = PairScore.objects.filter(score_set__name=SETS["scores"])
    for number, score in enumerate(scores):
        score.standard_error = 0.3 if number % 2 else 0.01
        score.save()
    run = trained(dataset, encoder_folder, weighting="precision")

    assert run.artifacts.get().card["label"] == "precision"
    # Half have the weight 1 nearly, half σ² / (σ² + .09), σ² = Var t - mean s².
    values = [score.value for score in scores]
    between = np.var(values, ddof=1) - (0.09 + 0.0001) / 2
    weights = between / (between + np.tile([0.0001, 0.09], 12))
    assert run.result["effective_pairs"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), abs=0.1)


def test_its_curve_is_kept_beside_it(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, validation_share=0.3, looks=1)

    points = [json.loads(line) for line in (run_folder(run.pk) / "curve.jsonl").read_text().splitlines()]
    assert [point["step"] for point in points] == [1, 2, 3]
    assert points[-1].keys() == {"step", "loss", "dev"}
    assert run.result["dev"] == points[-1]["dev"]


def test_the_trained_encoder_is_named_by_its_run_s_number(dataset, encoder_folder, tmp_path, capsys) -> None:
    run = trained(dataset, encoder_folder)
    (tmp_path / "pairs.csv").write_text(
        "a,b,score\na dog runs,the dog runs,4\na cat,a bird,1\na man,a tree,2\n"
    )

    call_command(
        "evaluate", f"run:{run.pk}", "--pairs", str(tmp_path / "pairs.csv"), "--bootstrap", "0", "--json"
    )

    assert json.loads(capsys.readouterr().out.splitlines()[-1])["pairs"] == 3


def test_training_goes_on_where_a_worker_left_it_and_ends_with_the_same_files(
    dataset, encoder_folder, monkeypatch
) -> None:
    whole = trained(
        dataset, encoder_folder, weighting="random", snapshot=snapshot_create(dataset=dataset).number
    )
    monkeypatch.setattr(checkpoints.Checkpoints, "is_due", lambda self, step: step == 2)
    leaving = queued(
        "train_encoder", dataset, encoder_folder, **SETS, **SHORT, weighting="random", snapshot=1
    )
    train, resumed = encoders.encoder_train, []

    def left(*args, report, **about):
        def until_the_third_step(done: int, total: int, message: str) -> None:
            if done == 2:
                raise WorkerLeaves
            report(done, total, message)

        return train(*args, report=until_the_third_step, **about)

    def watched(*args, report, **about):
        def steps(done: int, total: int, message: str) -> None:
            resumed.append(done)
            report(done, total, message)

        return train(*args, report=steps, **about)

    monkeypatch.setattr(encoders, "encoder_train", left)
    carried_out(leaving, state="running")
    monkeypatch.setattr(encoders, "encoder_train", watched)

    run = carried_out(leaving)

    assert (resumed[0], run.attempt) == (2, 2)
    assert run.artifacts.get().sha256 == whole.artifacts.get().sha256


@pytest.mark.exhaustive
def test_a_run_on_two_devices_says_so_and_goes_on_where_a_process_of_it_was_killed(
    dataset, encoder_folder, monkeypatch
) -> None:
    run = queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT, devices="2")
    train = encoders.encoder_train

    def ill_fated(*args, now, **about):
        return train(*args, now=DeadlyClock(rank=1), **about)

    monkeypatch.setattr(encoders, "encoder_train", ill_fated)
    lost = carried_out(run, state="running")
    assert (lost.lost, lost.heartbeat_at) == (1, None)
    monkeypatch.setattr(encoders, "encoder_train", train)

    made = carried_out(run)

    assert (made.attempt, made.result["devices"], made.result["steps"]) == (2, 2, 3)
    assert made.artifacts.get().card["plan"]["devices"] == "2"
    log = (run_folder(run.pk) / "log.txt").read_text()
    assert "Process 2 of the 2 that train together ended by the signal SIGKILL. The run resumes." in log


def test_a_run_that_loses_its_processes_again_and_again_is_given_up(
    dataset, encoder_folder, monkeypatch
) -> None:
    run = queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT, devices="2")

    def lost(*_args, **_about):
        raise RankLost("Process 1 of the 2 that train together ended by the signal SIGKILL.")

    monkeypatch.setattr(encoders, "encoder_train", lost)
    for _attempt in range(LOST_MAX):
        carried_out(run, state="running")

    assert "3 workers stopped responding during this run" in carried_out(run, state="failed").message


def test_a_run_for_more_devices_than_there_are_is_one_sentence(dataset, encoder_folder, monkeypatch) -> None:
    monkeypatch.setattr("mlworkers.science.pretrained.compute._cores", lambda: 2)
    run = queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT, devices="3")

    assert carried_out(run, state="failed").message == (
        "The training is to be shared by 3 processes, and the processor has 2 cores; set devices to 2 or less."
    )


def test_a_run_makes_its_snapshot_once(dataset, encoder_folder, monkeypatch) -> None:
    run = queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT)
    fit = encoders.encoder_train

    def leaves(*args, **about):
        raise WorkerLeaves

    monkeypatch.setattr(encoders, "encoder_train", leaves)
    carried_out(run, state="running")
    GeneratedPairFactory(dataset=dataset, intended=0.5, p_d=0.5)  # what comes later is not of this run
    monkeypatch.setattr(encoders, "encoder_train", fit)

    assert carried_out(run).result["training_pairs"] == 24
    assert Snapshot.objects.count() == 1


def test_no_test_sentence_is_learned(dataset, encoder_folder) -> None:
    tested = dataset.pairs.filter(split="test").first()
    GeneratedPairFactory(dataset=dataset, a=tested.a, intended=0.9, p_d=0.9)

    run = trained(dataset, encoder_folder)

    assert (run.result["training_pairs"], run.result["held_out_left_out"]) == (24, 1)
    texts = [text for pair in dataset.pairs.filter(split="test") for text in (pair.a.text, pair.b.text)]
    known = seen_by(artifact_folder(run))
    assert not any(text in known for text in texts)


def test_training_says_how_many_pairs_of_a_published_split_it_left_out(dataset, encoder_folder) -> None:
    tested = dataset.pairs.filter(split="test").first()
    GeneratedPairFactory(dataset=dataset, a=tested.a, intended=0.9, p_d=0.9, split="train")

    run = trained(dataset, encoder_folder)

    assert run.result["warnings"] == [
        "1 pair was left out of training, because another split holds a sentence of it."
    ]


def test_training_on_a_split_that_was_set_here_and_leaks_is_refused_unless_allowed(
    dataset, encoder_folder
) -> None:
    tested = dataset.pairs.filter(split="test").first()
    shared = GeneratedPairFactory(dataset=dataset, a=tested.a, intended=0.9, p_d=0.9, split="train")
    split_set_here(shared)
    plan = {**SETS, **SHORT}

    refused = carried_out(queued("train_encoder", dataset, encoder_folder, **plan), state="failed")
    allowed = trained(dataset, encoder_folder, leaks="allow")

    assert refused.message.startswith(
        "1 of the 25 pairs of the split “train”, which is trained on, share a sentence with the split “test”"
    )
    assert (allowed.result["training_pairs"], allowed.result["held_out_left_out"]) == (24, 1)


def test_rejected_pairs_are_not_learned(dataset, encoder_folder) -> None:
    Pair.objects.filter(pk=dataset.pairs.filter(origin="generated").first().pk).update(status="rejected")

    assert trained(dataset, encoder_folder).result["training_pairs"] == 23


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"scores": "gone"}, "The snapshot has no score set “gone”"),
        ({"split": "dev"}, "No pair of the split “dev” has a score in “run 7: target”"),
        (
            {"snapshot": 9},
            "The dataset “scenes” has no snapshot 9; choose one that it has, or 0 for a new one.",
        ),
        ({"model": "run:999"}, "Run 999 made no encoder, or there is no such run"),
    ],
)
def test_what_cannot_be_trained_is_said_in_a_sentence(dataset, encoder_folder, values, sentence: str) -> None:
    plan = {**SETS, **SHORT, "weighting": "realism", "model": str(encoder_folder), **values}

    run = carried_out(queued("train_encoder", dataset, plan.pop("model"), **plan), state="failed")

    assert run.message.startswith(sentence)
    assert not run.artifacts.exists()


def test_weights_that_are_all_nothing_are_refused(dataset, encoder_folder) -> None:
    ScoreSet.objects.get(name="run 7: p_D").scores.update(value=0.0)
    plan = {**SETS, **SHORT, "weighting": "realism"}

    run = carried_out(queued("train_encoder", dataset, encoder_folder, **plan), state="failed")

    assert run.message.startswith("All 24 weights are 0, so nothing would be trained")


@pytest.mark.exhaustive
def test_after_two_edits_in_review_the_default_comparison_counts_them_as_human(
    dataset, encoder_folder
) -> None:
    owner = MembershipFactory(dataset=dataset, role="owner").user
    for number, pair in enumerate(dataset.pairs.filter(origin="generated").order_by("pk")[:2]):
        sent = {"text": f"A person rewrote this, {number}.", "client_id": uuid4(), "at": timezone.now()}
        review_decide(pair=pair, verdict="edit", by=owner, **sent)

    run = carried_out(queued("compare_weightings", dataset, encoder_folder, **COMPARED))

    assert (run.result["unscored_as_human"], run.result["unscored_left_out"]) == (2, 0)
    assert run.result["training_pairs"] == 24
    client = client_of(owner)
    page = client.get(f"/compare/{run.pk}/").content.decode()
    assert "2 training pairs had no p_D because a person wrote or edited their sentences" in page


def test_p_d_that_is_missing_is_refused_or_left_out(dataset, encoder_folder) -> None:
    GeneratedPairFactory(dataset=dataset, intended=0.5)
    plan = {**SETS, **SHORT, "weighting": "filter"}

    refused = carried_out(queued("train_encoder", dataset, encoder_folder, **plan), state="failed")
    run = carried_out(queued("train_encoder", dataset, encoder_folder, **plan, unscored="leave out"))

    assert refused.message.startswith("p_D is missing for 1 of 25 pairs, first pair ")
    assert refused.message.endswith("or choose another value for “Pairs without p_D or p_y”.")
    assert (run.result["unscored_left_out"], run.result["training_pairs"], run.result["filtered"]) == (
        1,
        22,
        2,
    )


def test_training_on_kept_pairs_leaves_out_what_nobody_reviewed_and_says_so(dataset, encoder_folder) -> None:
    for pair in list(Pair.objects.filter(dataset=dataset, origin="generated").order_by("pk")[:9]):
        review_decide(pair=pair, verdict="keep", client_id=uuid4(), by=UserFactory(), at=timezone.now())

    run = trained(dataset, encoder_folder, generated_pairs="kept only")

    readme = (artifact_folder(run) / "README.md").read_text()
    assert run.result["training_pairs"] == 9
    assert Snapshot.objects.get().filter["generated_pairs"] == "kept only"
    assert "* generated pairs: kept only" in readme


def test_a_snapshot_whose_file_was_changed_is_refused(dataset, encoder_folder, home) -> None:
    path = home / snapshot_create(dataset=dataset).path
    path.chmod(0o644)
    path.write_bytes(path.read_bytes() + b" ")

    run = carried_out(
        queued("train_encoder", dataset, encoder_folder, **SETS, **SHORT, snapshot=1), state="failed"
    )

    assert run.message == "The file of snapshot 1 is gone or was changed; make a new one."


def test_an_encoder_is_measured_on_gold_pairs(dataset, encoder_folder) -> None:
    run = carried_out(queued("evaluate_encoder", dataset, encoder_folder, score_set="gold", bootstrap=100))

    first = run.evaluations.get(metric="spearman")
    gold = list(
        PairScore.objects.filter(score_set__name="gold").order_by("pair").values_list("value", flat=True)
    )
    theirs = SentenceTransformer(str(encoder_folder), device="cpu")
    pairs = dataset.pairs.filter(split="test").order_by("pk").values_list("a__text", "b__text")
    vectors = [theirs.encode(list(side), show_progress_bar=False) for side in zip(*pairs, strict=True)]
    assert first.value == pytest.approx(
        spearmanr(theirs.similarity_pairwise(*vectors), gold).statistic, abs=0.02
    )
    assert (first.model, first.suite, first.n, first.seed) == (
        str(encoder_folder),
        "scenes, gold, test",
        12,
        None,
    )
    assert first.low <= first.value <= first.high
    assert run.result["spearman"] == first.value
    assert run.evaluations.get(metric="pearson").value == run.result["pearson"]
    # The pairs on which it is furthest from people, in the scores' own scale, by an independent count of ranks.
    cosines = [cosine for _pair, _gold, cosine, _difference in sorted(run.result["furthest"])]
    ranks = (rankdata(cosines) - rankdata(gold)) / 12
    numbers = dataset.pairs.filter(split="test").order_by("pk").values_list("pk", flat=True)
    by_hand = sorted(zip(numbers, gold, cosines, ranks, strict=True), key=lambda row: -abs(row[3]))
    furthest = run.result["furthest"]
    assert [abs(row[3]) for row in furthest] == pytest.approx([abs(row[3]) for row in by_hand])
    assert sorted(row[:3] for row in furthest) == [
        [number, pytest.approx(score), cosine] for number, score, cosine, _rank in sorted(by_hand)
    ]


def test_the_figure_of_unseen_pairs_stands_beside_that_of_all_pairs(dataset, encoder_folder) -> None:
    training = trained(dataset, encoder_folder)
    pairs_with_gold_add(dataset, [("the dog runs on the grass with a ball 0", "a tree", 3.0)])
    about = {"score_set": "gold", "bootstrap": 100, "leaks": "allow"}

    run = carried_out(queued("evaluate_encoder", dataset, f"run:{training.pk}", **about))

    assert (run.result["pairs"], run.result["left_out"]) == (12, 1)
    both = run.result["all_and_unseen"]
    assert {part: one["pairs"] for part, one in both.items()} == {"all pairs": 13, "unseen pairs": 12}
    assert both["unseen pairs"]["spearman"] == run.result["spearman"]
    of_all = run.evaluations.get(metric="spearman", part="all pairs")
    assert (of_all.n, of_all.value) == (13, both["all pairs"]["spearman"])
    assert of_all.low <= of_all.value <= of_all.high
    assert run.evaluations.get(metric="spearman", part="").n == 12
    assert run.result["training_data"] == f"48 sentences are known; not known of {encoder_folder}"


def test_a_test_split_that_shares_sentences_with_the_training_split_is_refused(
    dataset, encoder_folder
) -> None:
    training = trained(dataset, encoder_folder)
    pairs_with_gold_add(dataset, [("THE DOG runs on the grass with a ball 0!", "a tree", 3.0)])

    run = carried_out(
        queued("evaluate_encoder", dataset, f"run:{training.pk}", score_set="gold"), state="failed"
    )

    assert run.message.startswith(
        "1 of the 13 pairs of the split “test” hold a sentence that the encoder has seen; it was trained on the split "
        "“train” of the same dataset. Draw the splits again and train on the new ones, or choose “allow”"
    )


def test_of_a_model_from_outside_the_result_says_that_its_training_is_not_known(
    dataset, encoder_folder
) -> None:
    run = carried_out(queued("evaluate_encoder", dataset, encoder_folder, score_set="gold", bootstrap=0))

    assert run.result["training_data"] == "not known, so the figures are those of all test pairs"
    assert "all_and_unseen" not in run.result
    assert set(run.evaluations.values_list("part", flat=True)) == {""}


def test_an_encoder_trained_further_has_seen_what_its_base_has(dataset, encoder_folder) -> None:
    first = trained(dataset, encoder_folder)
    other = dataset_with_pairs(generated=0, slug="others")
    scores = ScoreSetFactory(dataset=other, name="given", low=0.0, high=1.0)
    for number in range(4):
        pair = PairFactory(dataset=other, split="train", a__text=f"new {number}", b__text=f"a tree {number}")
        PairScore.objects.create(score_set=scores, pair=pair, value=number / 4)
    plan = {**SHORT, "scores": "given"}

    second = carried_out(queued("train_encoder", other, f"run:{first.pk}", **plan))

    seen = seen_by(artifact_folder(second))
    assert "new 0" in seen
    assert "the dog runs on the grass with a ball 0" in seen
    assert seen.splits == {("scenes", "train"), ("others", "train")}
    assert seen.unknown == (str(encoder_folder),)


def test_the_human_scores_behind_p_y_and_the_text_behind_a_generator_count_as_seen(dataset) -> None:
    gold = dataset.score_sets.get(name="gold")
    read = PairFactory(dataset=dataset, split="train", a__text="a boat sinks", b__text="the boat is lost")
    PairScore.objects.create(score_set=gold, pair=read, value=4.0)
    generator = RunFactory(
        kind="bootstrap_generator", dataset=dataset, plan={"score_set": "gold", "split": "train"}
    )
    generation = RunFactory(kind="generate_pairs", dataset=dataset, plan={"model": f"run:{generator.pk}"})
    snapshot = snapshot_create(dataset=dataset)
    consistency = RunFactory(
        kind="score_consistency",
        dataset=dataset,
        plan={"dataset": "scenes", "human_scores": "gold", "human_split": "test"},
        result={"snapshot": snapshot.number},
    )
    ScoreSetFactory(dataset=dataset, name="p_y", kind="consistency", run_ref=consistency.pk)
    dataset.score_sets.filter(name="run 7: target").update(run_ref=generation.pk)
    training = RunFactory(
        kind="train_encoder", dataset=dataset, plan={"scores": "run 7: target", "consistency": "p_y"}
    )

    seen = seen_upstream(training)

    assert "A boat sinks!" in seen  # read by the generator
    assert f"a {scene(0)}" in seen  # of a scored test pair, which taught p_y
    assert "a mat the dog plays 0" not in seen


def test_a_generator_says_itself_what_it_was_trained_on(dataset, home) -> None:
    generator = RunFactory(
        kind="bootstrap_generator", dataset=dataset, plan={"score_set": "gold", "split": "train"}
    )
    path = f"runs/{generator.pk}/1/generator"
    (home / path).mkdir(parents=True)
    learned_save(home / path, ["a pair that was removed since", "its other sentence"])
    ArtifactFactory(run=generator, kind="generator", path=path)
    generation = RunFactory(kind="generate_pairs", dataset=dataset, plan={"model": f"run:{generator.pk}"})

    seen = seen_upstream(generation)

    assert "A pair that was removed since!" in seen
    assert (len(seen), seen.unknown) == (2, ())


def test_a_comparison_shows_all_pairs_beside_those_that_its_base_has_not_seen(
    dataset, encoder_folder
) -> None:
    training = trained(dataset, encoder_folder)
    pairs_with_gold_add(dataset, [("the dog runs on the grass with a ball 0", "a tree", 3.0)])
    plan = {**COMPARED, "weightings": "plain", "test_score_set": "gold"}

    refused = carried_out(queued("compare_weightings", dataset, f"run:{training.pk}", **plan), state="failed")
    run = carried_out(queued("compare_weightings", dataset, f"run:{training.pk}", **plan, leaks="allow"))

    assert "hold a sentence that the encoder has seen" in refused.message
    assert (run.result["pairs"], run.result["test_left_out"]) == (12, 1)
    assert [one["pairs"] for one in run.result["all_pairs"].values()] == [13, 13]
    rows = run.evaluations.filter(metric="spearman", label="plain").order_by("n")
    assert [(one.part, one.n) for one in rows] == [("", 12), ("all pairs", 13)]
    cell = comparison_of(run.result, run.evaluations.order_by("pk")).cell("plain")
    assert (cell.beside.part, cell.beside.pairs) == ("all pairs", 13)
    assert cell.beside.mean == rows[1].value


def test_a_comparison_whose_splits_share_a_sentence_because_of_one_set_here_is_refused(
    dataset, encoder_folder
) -> None:
    shared = PairFactory(dataset=dataset, split="train", a__text="a boat sinks", b__text="the boat is lost")
    pairs_with_gold_add(dataset, [("A boat sinks.", "a tree", 3.0)])
    plan = {**COMPARED, "weightings": "plain"}
    published = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan))
    split_set_here(shared)

    drawn = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan), state="failed")
    allowed = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan, leaks="allow"))

    assert (shared.split, published.result["pairs"], allowed.result["pairs"]) == ("train", 13, 13)
    assert drawn.message.startswith(
        "1 of the 13 pairs of the split “test” share a sentence with the split “train”. Draw the splits again"
    )


def test_equal_cosines_are_undefined_and_said(encoder_folder) -> None:
    dataset = DatasetFactory(slug="same")
    pairs_with_gold_add(
        dataset, [("a dog", "a dog", 1.0), ("a cat", "a cat", 2.0), ("a bird", "a bird", 3.0)]
    )

    run = carried_out(queued("evaluate_encoder", dataset, encoder_folder, score_set="gold"))

    assert (run.result["spearman"], run.message) == (None, "Spearman undefined on 3 pairs")
    assert run.result["warnings"] == [
        "The encoder gives every pair the same cosine, so there is no correlation."
    ]
    assert run.evaluations.get(metric="spearman").value is None


def test_a_comparison_measures_the_base_and_every_weighting_and_seed(dataset, encoder_folder) -> None:
    plan = {**COMPARED, "weightings": "plain,realism", "controls": True, "seeds": 2}

    run = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan))

    found = run.result["encoders"]
    assert list(run.result["furthest"]) == list(found)
    assert {len(rows) for rows in run.result["furthest"].values()} == {12}
    spearman = run.evaluations.filter(metric="spearman")
    assert list(found) == ["base", "plain", "realism", "shuffle", "constant"]
    assert [(one.label, one.seed) for one in spearman.order_by("pk")] == [
        ("base", None), *[(label, seed) for label in list(found)[1:] for seed in (42, 43)]
    ]  # fmt: skip
    for label in list(found)[1:]:
        values = [one.value for one in spearman.filter(label=label)]
        assert found[label]["spearman"] == pytest.approx(np.mean(values))
        assert found[label]["sd"] == pytest.approx(np.std(values, ddof=1))
    from_plain, over = run.result["from_plain"], run.result["from_shuffle"]["realism"]
    assert list(from_plain) == ["base", "realism", "shuffle", "constant"]
    assert from_plain["realism"]["difference"] == pytest.approx(
        found["realism"]["spearman"] - found["plain"]["spearman"]
    )
    assert over["difference"] == pytest.approx(found["realism"]["spearman"] - found["shuffle"]["spearman"])
    assert over["difference_low"] <= over["difference"] <= over["difference_high"]
    assert 0 <= over["p"] <= over["p_holm"] <= 1
    assert (run.result["pairs"], run.result["training_pairs"], run.result["seeds"]) == (12, 24, [42, 43])
    assert run.message == "9 encoders evaluated on 12 test pairs"


@pytest.mark.exhaustive
def test_weightings_by_p_y_and_by_verdicts_are_compared_with_shuffles_of_their_own_and_need_no_p_d(
    dataset, encoder_folder
) -> None:
    generated = list(dataset.pairs.filter(origin="generated").order_by("pk"))
    p_y = ScoreSetFactory(dataset=dataset, name="p_y", kind="consistency", low=0.0, high=1.0)
    for number, pair in enumerate(generated):
        PairScore.objects.create(score_set=p_y, pair=pair, value=(number + 1) / 24)
    for pair in generated[:9]:
        review_decide(pair=pair, verdict="keep", client_id=uuid4(), by=UserFactory(), at=timezone.now())
    plan = {**COMPARED, "weightings": "plain,consistency,verdicts", "controls": True}
    plan |= {"realism": "", "consistency": "p_y", "unjudged_weight": 0.25, "seeds": 1}

    run = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan))

    shuffles = ["shuffle-consistency", "shuffle-verdicts"]
    assert list(run.result["encoders"]) == ["base", "plain", "consistency", "verdicts", *shuffles, "constant"]
    assert list(run.result["from_shuffle"]) == ["consistency", "verdicts"]
    effective, mean = run.result["effective_pairs"], run.result["mean_weight"]
    # Of 1/24 .. 24/24, by hand: Σw = 12.5 and Σw² = 4900/576.
    assert effective["consistency"] == pytest.approx(12.5**2 / (4900 / 576), abs=0.05)
    # 9 pairs of weight 1, 15 of ¼: (9 + 3.75)² / (9 + 15/16).
    assert effective["verdicts"] == pytest.approx(12.75**2 / (9 + 15 / 16), abs=0.05)
    assert mean["verdicts"] == pytest.approx(12.75 / 24)
    for shuffle in shuffles:
        assert effective[shuffle] == effective[shuffle.removeprefix("shuffle-")]


def test_each_encoder_of_a_comparison_is_an_artefact_with_its_evaluation(dataset, encoder_folder) -> None:
    run = carried_out(queued("compare_weightings", dataset, encoder_folder, **COMPARED))

    made = {artifact.card["label"]: artifact for artifact in run.artifacts.all()}
    assert list(made) == ["plain", "realism", "filter", "random"]
    assert made["filter"].card["training_pairs"] == 22
    for label, artifact in made.items():
        assert artifact.evaluations.get(metric="spearman").label == label
        SentenceTransformer(str(home_path(artifact.path)), device="cpu")
    assert not kept_folder(run.pk).exists()


@pytest.mark.exhaustive
def test_a_comparison_s_plain_encoder_is_that_of_a_training_of_its_own(dataset, encoder_folder) -> None:
    alone = trained(dataset, encoder_folder, snapshot=snapshot_create(dataset=dataset).number)

    run = carried_out(queued("compare_weightings", dataset, encoder_folder, **COMPARED, snapshot=1))

    weights = [
        content_of(home_path(one.path) / "model.safetensors")[0]
        for one in (alone.artifacts.get(), run.artifacts.get(card__label="plain"))
    ]
    assert weights[0] == weights[1]


@pytest.mark.exhaustive
def test_a_comparison_goes_on_where_its_worker_left_it(dataset, encoder_folder, monkeypatch) -> None:
    number = snapshot_create(dataset=dataset).number
    plan = {**COMPARED, "weightings": "plain,realism,random", "snapshot": number}
    whole = carried_out(queued("compare_weightings", dataset, encoder_folder, **plan))
    run = queued("compare_weightings", dataset, encoder_folder, **plan)
    fit, done = weightings.encoder_train, []

    def left_at_the_last(base, rows, plan, **about):
        if len(done) == 2:
            raise WorkerLeaves
        done.append(str(plan.weighting))
        return fit(base, rows, plan, **about)

    def going_on(base, rows, plan, **about):
        done.append(str(plan.weighting))
        return fit(base, rows, plan, **about)

    monkeypatch.setattr(weightings, "encoder_train", left_at_the_last)
    carried_out(run, state="running")
    monkeypatch.setattr(weightings, "encoder_train", going_on)
    carried_out(run)

    assert done == ["plain", "realism", "random"]
    assert run.result["encoders"] == whole.result["encoders"]
    sums = [list(one.artifacts.order_by("pk").values_list("sha256", flat=True)) for one in (whole, run)]
    assert sums[0] == sums[1]


def test_tests_of_another_dataset_are_neither_learned_nor_out_of_reach(dataset, encoder_folder) -> None:
    other = DatasetFactory(slug="others")
    generated = dataset.pairs.filter(origin="generated").first()
    pairs_with_gold_add(
        other,
        [(generated.a.text, "a mat", 1.0), ("a woman sings", "a child", 4.0), ("a cat", "the cat sits", 5.0)],
    )

    run = carried_out(
        queued(
            "compare_weightings",
            dataset,
            encoder_folder,
            **COMPARED,
            test_dataset="others",
            weightings="plain",
        )
    )

    assert (run.result["pairs"], run.result["training_pairs"], run.result["held_out_left_out"]) == (3, 23, 1)
    assert run.evaluations.first().suite == "others, gold, test"
    assert other.snapshots.count() == 1


def test_a_dataset_that_the_starter_may_not_read_is_not_measured_on(
    dataset, encoder_folder, settings
) -> None:
    settings.MODEL_ROOTS = [encoder_folder]
    other = DatasetFactory(slug="secret")
    pairs_with_gold_add(other, [("a", "b", 1.0), ("c", "d", 2.0), ("e", "f", 3.0)])
    member = MembershipFactory(dataset=dataset, role="owner", user=UserFactory(username="owner")).user
    run = queued("compare_weightings", dataset, encoder_folder, **COMPARED, test_dataset="secret")
    Run.objects.filter(pk=run.pk).update(started_by=member)

    carried_out(run, state="failed")
    run.refresh_from_db()

    assert run.message == "There is no dataset called “secret”; check its short name."
    assert not other.snapshots.exists()


@pytest.fixture
def several(encoder_folder) -> Run:
    """A comparison that made two encoders, of which the files of one are gone."""
    comparison = RunFactory(kind="compare_weightings", plan={})
    for name in ("plain-42", "realism-42"):
        ArtifactFactory(run=comparison, path=f"runs/{comparison.pk}/1/{name}")
    shutil.copytree(encoder_folder, run_folder(comparison.pk) / "1" / "plain-42")
    return comparison


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("", "Run {run} made 2 models; name one of them, such as run:{run}/plain-42; or give"),
        ("/random-42", "Run {run} made no encoder called “random-42”; or give"),
        (
            "/realism-42",
            "The files of the encoder “realism-42” of run {run} are missing; start the run again",
        ),
    ],
)
def test_an_encoder_of_a_comparison_is_named_by_its_own_name_and_must_be_there(
    dataset, several, part, sentence
) -> None:
    measure = partial(queued, "evaluate_encoder", dataset, score_set="gold", bootstrap=0)

    refused = carried_out(measure(model=f"run:{several.pk}{part}"), state="failed")

    assert refused.message.startswith(sentence.format(run=several.pk))
    carried_out(measure(model=f"run:{several.pk}/plain-42"))


def test_a_link_that_a_disk_does_not_know_becomes_a_copy(tmp_path, monkeypatch) -> None:
    def unknown(*_paths: object) -> None:
        raise OSError("links are not supported")

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "model.safetensors").write_bytes(b"weights")
    monkeypatch.setattr(encoder_data.os, "link", unknown)

    encoder_data.folder_linked(tmp_path / "a", tmp_path / "b")
    shutil.rmtree(tmp_path / "a")

    assert (tmp_path / "b" / "model.safetensors").read_bytes() == b"weights"
