"""The form of a comparison: rows of controls for its lists, and the presets that fill it in."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from curation.models import Dataset, PairScore, ScoreSet, User
from mlworkers.forms.plans import PlanForm
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS
from tests.factories import ArtifactFactory, DatasetFactory, PairFactory, ScoreSetFactory, client_of

COMPARING = KINDS["compare_weightings"]
ADDRESS = reverse("mlworkers:run_start", args=[COMPARING.name])
Fill = Callable[..., QueryDict]


def furnish(dataset: Dataset) -> Dataset:
    """Training scores with a pair to learn from, test scores, and p_D."""
    target = ScoreSetFactory(dataset=dataset, name="target", kind=ScoreSet.Kind.TARGET)
    for split in ("train", "test"):
        pair = PairFactory(dataset=dataset, split=split)
        PairScore.objects.create(score_set=target, pair=pair, value=0.5)
    ScoreSetFactory(dataset=dataset, name="people", kind=ScoreSet.Kind.HUMAN)
    ScoreSetFactory(dataset=dataset, name="p_D", kind=ScoreSet.Kind.REALISM)
    return dataset


@pytest.fixture
def staff_client(admin: User) -> Client:
    return client_of(admin)


@pytest.fixture
def scenes(dataset: Dataset) -> Dataset:
    return furnish(dataset)


@pytest.fixture
def news(db) -> Dataset:
    return furnish(DatasetFactory(slug="news-qqp", name="News"))


@pytest.fixture
def sent(scenes: Dataset, news: Dataset) -> Fill:
    """What the form sends with its defaults, but for what is given."""

    def filled(**given: Any) -> QueryDict:
        data = QueryDict(mutable=True)
        for bound in PlanForm(kind=COMPARING, dataset=scenes, datasets=[scenes, news]):
            if bound.initial not in (None, False) and bound.name not in ("sources", "in_domain"):
                data[bound.name] = str(bound.initial)
        data["scores"], data["test_score_set"] = "target", "people"
        data.setlist("weightings", ["plain"])
        for name, value in given.items():
            data[name.replace("__", "-")] = value
        return data

    return filled


def form_of(data: QueryDict, scenes: Dataset, news: Dataset) -> PlanForm:
    return PlanForm(data, kind=COMPARING, dataset=scenes, datasets=[scenes, news])


def test_rows_become_the_text_of_the_plan_and_blank_ones_are_left_out(sent: Fill, scenes, news) -> None:
    rows = {
        "sources__0__dataset": "", "sources__0__scores": "",
        "sources__2__dataset": "news-qqp", "sources__2__scores": "target", "sources__2__realism": "p_D",
    }  # fmt: skip

    form = form_of(sent(**rows), scenes, news)

    assert form.is_valid(), form.errors
    assert form.plan()["sources"] == "news-qqp | target | p_D"


def test_a_program_sends_the_text(sent: Fill, scenes, news) -> None:
    form = form_of(sent(sources="news-qqp | target"), scenes, news)

    assert form.is_valid(), form.errors
    assert form.plan()["sources"] == "news-qqp | target"


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ({"dataset": "news-qqp"}, "Row 1 of “Further source datasets” has no “Training scores”."),
        (
            {"dataset": "news-qqp", "scores": "a|b"},
            "Row 1 of “Further source datasets” has “a|b” as “Training scores”, which may not contain “|”.",
        ),
    ],
)
def test_a_page_says_which_row_and_which_column_is_wrong_and_keeps_what_was_chosen(
    sent: Fill, scenes, news, cells: dict[str, str], sentence: str
) -> None:
    rows = {f"sources__5__{name}": value for name, value in cells.items()}

    form = form_of(sent(**rows), scenes, news)

    assert form.errors["sources"] == [sentence]
    assert '<option value="news-qqp" selected>News</option>' in str(form["sources"])


def test_a_row_whose_score_set_is_gone_is_named(sent: Fill, staff_client, scenes, news) -> None:
    rows = {"sources__0__dataset": "news-qqp", "sources__0__scores": "gone"}

    page = staff_client.post(ADDRESS, sent(**rows)).content.decode()

    assert "Row 1: the dataset “news-qqp” has no score set “gone” of the kind" in page
    assert '<option value="gone" selected>gone</option>' in page
    assert not Run.objects.exists()


def test_cells_offer_the_score_sets_of_their_column_with_the_datasets_that_have_them(scenes, news) -> None:
    shown = str(PlanForm(kind=COMPARING, dataset=scenes, datasets=[scenes, news])["sources"])

    controls = dict(zip(("dataset", "scores", "realism"), shown.split("<select")[1:], strict=False))
    assert 'value="news-qqp"' in controls["dataset"]
    assert f'value="{scenes.slug}"' not in controls["dataset"]
    assert 'value="people" data-of="' in controls["scores"]
    assert "news-qqp" in controls["realism"]
    assert 'value="people"' not in controls["realism"]
    assert "separat" not in shown


def test_scorers_are_rows_of_a_way_and_a_model_which_is_offered_and_may_be_typed(scenes) -> None:
    made = ArtifactFactory(run__dataset=scenes)
    kind = KINDS["compare_scorers"]
    rows = {
        "dataset": scenes.slug, "score_set": "people", "bootstrap": "1000", "seed": "1234", "snapshot": "0",
        "generated_pairs": "all but rejected",
        "scorers-0-way": "", "scorers-0-models": f"run:{made.run_id}",
        "scorers-1-way": "two", "scorers-1-models": "run:5 + run:6",
    }  # fmt: skip

    blank = PlanForm(kind=kind, dataset=scenes, datasets=[scenes])
    form = PlanForm(rows, kind=kind, dataset=scenes, datasets=[scenes])

    shown = str(blank["scorers"])
    assert f'<option value="run:{made.run_id}">' in shown
    assert '<option value="bertscore">' in shown
    assert form.is_valid(), form.errors
    assert form.plan()["scorers"] == f"run:{made.run_id}, two:run:5 + run:6"


def test_variants_of_paraphrases_offer_the_dataset_s_subsets_and_tags(scenes) -> None:
    PairFactory(dataset=scenes, subset="round trip")
    PairFactory(dataset=DatasetFactory(), subset="of another")

    form = PlanForm(kind=KINDS["compare_augmentations"], dataset=scenes, datasets=[scenes])

    shown = str(form["variants"])
    assert 'name="variants-0-pairs" value="all"' in shown
    assert '<option value="round trip">' in shown
    assert '<option value="BLEU0_5">' in shown
    assert "of another" not in shown


def test_without_scripts_a_button_adds_a_row_and_what_was_filled_in_stays(
    sent: Fill, staff_client, scenes, news
) -> None:
    rows = {"sources__0__dataset": "news-qqp", "sources__0__scores": "target", "seeds": "7"}

    page = staff_client.post(ADDRESS, sent(**rows, add_row="sources")).content.decode()

    assert page.count('name="sources-0-dataset"') == page.count('name="sources-1-dataset"') == 1
    assert '<option value="news-qqp" selected>' in page
    assert 'name="seeds" value="7"' in page
    assert 'role="alert"' not in page
    assert not Run.objects.exists()


def test_a_preset_fills_the_form_in_and_says_what_it_answers(staff_client, scenes, news) -> None:
    page = staff_client.get(ADDRESS, {"dataset": scenes.slug}).content.decode()
    assert "Does weighting help?" in page
    assert "with 5 seeds, the fewest that can show a difference: 10 trainings." in page
    assert "The time is known once such a run has finished here." in page

    form = staff_client.get(ADDRESS, {"dataset": scenes.slug, "preset": "help"}).context["form"]

    assert [box.data["value"] for box in form["weightings"] if box.data["selected"]] == ["plain", "realism"]
    assert (form["controls"].value(), form["seeds"].value()) == (False, 5)
    assert not form.more_is_open


def test_the_preset_of_table_3_names_the_other_source_and_the_suites_with_files(
    staff_client, scenes, news, settings, tmp_path: Path
) -> None:
    for name in ("qqp", "paws"):
        (tmp_path / name).mkdir()
    settings.SUITES_FOLDER = tmp_path
    asked = {"dataset": scenes.slug, "preset": "table-3"}

    form = staff_client.get(ADDRESS, asked).context["form"]

    values = {
        name: form[name].value() for name in ("weightings", "suites", "sources", "in_domain", "baselines")
    }
    assert values == {
        "weightings": "plain,realism,filter,random",
        "suites": "qqp,paws",
        "sources": "news-qqp | target | p_D",
        "in_domain": "news-qqp=qqp",
        "baselines": "static,cls,mean",
    }
    assert form.more_is_open
    page = staff_client.get(ADDRESS, asked).content.decode()
    assert "on 2 of its 3 source datasets, beside baselines: 40 trainings." in page
    assert "SUITES_FOLDER has no files of them: stsb and mrpc." in page


def test_a_preset_says_what_the_dataset_lacks(staff_client, dataset) -> None:
    target = ScoreSetFactory(dataset=dataset, name="target", kind=ScoreSet.Kind.TARGET)
    PairScore.objects.create(score_set=target, pair=PairFactory(dataset=dataset, split="train"), value=0.5)
    ScoreSetFactory(dataset=dataset, name="people", kind=ScoreSet.Kind.HUMAN)

    page = staff_client.get(ADDRESS, {"dataset": dataset.slug}).content.decode()

    assert page.count("The weighting “realism” needs p_D; choose a score set for “Human-likeness (p_D)”") == 2


def test_a_preset_that_there_is_not_is_not_found(staff_client, scenes) -> None:
    assert staff_client.get(ADDRESS, {"dataset": scenes.slug, "preset": "none"}).status_code == 404


def test_suites_without_files_are_folded_away_until_one_is_ticked(dataset, settings, tmp_path: Path) -> None:
    (tmp_path / "stsb").mkdir()
    settings.SUITES_FOLDER = tmp_path

    folded = str(PlanForm(kind=COMPARING, dataset=dataset)["suites"])
    ticked = str(PlanForm(kind=COMPARING, dataset=dataset, initial={"suites": "paws"})["suites"])

    assert folded.index('value="stsb"') < folded.index("<details") < folded.index('value="paws"')
    assert "Suites without files here (" in folded
    assert "<details" not in ticked
