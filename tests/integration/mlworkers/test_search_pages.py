"""The page of a search over settings, its file, and the comparison that starts from it."""

import csv
from dataclasses import asdict

import pytest
from django.urls import reverse

from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from tests.factories import RunFactory, ScoreSetFactory, client_of

FIGURES = [(0.71, ""), (0.74, ""), (None, "The loss is not a number any more at step 3 of 9."), (0.69, "")]


@pytest.fixture
def search(dataset) -> Run:
    for name, kind in (("intended", "target"), ("p_D of them", "realism"), ("gold", "reference")):
        ScoreSetFactory(dataset=dataset, name=name, kind=kind)
    values = {
        "dataset": dataset.slug,
        "model": "packaged:all-MiniLM-L6-v2",
        "scores": "intended",
        "realism": "p_D of them",
        "test_score_set": "gold",
        "temperatures": "fitted,0.5",
        "learning_rates": "1e-5,2e-5",
        "epochs": "1",
        "batch_sizes": "16",
        "max_length": 64,
    }
    plan = plan_from(kind_named("search_settings"), values)
    trials = [
        {
            "trial": number,
            **asdict(trial),
            "spearman": figure,
            "low": None if figure is None else figure - 0.1,
            "high": None if figure is None else figure + 0.1,
            "by_seed": [],
            "sd": None,
            "seconds": 12.5,
            "failed": failed,
        }
        for number, (trial, (figure, failed)) in enumerate(zip(plan.tried, FIGURES, strict=True), start=1)
    ]
    result = {
        "dev_spearman": 0.74,
        "test_spearman": 0.66,
        "test_spearman_low": 0.6,
        "test_spearman_high": 0.72,
        "combinations": 4,
        "tried": 4,
        "failed": 1,
        "chosen_trial": 2,
        "seeds": [42],
        "chosen_by": "scenes, dev gold, dev",
        "dev_pairs": 50,
        "pairs": 80,
        "trials": trials,
    }
    return RunFactory(
        kind="search_settings",
        dataset=dataset,
        queue="gpu",
        plan=asdict(plan),
        state="succeeded",
        result=result,
    )


def page_of(client, run: Run) -> str:
    return client.get(reverse("mlworkers:run_detail", args=[run.pk])).content.decode()


def test_the_page_shows_the_trials_by_their_dev_figure_and_both_figures_of_the_chosen_one(
    client, staff, search
) -> None:
    client.force_login(staff)

    page = page_of(client, search)

    assert (
        "Trial 2 was chosen: Spearman 0.740 on the dev pairs, by which it was chosen, and 0.660 (0.600 to 0.720) on "
        "the test pairs."
    ) in page
    assert (
        page.index("0.740")
        < page.index("0.710")
        < page.index("0.690")
        < page.index("The loss is not a number")
    )
    assert "is the highest of 3 and therefore too high on average" in page
    assert "Each trial was trained with one seed." in page


def test_several_seeds_drawn_trials_and_a_synthetic_dev_set_are_said(client, staff, search) -> None:
    search.result |= {"seeds": [42, 43], "combinations": 60, "chosen_by": "synthetic: generated pairs"}
    search.save()
    client.force_login(staff)

    page = page_of(client, search)

    assert "Each figure is the mean over 2 seeds." in page
    assert "4 of 60 combinations were tried, drawn at random." in page
    assert "The dev set was synthetic" in page
    assert "Each trial was trained with one seed." not in page


def test_the_file_has_every_trial(staff, search) -> None:
    answer = client_of(staff).get(reverse("mlworkers:search_csv", args=[search.pk]))

    rows = list(csv.DictReader(answer.content.decode().splitlines()))
    assert [row["trial"] for row in rows] == ["2", "1", "4", "3"]
    assert [row["chosen"] for row in rows] == ["yes", "no", "no", "no"]
    assert (rows[0]["temperature"], rows[1]["temperature"], rows[2]["temperature"]) == (
        "fitted",
        "fitted",
        "0.5",
    )
    assert rows[3]["failed"] == "The loss is not a number any more at step 3 of 9."


def test_a_comparison_starts_with_the_chosen_settings(client, staff, search) -> None:
    search.result["chosen_trial"] = 4
    search.save()
    client.force_login(staff)
    start = reverse("mlworkers:run_start", args=["compare_weightings"])
    assert f"?dataset={search.dataset.slug}&amp;search={search.pk}" in page_of(client, search)

    form = client.get(f"{start}?search={search.pk}&dataset={search.dataset.slug}").context["form"]

    names = (
        "temperature",
        "learning_rate",
        "epochs",
        "batch_size",
        "max_length",
        "realism",
        "test_score_set",
    )
    assert [form[name].value() for name in names] == [0.5, 2e-5, 1, 16, 64, "p_D of them", "gold"]
    assert form["weightings"].value() == "plain,realism,filter,random"


def test_a_stranger_sees_neither_the_trials_nor_the_settings(client, stranger, search) -> None:
    client.force_login(stranger)
    start = reverse("mlworkers:run_start", args=["compare_weightings"])

    answers = [
        client.get(reverse("mlworkers:search_csv", args=[search.pk])),
        client.get(f"{start}?search={search.pk}&dataset={search.dataset.slug}"),
    ]

    assert {answer.status_code for answer in answers} <= {403, 404}


@pytest.mark.parametrize("asked", ["999999", "no number"])
def test_a_search_that_does_not_exist_is_not_found(staff, search, asked: str) -> None:
    start = reverse("mlworkers:run_start", args=["compare_weightings"])

    assert client_of(staff).get(f"{start}?search={asked}&dataset={search.dataset.slug}").status_code == 404
