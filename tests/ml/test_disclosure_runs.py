"""What is trained on paraphrases that a labeller of a benchmark chose carries the benchmark, and its figures say so."""

import shutil

import pytest

from curation.models import PairScore
from mlworkers.models import Run
from mlworkers.pipelines.disclosure import disclosure
from mlworkers.runs.storage import home_path
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save
from tests.factories import ScoreSetFactory
from tests.ml.encoder_data import dataset_with_pairs
from tests.ml.nli_data import nli_dataset
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
SHORT = {"batch_size": 8, "learning_rate": 0.001, "device": "cpu"}
LABELS = {"similarity": "similarity", "bleu": "BLEU"}


def ran(kind: str, dataset, **given) -> Run:
    return run_execute(run_plan(kind, dataset, {"dataset": dataset.slug, **given}), "succeeded")


def chosen_by_sts_b(slug: str):
    """A dataset whose tagged paraphrases have labels of a labeller that learned from STS-B."""
    dataset = nli_dataset(slug=slug, judged=20)
    for name, value in (("similarity", 97.0), ("BLEU", 5.0)):
        scores = ScoreSetFactory(
            dataset=dataset, name=name, kind="model", low=0.0, high=100.0, parameters={"labels_from": "STS-B"}
        )
        for pair in dataset.pairs.filter(subset="tagged"):
            PairScore.objects.create(score_set=scores, pair=pair, value=value)
    return dataset


def test_an_encoder_of_such_paraphrases_says_so_and_is_marked_where_it_is_evaluated_on_the_benchmark(
    encoder_folder,
) -> None:
    dataset, sts = chosen_by_sts_b("nli"), nli_dataset(slug="stsb-own", premises=1)
    encoder = ran(
        "train_contrastive", dataset, model=str(encoder_folder), paraphrases="SIM95", **LABELS, **SHORT
    )
    plain = ran("train_contrastive", dataset, model=str(encoder_folder), **SHORT)
    of_both = {
        name: ran(
            "evaluate_encoder", sts, model=f"run:{run.pk}", score_set="test gold", device="cpu", bootstrap=0
        )
        for name, run in (("chosen", encoder), ("plain", plain))
    }
    elsewhere = ran(
        "evaluate_encoder",
        dataset,
        model=f"run:{encoder.pk}",
        score_set="test gold",
        device="cpu",
        bootstrap=0,
    )

    artifact = encoder.artifacts.get()
    assert artifact.card["labels_from"] == benchmark_behind(home_path(artifact.path)) == "STS-B"
    assert "labels_from" not in plain.artifacts.get().card
    assert of_both["chosen"].result["labels_from"] == "STS-B"
    [warning] = [one for one in of_both["chosen"].result["warnings"] if "chosen by a scorer" in one]
    assert warning.startswith(
        "stsb-own, test gold, test: training examples were chosen by a scorer that learned"
    )
    for other in (of_both["plain"], elsewhere):
        assert "labels_from" not in other.result
        assert not any("chosen by a scorer" in one for one in other.result["warnings"])


def test_what_is_trained_further_from_such_an_encoder_is_marked_too(encoder_folder) -> None:
    dataset = chosen_by_sts_b("nli")
    first = ran(
        "train_contrastive", dataset, model=str(encoder_folder), paraphrases="SIM95", **LABELS, **SHORT
    )

    second = ran("train_contrastive", dataset, model=f"run:{first.pk}", **SHORT)

    assert second.artifacts.get().card["labels_from"] == "STS-B"


@pytest.mark.exhaustive
def test_comparisons_on_the_benchmark_are_marked(encoder_folder) -> None:
    dataset = chosen_by_sts_b("stsb")
    gold = dataset.score_sets.get(name="test gold")
    for number, pair in enumerate(dataset.pairs.filter(split="dev")):
        PairScore.objects.create(score_set=gold, pair=pair, value=number % 6)
    compared = {
        "model": str(encoder_folder),
        "variants": "SIM95",
        "seeds": 1,
        "bootstrap": 0,
        **LABELS,
        **SHORT,
    }

    paraphrases = ran("compare_augmentations", dataset, test_score_set="test gold", **compared)
    tuned = ran(
        "compare_pre_fine_tuning", dataset, tasks="stsb | test gold", train_split="dev", dev_split="none", epochs=1,
        pre_epochs=1, dev_share=0.4, **compared,
    )  # fmt: skip

    for run in (paraphrases, tuned):
        assert any("chosen by a scorer that learned from STS-B" in one for one in run.result["warnings"])


def test_weightings_searches_and_folds_from_such_an_encoder_are_marked_on_the_benchmark(
    tmp_path, encoder_folder
) -> None:
    base = tmp_path / "encoder"
    shutil.copytree(encoder_folder, base)
    benchmark_save(base, "STS-B")
    dataset = dataset_with_pairs(generated=12, tested=24)
    dataset.slug = "stsb"
    dataset.save()
    shared = {"model": str(base), "seeds": 1, "bootstrap": 0, "device": "cpu"}
    targets = dataset.score_sets.get(kind="target").name
    training = {**shared, "scores": targets, "test_score_set": "gold"}
    once = {"epochs": "1", "learning_rates": "0.001", "batch_sizes": "8", "temperatures": "fitted"}

    compared = ran("compare_weightings", dataset, **training, weightings="plain", epochs=1, batch_size=8)
    searched = ran("search_settings", dataset, **training, **once, weighting="plain", dev_share=0.3)
    folds = ran(
        "cross_validate_encoder",
        dataset,
        **shared,
        score_set="gold",
        methods="mean",
        folds=2,
        protocols="random",
    )

    for run in (compared, searched, folds):
        [mark] = [one for one in run.result["warnings"] if "chosen by a scorer" in one]
        assert mark.startswith("stsb, gold, ")
    for run in (compared, searched):
        for artifact in run.artifacts.filter(kind="encoder"):
            assert artifact.card["labels_from"] == benchmark_behind(home_path(artifact.path)) == "STS-B"


@pytest.mark.parametrize(
    ("benchmark", "names", "marked"),
    [
        ("STS-B", ["stsb", "STS benchmark"], "STS-B"),
        ("STS-B", ["sts13", "STS13"], "STS-B"),
        ("STS13", ["stsb"], "STS13"),
        ("STS13", ["sts14"], ""),
        ("STS-B", ["sick-r", "SICK-R"], ""),
        ("SICK", ["sick-r", "SICK-R"], "SICK"),
        ("SICK", ["stsb"], ""),
        ("SICK, STS-B", ["sts-b"], "STS-B"),
        ("SICK, STS-B", ["both", "sick", "stsb"], "SICK, STS-B"),
        ("STR-2022", ["str-2022"], "STR-2022"),
        ("", ["stsb"], ""),
    ],
)
def test_a_figure_is_marked_where_the_benchmark_chose_and_tests(benchmark, names, marked) -> None:
    found = disclosure(benchmark, {"a test": names})

    assert found.benchmarks == marked
    assert len(found.notes) == len(found.result.get("labels_from", "").split(", ")) * bool(marked)
