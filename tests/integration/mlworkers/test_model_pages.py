"""The pages of models and comparisons: who sees what, what they hold, what can be taken home."""

import csv
import hashlib
import html
import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import strip_tags

from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.runs.storage import content_of, home_relative, run_folder
from mlworkers.templatetags.runs import plan_rows
from tests.factories import (
    ArtifactFactory,
    DatasetFactory,
    EvaluationFactory,
    MembershipFactory,
    PairFactory,
    RunFactory,
    ScoreSetFactory,
    UserFactory,
    client_of,
)

pytestmark = pytest.mark.django_db
WEIGHTINGS = ("plain", "filter", "random", "realism")
READERS = [("stranger", 404), ("annotator", 403), ("curator", 200), ("owner", 200), ("staff", 200)]


def page(user, name: str, *args: object, **query: object):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=args), query)


def questions(client, user, name: str, *args: object) -> int:
    client.force_login(user)
    with CaptureQueriesContext(connection) as asked:
        client.get(reverse(f"mlworkers:{name}", args=args))
    return len(asked)


@pytest.fixture
def training(dataset) -> Run:
    plan = {"dataset": dataset.slug, "model": "packaged:all-MiniLM-L6-v2", "weighting": "realism", "seed": 13}
    return RunFactory(kind="train_encoder", dataset=dataset, plan=plan, state="succeeded")


@pytest.fixture
def encoder(training) -> Artifact:
    """An encoder with files, as a run leaves it."""
    folder = run_folder(training.pk) / "1" / "encoder"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 4096)
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "mean"}')
    sha256, size = content_of(folder)
    path = home_relative(folder)
    return ArtifactFactory(run=training, path=path, sha256=sha256, size=size, card={"snapshot": 4})


BOLD_FIGURE = r"<strong>\s*[+−\d]"
DIFFERENCE = ("difference", "difference_low", "difference_high", "difference_sd", "p", "p_holm")


def figures(spearman: float) -> dict[str, float]:
    return {"spearman": spearman, "low": spearman - 0.02, "high": spearman + 0.02, "sd": 0.004}


def difference(*figures: float) -> dict[str, float]:
    return dict(zip(DIFFERENCE, figures, strict=True))


@pytest.fixture
def comparison(dataset) -> Run:
    """A comparison with five seeds, of which realism lies above plain and no other difference is distinguishable."""
    result = {
        "encoders": {
            "realism": figures(0.845),
            "random": figures(0.829),
            "filter": figures(0.836),
            "plain": figures(0.833),
            "base": {"spearman": 0.812, "low": 0.79, "high": 0.835},
        },
        "from_plain": {
            "realism": difference(0.012, 0.003, 0.021, 0.005, 0.004, 0.012),
            "random": difference(-0.004, -0.011, 0.004, 0.006, 0.2, 0.4),
            "filter": difference(0.003, -0.004, 0.009, 0.006, 0.3, 0.4),
        },
        "from_shuffle": {"realism": difference(0.007, -0.002, 0.016, 0.006, 0.1, 0.3)},
        "pairs": 420,
        "training_pairs": 3412,
        "seeds": [13, 14, 15, 16, 17],
    }
    run = RunFactory(kind="compare_weightings", dataset=dataset, state="succeeded", result=result, plan={})
    EvaluationFactory(run=run, label="base", value=0.812)
    for label in WEIGHTINGS:
        for seed in (13, 14):
            path = f"runs/{run.pk}/1/{label}-{seed}"
            made = ArtifactFactory(run=run, path=path, card={"label": label, "seed": seed})
            EvaluationFactory(run=run, artifact=made, label=label, seed=seed)
    return run


# Who sees what


@pytest.mark.parametrize(("person", "status"), READERS)
def test_a_model_is_shown_to_those_who_read_its_dataset(request, encoder, person, status) -> None:
    assert page(request.getfixturevalue(person), "model_detail", encoder.pk).status_code == status


@pytest.mark.parametrize(("person", "status"), READERS)
def test_a_model_is_given_to_those_who_read_its_dataset(request, encoder, person, status) -> None:
    person = request.getfixturevalue(person)

    assert page(person, "artifact_download", encoder.run_id, encoder.pk).status_code == status


@pytest.mark.parametrize("name", ["comparison", "comparison_csv"])
@pytest.mark.parametrize(("person", "status"), READERS)
def test_a_comparison_is_shown_to_those_who_read_its_dataset(
    request, comparison, name, person, status
) -> None:
    assert page(request.getfixturevalue(person), name, comparison.pk).status_code == status


@pytest.mark.parametrize(("person", "status"), READERS)
def test_a_dataset_s_runs_are_shown_to_those_who_read_it(request, training, person, status) -> None:
    answer = page(request.getfixturevalue(person), "dataset_runs", training.dataset.slug)

    assert answer.status_code == status
    assert (f"/runs/{training.pk}/" in answer.text) == (status == 200)


@pytest.mark.parametrize("name", ["model_list", "comparison_list"])
@pytest.mark.parametrize(("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200)])
def test_the_lists_are_for_staff_and_curators(request, dataset, name, person, status) -> None:
    assert page(request.getfixturevalue(person), name).status_code == status


def test_a_curator_finds_the_models_and_comparisons_of_their_datasets_alone(curator, encoder) -> None:
    others = ArtifactFactory()
    comparison = RunFactory(kind="compare_weightings", plan={})

    models = page(curator, "model_list").text
    comparisons = page(curator, "comparison_list").text

    assert reverse("mlworkers:model_detail", args=[encoder.pk]) in models
    assert reverse("mlworkers:model_detail", args=[others.pk]) not in models
    assert reverse("mlworkers:comparison", args=[comparison.pk]) not in comparisons


def test_a_file_that_is_no_model_has_no_model_s_page(staff) -> None:
    export = ArtifactFactory(kind="pairs", run__kind="export_dataset")

    assert page(staff, "model_detail", export.pk).status_code == 404
    assert page(staff, "comparison", export.run_id).status_code == 404


# Questions


@pytest.mark.parametrize("person", ["staff", "curator"])
def test_the_models_page_asks_as_much_of_many_models_as_of_one(
    client, request, dataset, encoder, person
) -> None:
    user = request.getfixturevalue(person)
    EvaluationFactory(run=encoder.run, artifact=encoder)
    few = questions(client, user, "model_list")

    for number in range(12):
        run = RunFactory(kind="train_encoder", dataset=dataset, started_by=UserFactory(), plan={})
        EvaluationFactory(run=run, artifact=ArtifactFactory(run=run, path=f"m{number}"))

    assert questions(client, user, "model_list") == few <= 14


def test_the_comparisons_page_asks_as_much_of_many_runs_as_of_one(client, staff, comparison, dataset) -> None:
    EvaluationFactory(run__dataset=dataset, run__plan={"model": "a"})
    few = questions(client, staff, "comparison_list")

    for _number in range(8):
        EvaluationFactory(run__plan={"model": "a"})
        RunFactory(kind="compare_weightings", plan={}, result=comparison.result, state="succeeded")

    assert questions(client, staff, "comparison_list") == few <= 10


def test_a_comparison_asks_as_much_with_many_encoders_as_with_few(client, staff, comparison) -> None:
    few = questions(client, staff, "comparison", comparison.pk)

    for seed in range(15, 25):
        made = ArtifactFactory(run=comparison, path=f"plain-{seed}", card={"label": "plain", "seed": seed})
        EvaluationFactory(run=comparison, artifact=made, label="plain", seed=seed)

    assert questions(client, staff, "comparison", comparison.pk) == few


# What they hold


def test_the_lists_say_what_they_are_for_when_they_are_empty(staff) -> None:
    assert "No models yet." in page(staff, "model_list").text
    assert "No comparisons yet." in page(staff, "comparison_list").text


def test_a_model_stands_with_its_base_seed_snapshot_run_and_what_was_measured(staff, encoder) -> None:
    EvaluationFactory(model=f"run:{encoder.run_id}", value=0.8456, low=0.8261, high=0.8629)
    EvaluationFactory(value=0.1111)

    answer = page(staff, "model_list").text

    name = f"realism, seed 13, run {encoder.run_id}"
    for text in (name, "Encoder", "packaged:all-MiniLM-L6-v2", "snapshot 4", "0.846"):
        assert text in answer
    assert "0.826 to 0.863" in answer
    assert f"n = {Evaluation.objects.filter(value=0.8456).get().n}" in answer
    assert "0.111" not in answer


@pytest.mark.parametrize(
    ("kind", "measurable"), [("encoder", True), ("generator", False), ("classifier", False)]
)
def test_only_an_encoder_is_said_to_be_unmeasured(staff, training, kind, measurable) -> None:
    model = ArtifactFactory(run=training, kind=kind)

    one, several = page(staff, "model_detail", model.pk).text, page(staff, "model_list").text

    assert ("Not evaluated yet" in one) == measurable
    assert ("not evaluated" in several) == measurable


def test_snapshot_0_is_shown_as_a_new_one(dataset) -> None:
    run = RunFactory(kind="compare_weightings", dataset=dataset, plan={"snapshot": 0, "first_seed": 0})

    assert [value for _label, value in plan_rows(run).chosen if value != "0"] == ["a new one"]


def test_a_list_of_names_can_be_divided_between_them_and_a_path_stays_as_it_is(dataset) -> None:
    plan = {"methods": "dice,static,fine-tuned", "vectors": "/srv/a,b.txt"}
    run = RunFactory(kind="cross_validate_encoder", dataset=dataset, plan=plan)

    assert [value for _label, value in plan_rows(run).chosen] == ["dice, static, fine-tuned", "/srv/a,b.txt"]


def test_seeds_are_written_as_people_type_them_and_amounts_with_commas() -> None:
    plan = {"dataset": "one", "count": 12_000, "seed": 91_234}

    said = dict(plan_rows(Run(kind="generate_pairs", plan=plan)).chosen)

    assert "91234" in said.values()
    assert not {"91,234", "12000"} & set(said.values())


def test_a_model_s_page_follows_it_back_to_the_runs_and_scores_behind_it(staff, dataset) -> None:
    generator = RunFactory(kind="bootstrap_generator", dataset=dataset, plan={"dataset": dataset.slug})
    plan = {"dataset": dataset.slug, "model": f"run:{generator.pk}"}
    generation = RunFactory(kind="generate_pairs", dataset=dataset, plan=plan)
    ScoreSetFactory(dataset=dataset, name="intended", kind="target", run_ref=generation.pk)
    plan = {
        "dataset": dataset.slug,
        "model": "packaged:all-MiniLM-L6-v2",
        "scores": "intended",
        "snapshot": 4,
    }
    training = RunFactory(kind="train_encoder", dataset=dataset, plan=plan)

    answer = page(staff, "model_detail", ArtifactFactory(run=training).pk)

    behind = [ancestor.run.pk for ancestor in answer.context["lineage"]]
    assert behind == [training.pk, generation.pk, generator.pk]
    assert reverse("curation:snapshots", args=[dataset.slug]) in answer.text


def test_a_model_that_names_itself_in_a_circle_is_followed_once(staff, dataset) -> None:
    run = RunFactory(kind="train_encoder", dataset=dataset, plan={})
    Run.objects.filter(pk=run.pk).update(plan={"model": f"run:{run.pk}"})

    answer = page(staff, "model_detail", ArtifactFactory(run=run).pk)

    assert len(answer.context["lineage"]) == 1


def test_a_model_whose_files_are_gone_says_so_and_offers_no_download(staff, training) -> None:
    answer = page(staff, "model_detail", ArtifactFactory(run=training).pk)

    assert "are missing from" in answer.text
    assert ">Download" not in answer.text


def test_the_only_model_of_a_run_is_named_by_it_and_one_of_several_by_its_own_name_too(
    staff, encoder, comparison
) -> None:
    alone = page(staff, "model_detail", encoder.pk)
    one_of_several = page(staff, "model_detail", comparison.artifacts.first().pk)

    assert alone.context["reference"] == f"run:{encoder.run_id}"
    assert one_of_several.context["reference"] == f"run:{comparison.pk}/plain-13"


def test_the_zip_of_a_model_holds_its_files_and_their_sums_make_its_own(
    staff, encoder, tmp_path: Path
) -> None:
    answer = page(staff, "artifact_download", encoder.run_id, encoder.pk)
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))
    archive.extractall(tmp_path)

    assert answer.streaming
    assert sorted(archive.namelist()) == ["encoder/1_Pooling/config.json", "encoder/model.safetensors"]
    assert content_of(tmp_path / "encoder") == (encoder.sha256, encoder.size)
    weights = hashlib.sha256(archive.read("encoder/model.safetensors")).hexdigest()
    assert weights == hashlib.sha256(bytes(range(256)) * 4096).hexdigest()


def test_a_run_s_folder_is_never_given_away_whole(staff, encoder) -> None:
    whole = ArtifactFactory(run=encoder.run, path=f"runs/{encoder.run_id}")

    assert page(staff, "artifact_download", encoder.run_id, whole.pk).status_code == 404


# The table


def test_the_table_has_the_rows_of_the_paper_and_is_bold_where_a_difference_is_real(
    curator, comparison
) -> None:
    answer = page(curator, "comparison", comparison.pk)

    table = next(table for _heading, table in answer.context["report"].tables if table.over)
    assert [row[0].value for row in table.rows] == ["baseline model", *WEIGHTINGS]
    assert answer.text.count("<strong>+0.012</strong>") == 2  # in the table, and beside realism − shuffle
    assert len(re.findall(BOLD_FIGURE, answer.text)) == 3
    assert "<strong>0.845</strong>" in answer.text
    assert "±0.004" in answer.text
    assert "p = 0.012" in answer.text
    assert "p is adjusted for the 4 differences on this page (Holm)." in " ".join(answer.text.split())


def test_realism_from_shuffle_is_beside_realism_from_plain(curator, comparison) -> None:
    text = " ".join(page(curator, "comparison", comparison.pk).text.split())

    over_shuffle, over_plain = text.index("realism − shuffle"), text.index("realism − plain")
    assert text.index("+0.007", over_shuffle) < over_plain < text.index("+0.012", over_plain)
    assert "Realism is not distinguishable from shuffle, which gives the same weights to other pairs" in text


def test_each_weighting_is_beside_its_own_shuffle_and_its_effective_pairs(curator, comparison) -> None:
    result = comparison.result
    result["encoders"]["consistency"] = result["encoders"]["shuffle-consistency"] = figures(0.84)
    result["from_plain"]["consistency"] = difference(0.011, 0.002, 0.02, 0.005, 0.004, 0.012)
    result["from_shuffle"]["consistency"] = difference(0.009, 0.001, 0.017, 0.005, 0.006, 0.02)
    result["effective_pairs"] = {"consistency": 1234.2}
    result["mean_weight"] = {"consistency": 0.4321}
    comparison.save(update_fields=["result"])

    text = " ".join(page(curator, "comparison", comparison.pk).text.split())

    over_shuffle = text.index("consistency − shuffle-consistency")
    assert text.index("+0.009", over_shuffle) < text.index("consistency − plain")
    assert "Consistency is 0.009 (0.001 to 0.017) above shuffle-consistency" in text
    assert "so these weights say something about their pairs" in text
    assert "consistency 1,234 0.432" in " ".join(strip_tags(text).split())


def test_a_comparison_with_few_seeds_judges_nothing_and_says_so(curator, comparison) -> None:
    comparison.result["seeds"] = [13, 14]
    comparison.save(update_fields=["result"])

    answer = page(curator, "comparison", comparison.pk)

    assert not re.search(BOLD_FIGURE, answer.text)
    assert "Highest is" not in answer.text
    assert "2 seeds cannot show well enough how much another seed would change the figures" in answer.text
    assert "Nothing is bold, because no difference is tested." in " ".join(answer.text.split())


def test_a_comparison_of_an_earlier_version_is_shown_without_a_verdict(curator, comparison) -> None:
    comparison.result["encoders"]["realism"] |= {
        name: comparison.result["from_plain"]["realism"][name] for name in DIFFERENCE[:3]
    }
    del comparison.result["from_plain"], comparison.result["from_shuffle"]
    comparison.save(update_fields=["result"])

    answer = page(curator, "comparison", comparison.pk)

    assert not re.search(BOLD_FIGURE, answer.text)
    assert "Highest is" not in answer.text
    assert "+0.012" in answer.text
    assert "The intervals of this comparison cover other test pairs and not another training" in answer.text


def test_the_sentence_on_top_and_the_chart_s_table_come_from_the_figures(curator, comparison) -> None:
    answer = page(curator, "comparison", comparison.pk)

    assert (
        "Realism is 0.012 (0.003 to 0.021) above plain; filter and random are not distinguishable"
        in answer.text
    )
    chart = answer.context["report"].parts[0]
    assert chart.rows[0] == ("base", "0.8120", "0.7900", "0.8350")
    assert "n = 420 test pairs, 5 seeds" in answer.text


def test_the_figures_of_a_comparison_can_be_had_as_a_file(curator, comparison) -> None:
    answer = page(curator, "comparison_csv", comparison.pk)

    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["encoder"] for row in rows] == ["base", *WEIGHTINGS]
    assert (rows[-1]["difference_from_plain"], rows[-1]["p_holm"]) == ("0.012", "0.012")
    assert (rows[-1]["difference_from_shuffle"], rows[-1]["shuffle_p_holm"]) == ("0.007", "0.3")
    assert "attachment" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize("state", ["queued", "running", "failed"])
def test_a_comparison_that_has_no_table_yet_leads_to_its_run(curator, dataset, state) -> None:
    run = RunFactory(kind="compare_weightings", dataset=dataset, state=state, plan={}, message="Out of luck.")

    answer = page(curator, "comparison", run.pk)

    assert answer.status_code == 200
    assert reverse("mlworkers:run_detail", args=[run.pk]) in answer.text


def test_evaluations_can_be_set_side_by_side(staff) -> None:
    first = EvaluationFactory(run__plan={"model": "run:3"}, model="run:3", value=0.841)
    second = EvaluationFactory(run__plan={"model": "run:4"}, model="run:4", value=0.799, suite="another")

    answer = page(staff, "comparison_list", run=[first.run_id, second.run_id])

    table = answer.context["table"]
    assert table.suites == ["another", "scenes, people, test"]
    assert [
        (model, [one and one.value for one, _beside in figures]) for _run, model, figures in table.rows
    ] == [
        ("run:4", [0.799, None]),
        ("run:3", [None, 0.841]),
    ]


def test_an_evaluation_leads_to_the_pairs_on_which_the_encoder_is_furthest_from_people(
    curator, dataset
) -> None:
    worst, second, elsewhere = PairFactory(dataset=dataset), PairFactory(dataset=dataset), PairFactory()
    rows = [(worst.pk, 4.5, 0.1, -0.8), (elsewhere.pk, 1.0, 0.2, 0.6), (second.pk, 1.25, 0.9, 0.5)]
    gone = (worst.pk + 1_000, 1.0, 0.2, 0.4)
    result = {"spearman": 0.5, "snapshot": 3, "furthest": [*rows, gone]}
    run = RunFactory(
        kind="evaluate_encoder",
        dataset=dataset,
        state="succeeded",
        plan={"model": "run:1", "score_set": "people"},
        result=result,
    )

    answer = page(curator, "run_detail", run.pk)

    assert [one.pair for one in answer.context["furthest"].pairs] == [worst, second]
    html = answer.content.decode()
    assert f'href="/datasets/{dataset.slug}/pairs/{worst.pk}/"' in html
    assert f'href="/datasets/{dataset.slug}/snapshots/3/"' in html
    assert elsewhere.a.text not in html
    assert "4.500 0.100 -80" in " ".join(strip_tags(html).split())


@pytest.fixture
def compared_elsewhere(dataset):
    """A comparison that was tested on another dataset, with where each row is furthest; and a pair of each row."""
    tested = DatasetFactory(slug="tested")
    worst, second = PairFactory(dataset=tested), PairFactory(dataset=tested)
    furthest = {"base": [(worst.pk, 4.5, 0.1, -0.8)], "plain": [(second.pk, 1.25, 0.9, 0.5)]}
    run = RunFactory(
        kind="compare_weightings",
        dataset=dataset,
        state="succeeded",
        plan={
            "model": "run:1",
            "test_dataset": "tested",
            "test_score_set": "people",
            "dataset": dataset.slug,
        },
        result={"encoders": {"plain": {}}, "test_snapshot": 7, "furthest": furthest},
    )
    return run, worst, second


def test_a_comparison_shows_where_each_of_its_rows_is_furthest_from_people(
    curator, compared_elsewhere
) -> None:
    run, worst, second = compared_elsewhere
    MembershipFactory(dataset=worst.dataset, user=curator, role="curator")

    first = page(curator, "comparison", run.pk)
    base = page(curator, "comparison", run.pk, furthest="base")

    assert [one.pair for one in first.context["furthest"].pairs] == [second]
    assert [one.pair for one in base.context["furthest"].pairs] == [worst]
    assert 'href="/datasets/tested/snapshots/7/"' in base.content.decode()
    assert '<option value="base" selected>' in base.content.decode()


def test_the_result_comes_first_and_errors_and_encoders_have_tabs(curator, compared_elsewhere) -> None:
    run, worst, _second = compared_elsewhere
    MembershipFactory(dataset=worst.dataset, user=curator, role="curator")
    ArtifactFactory(run=run, kind="encoder")

    tabs = {name: page(curator, "comparison", run.pk, tab=name) for name in ("", "errors", "models", "<x>")}

    shown = {
        name: [tab["label"] for tab in answer.context["tabs"] if tab["here"]] for name, answer in tabs.items()
    }
    assert shown == {"": ["Result"], "errors": ["Largest errors"], "models": ["Encoders"], "<x>": ["Result"]}
    assert [name for name, answer in tabs.items() if 'id="furthest"' in answer.content.decode()] == ["errors"]
    assert [name for name, answer in tabs.items() if 'class="encoders"' in answer.content.decode()] == [
        "models"
    ]
    assert '?tab=errors"' in tabs[""].content.decode()


def test_the_chart_of_a_comparison_is_before_its_table_and_explanations_are_folded(
    curator, comparison
) -> None:
    text = page(curator, "comparison", comparison.pk).content.decode()

    assert text.index('class="finding"') < text.index("<figure") < text.index("Difference from plain")
    assert text.index("Difference from plain") < text.index("What was compared, and how to read the figures")


def test_pairs_of_a_test_dataset_that_somebody_may_not_read_are_not_shown(
    curator, compared_elsewhere
) -> None:
    run, worst, _second = compared_elsewhere

    answer = page(curator, "comparison", run.pk, furthest="base")

    assert answer.context["furthest"] is None
    assert worst.a.text not in answer.content.decode()


def test_side_by_side_shows_the_unseen_pairs_of_a_test_under_its_figure(staff) -> None:
    whole = EvaluationFactory(suite="stsb", value=0.841, n=1379)
    EvaluationFactory(
        run=whole.run, suite="stsb", part="unseen pairs", value=0.812, low=0.79, high=0.83, n=1130
    )

    answer = page(staff, "comparison_list", run=[whole.run_id])

    text = " ".join(strip_tags(answer.content.decode()).split())
    assert "0.841 0.780 to 0.820 1,130 unseen pairs 0.812 0.790 to 0.830" in text


@pytest.mark.parametrize("by", ["its name", "its folder"])
def test_evaluations_name_a_model_that_was_made_here_as_people_do_and_lead_to_its_page(
    staff, comparison, home, by
) -> None:
    made = comparison.artifacts.get(path__endswith="/realism-14")
    name = f"run:{comparison.pk}/realism-14" if by == "its name" else str(home / made.path)
    measured = EvaluationFactory(run__plan={"model": name}, model=name)

    answer = page(staff, "comparison_list", run=[measured.run_id]).text

    link = f'<a href="{reverse("mlworkers:model_detail", args=[made.pk])}">'
    assert answer.count(f"{link}realism, seed 14, run {comparison.pk}</a>") == 2
    assert name not in answer


def test_a_comparison_leads_to_the_page_of_each_of_its_encoders(curator, comparison) -> None:
    answer = page(curator, "comparison", comparison.pk, tab="models").text

    for made in comparison.artifacts.all():
        label, seed = made.card["label"], made.card["seed"]
        link = f'<a href="{reverse("mlworkers:model_detail", args=[made.pk])}">'
        assert f"{link}{label}, seed {seed}, run {comparison.pk}</a>" in answer


def test_a_model_trained_from_one_of_several_leads_back_to_that_one(staff, comparison) -> None:
    base = comparison.artifacts.get(path__endswith="/plain-13")
    plan = {"dataset": comparison.dataset.slug, "model": f"run:{comparison.pk}/plain-13"}
    run = RunFactory(kind="train_encoder", dataset=comparison.dataset, plan=plan)

    answer = page(staff, "model_detail", ArtifactFactory(run=run).pk)

    assert [ancestor.run.pk for ancestor in answer.context["lineage"]] == [run.pk, comparison.pk]
    link = f'<a href="{reverse("mlworkers:model_detail", args=[base.pk])}">'
    assert f"{link}plain, seed 13, run {comparison.pk}</a>" in answer.text


def test_an_evaluation_that_one_may_not_read_stands_beside_nothing(curator, dataset) -> None:
    secret = EvaluationFactory(run__dataset=DatasetFactory())

    answer = page(curator, "comparison_list", run=[secret.run_id, "nonsense"])

    assert answer.status_code == 200
    assert answer.context["table"].rows == []


# For programs


def test_programs_read_the_artefacts_and_evaluations_that_one_may_see(client, curator, encoder) -> None:
    mine = EvaluationFactory(run=encoder.run, artifact=encoder)
    EvaluationFactory()
    ArtifactFactory()
    client.force_login(curator)

    artifacts = client.get("/api/v1/artifacts/").json()["results"]
    evaluations = client.get("/api/v1/evaluations/").json()["results"]

    assert [(row["id"], row["card"]) for row in artifacts] == [(encoder.pk, {"snapshot": 4})]
    assert [(row["id"], row["n"], row["low"]) for row in evaluations] == [(mine.pk, 420, 0.78)]


@pytest.mark.parametrize("name", ["artifacts", "evaluations"])
def test_programs_change_neither(admin, name) -> None:
    assert client_of(admin).post(f"/api/v1/{name}/", {}).status_code == 405


@pytest.mark.parametrize("by", ["its name", "its folder"])
def test_what_was_measured_of_one_of_several_encoders_is_found_by_its_name_or_folder(
    staff, comparison, home, by
) -> None:
    made = comparison.artifacts.first()
    reference = page(staff, "model_detail", made.pk).context["reference"]
    name = reference if by == "its name" else str(home / made.path)
    measured = EvaluationFactory(model=name, suite="elsewhere")

    answer = page(staff, "model_detail", made.pk)

    assert measured in answer.context["evaluations"]


@pytest.mark.skipif(shutil.which("xargs") is None, reason="needs a shell with xargs")
def test_the_command_that_the_page_names_prints_the_model_s_sum(staff, encoder, home) -> None:
    answer = page(staff, "model_detail", encoder.pk)
    command = html.unescape(re.search(r"<code>(find .*)</code>", answer.text)[1])

    printed = subprocess.run(
        ["sh", "-c", command], cwd=home / encoder.path, capture_output=True, text=True, check=True
    )

    assert printed.stdout.split()[0] == encoder.sha256
