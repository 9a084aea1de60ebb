"""Runs on published test suites, and comparisons over source datasets, weightings and suites, on a tiny model."""

import csv
import io
import json
from dataclasses import asdict

import pytest
from django.urls import reverse

from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.comparisons.estimates import weightings_in_words
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.runs.cards import card_of
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import kept_folder
from tests.factories import RunFactory, UserFactory
from tests.ml.encoder_data import dataset_with_pairs, scene
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
SHORT = {"epochs": 1, "batch_size": 8, "learning_rate": 0.001, "device": "cpu"}
SETS = {"scores": "run 7: target", "realism": "run 7: p_D"}
COMPARED = {**SETS, **SHORT, "test_score_set": "gold", "bootstrap": 100, "seeds": 2, "controls": False}
STSB = "main-{genre}\tf\t2012\t{n}\t{score}\t{first}\ta cat sits in the tree\n"


@pytest.fixture
def suites(home, settings):
    """Files of the STS benchmark and of SNLI, as their publishers lay them out."""
    folder = home / "suites"
    settings.SUITES_FOLDER = folder
    (folder / "stsb").mkdir(parents=True)
    rows = (
        STSB.format(genre=("news", "captions")[n % 2], n=n, score=n / 2, first=scene(n)) for n in range(10)
    )
    (folder / "stsb" / "sts-test.csv").write_text("".join(rows))
    (folder / "snli").mkdir()
    for part in ("dev", "test"):
        text = "".join(f"a man plays {part} {n}\ta woman plays {n * 7 % 5}\t{n % 3}\n" for n in range(9))
        (folder / "snli" / f"snli-{part}.tsv").write_text(text)
    return folder


def carried_out(kind: str, dataset, model, **settings) -> Run:
    return run_execute(run_plan(kind, dataset, {"dataset": dataset.slug, "model": str(model), **settings}))


def test_an_encoder_is_evaluated_on_suites_beside_its_dataset(suites, encoder_folder) -> None:
    dataset = dataset_with_pairs()

    run = carried_out(
        "evaluate_encoder",
        dataset,
        encoder_folder,
        score_set="gold",
        suites="stsb, snli",
        bootstrap=100,
        device="cpu",
    )

    assert run.state == "succeeded", run.message
    assert "; STS benchmark: Spearman" in run.message
    parts = set(run.evaluations.filter(suite="stsb").values_list("part", flat=True))
    assert parts == {"", "main-news", "main-captions", "mean of sources"}
    f1 = run.evaluations.get(suite="snli", metric="f1", part="")
    assert (f1.n, f1.low <= f1.value <= f1.high) == (9, True)
    assert [one["file"] for one in run.result["files"]] == ["sts-test.csv", "snli-test.tsv", "snli-dev.tsv"]
    assert set(run.result["thresholds"]) == {"snli, accuracy", "snli, f1"}


@pytest.mark.parametrize("kind", ["evaluate_encoder", "compare_weightings"])
def test_a_worker_with_other_files_than_the_run_began_with_is_refused(
    suites, encoder_folder, kind: str
) -> None:
    dataset = dataset_with_pairs()
    about = {"dataset": dataset.slug, "model": str(encoder_folder), "suites": "stsb", "device": "cpu"}
    about |= COMPARED if kind == "compare_weightings" else {}
    run = RunFactory(kind=kind, dataset=dataset, queue="gpu", plan=asdict(plan_from(kind_named(kind), about)))
    began_with = {"files": [{"suite": "stsb", "file": "sts-test.csv", "sha256": "of another file"}]}
    kept_folder(run.pk).mkdir(parents=True)
    (kept_folder(run.pk) / "suites.json").write_text(json.dumps(began_with))

    run_execute(run)

    assert run.state == "failed"
    assert "sts-test.csv is another file here than the one with which the run began" in run.message
    assert not run.evaluations.exists()


def test_suites_alone_need_no_scores_of_the_dataset(suites, encoder_folder) -> None:
    dataset = dataset_with_pairs()

    run = carried_out("evaluate_encoder", dataset, encoder_folder, suites="stsb", bootstrap=100, device="cpu")

    assert run.state == "succeeded", run.message
    assert run.message.startswith("STS benchmark: Spearman")
    assert set(run.evaluations.values_list("suite", flat=True)) == {"stsb"}
    assert not dataset.snapshots.exists()


def test_an_evaluation_on_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="there is nothing to evaluate on"):
        run_start(kind="evaluate_encoder", plan={"dataset": dataset_with_pairs().slug, "model": "x"}, by=None)


def test_scores_of_known_reliability_have_a_ceiling(encoder_folder) -> None:
    dataset = dataset_with_pairs()
    dataset.score_sets.filter(name="gold").update(
        kind="human",
        parameters={"reliability": {"spearman_mean": 0.5, "spearman_low": 0.4, "spearman_high": 0.6}},
    )

    run = carried_out(
        "evaluate_encoder", dataset, encoder_folder, score_set="gold", bootstrap=0, device="cpu"
    )

    assert run.result["ceiling"] == pytest.approx((2 / 3) ** 0.5)


def test_a_suite_without_a_readable_file_fails_with_one_sentence(suites, encoder_folder) -> None:
    (suites / "stsb" / "sts-test.csv").write_text("nothing\n")

    run = carried_out(
        "evaluate_encoder",
        dataset_with_pairs(),
        encoder_folder,
        score_set="gold",
        suites="stsb",
        device="cpu",
    )

    assert run.state == "failed"
    assert "STS benchmark: sts-test.csv is not laid out as expected" in run.message


@pytest.fixture
def table_run(suites, encoder_folder) -> Run:
    """Two source datasets, two weightings, two seeds, two suites and two baseline rows."""
    dataset = dataset_with_pairs()
    dataset_with_pairs(slug="other")
    run = carried_out(
        "compare_weightings",
        dataset,
        encoder_folder,
        **COMPARED,
        weightings="plain,realism",
        suites="stsb,snli",
        sources="other | run 7: target | run 7: p_D",
        in_domain="scenes=stsb",
        baselines="static, cls",
        validation_share=0.3,
    )
    assert run.state == "succeeded", run.message
    return run


def test_a_comparison_over_sources_and_suites_is_a_table(table_run, client) -> None:
    entries = {(one["source"], one["suite"], one["metric"]): one for one in table_run.result["table"]}

    assert set(entries) == {
        (source, suite, metric)
        for source in ("scenes", "other")
        for suite, metric in (
            ("", "spearman"),
            ("", "pearson"),
            ("stsb", "spearman"),
            ("stsb", "pearson"),
            ("snli", "accuracy"),
            ("snli", "f1"),
        )
    }
    of_stsb = entries["scenes", "stsb", "spearman"]
    assert set(of_stsb["encoders"]) == {"base", "base, static", "base, cls", "plain", "realism"}
    assert set(of_stsb["from_plain"]) == {"base", "realism"}
    assert [entries[source, "stsb", "spearman"]["in_domain"] for source in ("scenes", "other")] == [
        True,
        False,
    ]
    assert entries["scenes", "", "spearman"]["in_domain"]
    assert table_run.artifacts.filter(kind="encoder").count() == 8

    client.force_login(UserFactory(is_staff=True))
    page = client.get(reverse("mlworkers:comparison", args=[table_run.pk])).text
    encoders = client.get(reverse("mlworkers:comparison", args=[table_run.pk]), {"tab": "models"}).text
    names = [card_of(artifact).name for artifact in table_run.artifacts.all()]
    assert len(set(names)) == 8
    assert all(name in encoders for name in names)
    assert f"other: realism, seed 42, run {table_run.pk}" in names
    assert "Sources and suites" in page
    assert "Out of domain" in page
    assert "synthetic dev set" in page
    assert "p is adjusted for the 24 differences on this page" in " ".join(page.split())

    answer = client.get(reverse("mlworkers:comparison_suites_csv", args=[table_run.pk]))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    # Three rows that are not trained, and two weightings of two sources, each on six columns.
    assert len(rows) == (3 + 2 * 2) * 6
    found = next(row for row in rows if (row["source"], row["encoder"], row["suite"], row["metric"]) == (
        "other", "realism", "stsb", "spearman"
    ))  # fmt: skip
    assert found["domain"] == "out"
    assert float(found["mean"]) == pytest.approx(
        entries["other", "stsb", "spearman"]["encoders"]["realism"]["value"]
    )


@pytest.mark.exhaustive
def test_p_values_consider_every_difference_of_the_table(table_run) -> None:
    tested = [
        one
        for entry in table_run.result["table"]
        for part in ("from_plain", "from_shuffle")
        for one in entry[part].values()
        if one["p"] is not None
    ]

    smallest = min(tested, key=lambda one: one["p"])
    assert len(tested) == 2 * 6 * 2
    assert smallest["p_holm"] == pytest.approx(min(1, smallest["p"] * len(tested)))


def test_no_sentence_of_a_suite_is_trained_on(suites, encoder_folder) -> None:
    dataset = dataset_with_pairs()
    trained = dataset.pairs.filter(origin="generated").first()
    rows = [STSB.format(genre="news", n=n, score=n / 2, first=f"is {scene(n)}") for n in range(4)]
    rows.append(f"main-news\tf\t2012\t9\t3\t{trained.a.text}\tsomething\n")
    (suites / "stsb" / "sts-test.csv").write_text("".join(rows))

    run = carried_out(
        "compare_weightings", dataset, encoder_folder, **COMPARED, weightings="plain", suites="stsb"
    )

    assert run.state == "succeeded", run.message
    assert run.result["held_out_left_out"] == 1
    assert run.result["training_pairs"] == 23


def test_the_number_of_trainings_is_said_before_the_start() -> None:
    plan = plan_from(
        kind_named("compare_weightings"),
        {
            **COMPARED,
            "dataset": "scenes",
            "model": "packaged:all-MiniLM-L6-v2",
            "sources": "other | a | b",
            "suites": "stsb",
            "seeds": 5,
            "controls": True,
        },
    )

    # Two sources, the four weightings of the default with three controls, five seeds.
    assert weightings_in_words(plan, Dataset()).startswith(
        "70 trainings (source datasets: 2, weightings with controls: 7, seeds: 5)"
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"sources": "other"}, "Row 1 of “sources” has no “Training scores”; give dataset"),
        ({"sources": "scenes | a | b"}, "names a dataset twice"),
        ({"sources": "other | a"}, "needs p_D; row 1 of “sources” names none for “other”"),
        (
            {"in_domain": "scenes=stsb"},
            "Row 1 of “in_domain” has “stsb” as “Suite”, which this comparison does not name",
        ),
        ({"suites": "stsb, stsb"}, "“stsb” is named twice"),
        ({"suites": "sick-e"}, "SICK-E needs a trained probe"),
    ],
)
def test_settings_that_make_no_table_are_refused(given, reason) -> None:
    values = {**COMPARED, "dataset": "scenes", "model": "packaged:all-MiniLM-L6-v2", **given}

    with pytest.raises(ValueError, match=reason):
        plan_from(kind_named("compare_weightings"), values)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"suites": "paws"}, "There are no files of PAWS; ask the administrator of the site"),
        ({"suites": "nothing"}, "There is no suite “nothing”"),
        ({"sources": "none | a | b"}, "Row 1: There is no dataset called “none”"),
        ({"sources": "other | a | b"}, "Row 1: the dataset “other” has no score set “a” of the kind"),
        (
            {"baselines": "/etc"},
            "“/etc” is not a baseline row; give static, cls and mean, run:ID or packaged:NAME",
        ),
    ],
)
def test_names_that_lead_nowhere_are_refused_before_the_start(suites, given, reason) -> None:
    dataset = dataset_with_pairs()
    dataset_with_pairs(slug="other")
    plan = {**COMPARED, "dataset": "scenes", "model": "packaged:all-MiniLM-L6-v2", **given}

    with pytest.raises(UserError, match=reason):
        run_start(kind="compare_weightings", plan=plan, by=UserFactory(is_staff=True), dataset=dataset)


def test_unseen_pairs_of_a_suite_stand_beside_all_of_them(suites, encoder_folder) -> None:
    dataset = dataset_with_pairs()
    training = carried_out("train_encoder", dataset, encoder_folder, **SETS, **SHORT)
    rows = [STSB.format(genre="news", n=n, score=n / 2, first=f"is {scene(n)}") for n in range(9)]
    rows.append("main-news\tf\t2012\t9\t3\tThe dog runs on the grass with a ball 0.\tsomething\n")
    (suites / "stsb" / "sts-test.csv").write_text("".join(rows))

    run = carried_out(
        "evaluate_encoder", dataset, f"run:{training.pk}", suites="stsb", bootstrap=100, device="cpu"
    )

    assert run.state == "succeeded", run.message
    found = {one.part: one for one in run.evaluations.filter(suite="stsb", metric="spearman")}
    assert {part: one.n for part, one in found.items()} == {"": 10, "unseen pairs": 9}
    assert found["unseen pairs"].low <= found["unseen pairs"].value <= found["unseen pairs"].high
    assert run.result["suites"]["stsb, unseen pairs, spearman"]["n"] == 9
    assert run.result["warnings"][-1].startswith("STS benchmark: 1 test pairs hold a sentence")
