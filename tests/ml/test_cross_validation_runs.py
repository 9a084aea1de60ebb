"""Cross-validation of a tiny encoder, from pairs to page."""

import csv
import io
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse
from scipy.stats import pearsonr, rankdata, spearmanr

from curation.models import PairScore
from mlworkers import tasks
from mlworkers.kinds.encoders import cross_validating
from mlworkers.kinds.encoders.cross_validation import cross_validation_stored
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.reporting import WorkerLeaves
from mlworkers.runs.storage import artifact_path
from mlworkers.science.encoders.saving import learned_save
from tests.factories import PairFactory, RunFactory, ScoreSetFactory, SentenceFactory, client_of
from tests.markup import squeezed
from tests.ml.encoder_data import scene
from tests.runs import run_execute

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenes(dataset):
    """Forty-eight pairs of two sources; every two have the same first sentence."""
    scores = ScoreSetFactory(
        dataset=dataset,
        name="gold",
        kind="human",
        parameters={"reliability": {"spearman_mean": 0.8}},
    )
    for number in range(48):
        if number % 2 == 0:
            first = SentenceFactory(dataset=dataset, text=f"{scene(number // 2)} number {number}")
        second = SentenceFactory(dataset=dataset, text=f"{scene(number // 2 + number % 5)} and {number}")
        pair = PairFactory(dataset=dataset, a=first, b=second, source="news" if number < 20 else "captions")
        PairScore.objects.create(score_set=scores, pair=pair, value=1 - (number % 5) / 5)
    return dataset


def plan_of(dataset, **given: object):
    values = {
        "dataset": dataset.slug,
        "score_set": "gold",
        "folds": 2,
        "bootstrap": 100,
        "device": "cpu",
        **given,
    }
    return plan_from(kind_named("cross_validate_encoder"), values)


def run_of(dataset, **given: object) -> Run:
    return RunFactory(
        kind="cross_validate_encoder", dataset=dataset, queue="gpu", plan=asdict(plan_of(dataset, **given))
    )


def carried_out(dataset, **given: object) -> Run:
    return run_execute(run_of(dataset, **given))


def page(user, name: str, run: Run, **asked: str):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]), asked)


def rows_of_folds(run: Run) -> list[dict[str, str]]:
    text = artifact_path(run.artifacts.get(kind="folds")).read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def test_every_method_is_measured_under_every_protocol(curator, scenes, encoder_folder) -> None:
    training = {"epochs": "1,2", "batch_size": 8, "learning_rate": 0.001, "inner_share": 0.2}

    run = carried_out(
        scenes, model=str(encoder_folder), methods="dice,static,mean,max,cls,fine-tuned", **training
    )

    assert run.state == "succeeded", run.message
    shown = squeezed(page(curator, "cross_validation", run).text)
    by_name = {one["protocol"]: one for one in run.result["protocols"]}
    assert list(by_name) == ["random", "components", "sources"]
    assert [len(one["methods"]) for one in by_name.values()] == [6, 6, 6]
    assert by_name["random"]["leakage"] > 0
    assert by_name["components"]["leakage"] == 0
    assert [one["fold"] for one in by_name["sources"]["folds"]] == ["captions", "news"]
    assert len(run.result["trainings"]) == 2 + 2 + 2
    # Nothing leaks between component folds, so that their figures are given once.
    assert by_name["random"]["methods"][0]["unseen"]["pooled"]["pairs"] < 48
    assert by_name["components"]["methods"][0]["unseen"] is None
    assert run.result["cite"] == {"protocol": "components", "part": "all pairs"}
    assert "Cite the means on component folds." in shown
    assert "component folds, unseen" not in shown
    assert "They do not say how another seed of training would have done." in shown
    assert {one["epochs"] for one in run.result["trainings"]} <= {1, 2}
    assert [(one["source"], one["pairs"]) for one in run.result["sources"]] == [
        ("captions", 28),
        ("news", 20),
    ]
    assert "Human ceiling: 0.943" in shown, "the root of 2 · .8 / 1.8"
    assert "model, fine-tuned" in shown
    assert "Pearson with the scores, mean over folds" in shown


def test_the_file_of_folds_repeats_the_figures(scenes) -> None:
    run = carried_out(scenes, methods="dice", protocols="components,random")

    rows = rows_of_folds(run)
    stored = run.result["protocols"][0]["methods"][0]["by_fold"]["1"]["value"]
    first = [row for row in rows if row["fold_components"] == "1"]

    assert len(rows) == 48
    assert stored == pytest.approx(
        spearmanr([float(row["dice"]) for row in first], [float(row["score"]) for row in first]).statistic
    )
    assert {row["shares_a_sentence_components"] for row in rows} == {"0"}
    assert {row["source"] for row in rows} == {"news", "captions"}


def test_a_run_whose_worker_leaves_trains_no_fold_again(scenes, encoder_folder, monkeypatch) -> None:
    given = {"model": str(encoder_folder), "methods": "fine-tuned", "protocols": "random", "epochs": "1"}
    run = run_of(scenes, **given, batch_size=8, seeds=2, seed=5)
    train, trained, seeds = cross_validating.encoder_train, [], []

    def leaves_at_the_second(*args, **about):
        trained.append(about["checkpoints"].parent.name)
        seeds.append(args[2].seed)
        if len(trained) == 2:
            raise WorkerLeaves
        return train(*args, **about)

    monkeypatch.setattr(cross_validating, "encoder_train", leaves_at_the_second)
    tasks.execute(run.pk)
    run_execute(run)

    assert (run.state, run.attempt) == ("succeeded", 2), run.message
    assert trained == ["00000", "00001", "00001", "00002", "00003"]
    assert seeds == [5, 6, 6, 5, 6]


def column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


@pytest.mark.exhaustive
def test_with_several_seeds_figures_are_means_with_the_spread_of_the_seeds(
    curator, scenes, encoder_folder
) -> None:
    training = {"epochs": "1", "batch_size": 8, "learning_rate": 0.01, "protocols": "components"}
    run = carried_out(
        scenes, model=str(encoder_folder), methods="dice,fine-tuned", seeds=2, seed=5, **training
    )

    assert run.state == "succeeded", run.message
    rows, scores = rows_of_folds(run), column(rows_of_folds(run), "score")
    by_hand = [spearmanr(column(rows, f"fine-tuned_components_{seed}"), scores).statistic for seed in (5, 6)]
    dice, tuned = run.result["protocols"][0]["methods"]
    assert tuned["pooled"]["value"] == pytest.approx(np.mean(by_hand))
    assert tuned["pooled"]["sd"] == pytest.approx(np.std(by_hand, ddof=1))
    assert tuned["mean"]["low"] < tuned["mean"]["value"] < tuned["mean"]["high"]
    assert dice["mean"]["sd"] is None
    assert [(one["fold"], one["seed"]) for one in run.result["trainings"]] == [
        ("1", 5), ("1", 6), ("2", 5), ("2", 6)
    ]  # fmt: skip
    assert by_hand[0] != by_hand[1]
    shown = squeezed(page(curator, "cross_validation", run).text)
    assert "Figures of what was trained are means over 2 seeds" in shown
    assert "They do not say how another seed" not in shown
    csv_rows = list(csv.DictReader(io.StringIO(page(curator, "cross_validation_csv", run).text)))
    assert {(row["method"], row["seeds"]) for row in csv_rows} == {("dice", ""), ("fine-tuned", "2")}


@pytest.fixture
def knowing(scenes, encoder_folder, tmp_path) -> Path:
    """An encoder that was trained on two sentences, each the first of two pairs."""
    folder = tmp_path / "knowing"
    shutil.copytree(encoder_folder, folder)
    pairs = scenes.pairs.order_by("pk")
    learned_save(folder, [pairs[0].a.text, pairs[30].a.text])
    return folder


def test_all_pairs_stand_beside_those_that_the_model_has_not_seen(curator, scenes, knowing) -> None:
    run = carried_out(scenes, model=str(knowing), methods="dice,mean", protocols="random,components")

    assert run.state == "succeeded", run.message
    assert (run.result["pairs"], run.result["seen_before"]) == (48, 4)
    assert run.result["cite"] == {"protocol": "components", "part": "unseen pairs"}
    rows = rows_of_folds(run)
    unseen = [row for row in rows if row["seen_before"] == "0"]
    assert len(unseen) == 44
    for protocol in run.result["protocols"]:
        assert protocol["unseen_pairs"] == 44
        figures = protocol["methods"][1]
        for part, of in ((rows, figures), (unseen, figures["unseen"])):
            pooled = spearmanr(column(part, "mean"), column(part, "score")).statistic
            of_folds = [
                spearmanr(column(each, "mean"), column(each, "score")).statistic
                for each in (
                    [row for row in part if row[f"fold_{protocol['protocol']}"] == fold] for fold in "12"
                )
            ]
            assert (of["pooled"]["pairs"], of["pooled"]["value"]) == (len(part), pytest.approx(pooled))
            assert of["mean"]["value"] == pytest.approx(np.mean(of_folds))
            assert of["mean"]["low"] < of["mean"]["value"] < of["mean"]["high"]
    shown = squeezed(page(curator, "cross_validation", run).text)
    assert "component folds, unseen" in shown
    assert "Cite the means on component folds over the 44 unseen pairs" in shown
    assert "4 of the 48 pairs hold a sentence that the model was trained on before this run." in shown
    assert "Best on the unseen pairs of component folds" in run.message
    csv_rows = list(csv.DictReader(io.StringIO(page(curator, "cross_validation_csv", run).text)))
    cited = [row for row in csv_rows if row["cite"] == "yes"]
    assert {(row["protocol"], row["part"]) for row in cited} == {("components", "unseen pairs")}
    assert [row["pairs"] for row in cited if row["figure"] == "mean over folds"] == ["44", "44"]


def test_pairs_that_were_seen_are_trained_on_and_tested_with_the_others(scenes, knowing) -> None:
    training = {"epochs": "1", "batch_size": 8, "protocols": "components"}

    run = carried_out(scenes, model=str(knowing), methods="fine-tuned", **training)

    assert run.state == "succeeded", run.message
    assert sum(one["training_pairs"] for one in run.result["trainings"]) == 48
    assert run.result["protocols"][0]["unseen_pairs"] == 44


def test_a_model_that_has_seen_every_pair_leaves_no_figure_to_cite(
    curator, scenes, encoder_folder, tmp_path
) -> None:
    folder = tmp_path / "knows-all"
    shutil.copytree(encoder_folder, folder)
    learned_save(folder, [pair.a.text for pair in scenes.pairs.select_related("a")])

    run = carried_out(scenes, model=str(folder), methods="mean", protocols="components")

    assert run.state == "succeeded", run.message
    figures = run.result["protocols"][0]["methods"][0]
    assert (figures["unseen"]["pooled"]["pairs"], figures["unseen"]["pooled"]["value"]) == (0, None)
    assert figures["mean"]["value"] is not None
    shown = squeezed(page(curator, "cross_validation", run).text)
    assert "Only 0 of the 48 pairs hold no sentence that was trained on" in shown
    assert "If you cite the means on all pairs, say that the model had seen the others." in shown


def test_a_split_that_leaks_from_another_split_of_the_dataset_is_refused(
    scenes, encoder_folder, tmp_path
) -> None:
    scenes.pairs.update(split="test")
    shared = scenes.pairs.order_by("pk")[0].a
    PairFactory(dataset=scenes, split="train", a=shared, b__text="something else")
    folder = tmp_path / "other-split"
    shutil.copytree(encoder_folder, folder)
    learned_save(folder, [shared.text])
    told = json.loads((folder / "semblance.json").read_text())
    (folder / "semblance.json").write_text(
        json.dumps({**told, "trained_on_splits": [[scenes.slug, "train"]]})
    )
    given = {"model": str(folder), "methods": "mean", "protocols": "components", "split": "test"}

    refused, allowed = carried_out(scenes, **given), carried_out(scenes, **given, leaks="allow")

    assert refused.state == "failed"
    assert refused.message.startswith("2 of the 48 pairs of the split “test” hold a sentence")
    assert (allowed.state, allowed.result["seen_before"]) == ("succeeded", 2)


def test_static_vectors_come_from_a_file(scenes, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    known = enumerate(["dog", "cat", "bird", "man", "runs", "sits"])
    path.write_text("".join(f"{word} {n} {n * n % 7} 1\n" for n, word in known))

    run = carried_out(scenes, methods="static", vectors=str(path), protocols="random")

    assert run.state == "succeeded", run.message
    assert run.result["protocols"][0]["methods"][0]["pooled"]["value"] is not None


def test_one_source_leaves_out_the_protocol_with_a_note(curator, scenes) -> None:
    scenes.pairs.update(source="news")

    run = carried_out(scenes, methods="dice")

    assert [one["protocol"] for one in run.result["protocols"]] == ["random", "components"]
    assert "The protocol sources was left out. All 48 pairs have one source" in squeezed(
        page(curator, "cross_validation", run).text
    )


def test_a_source_with_too_few_pairs_alone_is_left_out_and_said(curator, scenes, encoder_folder) -> None:
    scenes.pairs.filter(pk__in=scenes.pairs.order_by("pk")[:3]).update(source="odd")
    given = {"methods": "dice,fine-tuned", "protocols": "sources", "epochs": "1", "batch_size": 8}

    run = carried_out(scenes, model=str(encoder_folder), **given)

    assert run.state == "succeeded", run.message
    (stored,) = run.result["protocols"]
    assert [(one["fold"], one["pairs"]) for one in stored["folds"]] == [("captions", 28), ("news", 17)]
    assert (stored["pairs"], run.result["pairs"]) == (45, 48)
    assert [one["training_pairs"] for one in run.result["trainings"]] == [20, 31]
    shown = squeezed(page(curator, "cross_validation", run).text)
    assert "The source “odd” has 3 pairs, and a fold needs 10" in shown
    cells = {row["source"]: (row["fold_sources"], row["fine-tuned_sources"]) for row in rows_of_folds(run)}
    assert cells["odd"] == ("", "")


def test_a_cross_validation_leads_to_the_pairs_on_which_each_method_is_furthest_from_people(
    curator, scenes
) -> None:
    run = carried_out(scenes, methods="dice", protocols="components")

    rows = rows_of_folds(run)
    human, machine = (rankdata([float(row[name]) for row in rows]) for name in ("score", "dice"))
    by_hand = sorted(np.abs(machine - human) / 48, reverse=True)
    kept = run.result["furthest"]["dice"]
    assert [abs(row[3]) for row in kept] == pytest.approx(by_hand)
    shown = page(curator, "cross_validation", run, tab="errors")
    assert [one.pair.pk for one in shown.context["furthest"].pairs] == [row[0] for row in kept]
    assert f'href="/datasets/{scenes.slug}/pairs/{kept[0][0]}/"' in shown.text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"methods": "dice,bert"}, "give names from dice, static"),
        ({"methods": "mean"}, "The method “mean” needs a model"),
        ({"methods": "static"}, "The method “static” needs a model"),
        ({"methods": "dice", "protocols": "loo"}, "give names from random, components, sources"),
        ({"methods": "dice", "epochs": "2,x"}, "whole numbers from 1 to 100"),
        ({"methods": "dice", "bootstrap": 10}, "10 resamples are too few"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(dataset, given, says) -> None:
    with pytest.raises(ValueError, match=says):
        plan_of(dataset, **given)


def test_folds_that_would_be_too_small_are_said(scenes) -> None:
    run = carried_out(scenes, methods="dice", folds=8)

    assert run.state == "failed"
    assert "would have 6 pairs, and each needs 10. Choose fewer folds" in run.message


@pytest.mark.parametrize("name", ["cross_validation", "cross_validation_csv"])
@pytest.mark.parametrize(("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200)])
def test_who_sees_a_cross_validation(request, dataset, name, person, status) -> None:
    run = RunFactory(kind="cross_validate_encoder", dataset=dataset, plan={"dataset": dataset.slug})

    assert page(request.getfixturevalue(person), name, run).status_code == status


def test_the_csv_has_a_row_for_each_figure(curator, scenes) -> None:
    run = carried_out(scenes, methods="dice", protocols="random,sources")

    rows = list(csv.DictReader(io.StringIO(page(curator, "cross_validation_csv", run).text)))

    assert len(rows) == 2 * (2 + 2 + 2)
    assert {row["part"] for row in rows} == {"all pairs"}  # nothing is trained, so that nothing is seen
    assert {row["figure"] for row in rows} == {"mean over folds", "all folds at once", "fold", "source"}
    assert {row["protocol"] for row in rows if row["cite"] == "yes"} == {"sources"}
    means = [row for row in rows if row["pearson"]]
    assert {row["figure"] for row in means} == {"mean over folds"}
    [of_topics] = [row for row in means if row["protocol"] == "sources"]
    folds = rows_of_folds(run)
    by_topic = [
        pearsonr([float(row["dice"]) for row in own], [float(row["score"]) for row in own]).statistic
        for topic in ("captions", "news")
        if (own := [row for row in folds if row["source"] == topic])
    ]
    assert float(of_topics["pearson"]) == pytest.approx(np.mean(by_topic))


def test_a_source_has_what_was_trained_under_each_protocol_and_the_other_methods_once(
    scenes, encoder_folder
) -> None:
    training = {"epochs": "1", "batch_size": 8, "protocols": "random,components"}
    run = carried_out(scenes, model=str(encoder_folder), methods="dice,fine-tuned", **training)

    found = cross_validation_stored(run.result)

    assert [label for label, _figure in found.sources[0].labelled] == [
        "Dice",
        "fine-tuned, random folds",
        "fine-tuned, component folds",
    ]
    stored = run.result["protocols"][1]["methods"][1]["by_source"]["news"]["value"]
    assert [row.labelled[2][1].value for row in found.sources if row.source == "news"] == [stored]
