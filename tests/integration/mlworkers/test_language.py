"""A linguistic analysis from pairs to page: what is compared, who sees it, what the page and the file say."""

import csv
import io
import random

import pytest
from django.urls import reverse

from mlworkers.models import Run
from tests.factories import GeneratedPairFactory, PairFactory, RunFactory, SentenceFactory, client_of
from tests.markup import squeezed
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
PLAN = {"realism": "run 7: p_D", "targets": "run 7: target", "share": 0.5}


@pytest.fixture
def scenes(dataset):
    """Human pairs, and generated pairs whose machine repeats itself where p_D is low; each target has both."""
    draw = random.Random(4)

    def sentence(words: int) -> str:
        return " ".join(f"word{draw.randrange(words)}" for _place in range(10))

    def written(words: int, origin: str = "human"):
        return SentenceFactory(dataset=dataset, text=sentence(words), origin=origin)

    for _number in range(40):
        PairFactory(dataset=dataset, a=written(3000), b=written(3000), split="train")
    for number in range(80):
        low = number % 2 == 0
        GeneratedPairFactory(
            dataset=dataset,
            a=written(3000),
            b=written(60 if low else 3000, "machine"),
            p_d=0.2 if low else 0.8,
            intended=0.0 if number < 40 else 1.0,
        )
    return dataset


def carried_out(dataset, **changes: object) -> Run:
    plan = {"dataset": dataset.slug, **PLAN, **changes}
    return run_execute(RunFactory(kind="analyse_language", dataset=dataset, plan=plan))


def page(user, name: str, run: Run):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]))


def test_the_page_says_how_sentences_of_low_p_d_differ(curator, scenes) -> None:
    run = carried_out(scenes)

    shown = squeezed(page(curator, "language", run).text)

    assert run.state == "succeeded", run.message
    assert "The pairs “lowest p_D” (40) differ from human pairs in Distinct-N (lower)" in shown
    assert "The pairs “highest p_D” (40) differ from human pairs in no measure" in shown
    assert "Target similarity 0.0" in shown
    assert "Target similarity 1.0" in shown


def test_the_file_has_a_row_for_each_group_and_measure(curator, scenes) -> None:
    run = carried_out(scenes)

    rows = list(csv.DictReader(io.StringIO(page(curator, "language_csv", run).text)))

    assert len(rows) == 3 * 4 * 11
    row = next(
        row for row in rows
        if (row["target"], row["group"], row["measure"]) == ("1.0", "lowest p_D", "Distinct-1")
    )  # fmt: skip
    assert float(row["low"]) < float(row["value"]) < float(row["high"])
    assert float(row["difference_high"]) < 0
    assert row["pairs"] == "20"


def test_without_score_sets_human_and_generated_pairs_are_compared(curator, scenes) -> None:
    run = carried_out(scenes, realism="", targets="")

    shown = squeezed(page(curator, "language", run).text)

    assert [group["group"] for group in run.result["families"][0]["groups"]] == ["human", "generated"]
    assert "lowest p_D" not in shown


def test_a_dataset_with_too_few_pairs_says_so(dataset) -> None:
    PairFactory(dataset=dataset)

    run = carried_out(dataset, realism="", targets="")

    assert run.state == "failed"
    assert "no group has 20" in run.message


def test_a_split_without_pairs_says_so(scenes) -> None:
    run = carried_out(scenes, split="dev")

    assert run.state == "failed"
    assert "There are 0 pairs to analyse" in run.message


def test_an_analysis_that_has_not_ended_leads_back_to_its_run(curator, dataset) -> None:
    run = RunFactory(kind="analyse_language", dataset=dataset, plan={"dataset": dataset.slug})

    shown = squeezed(page(curator, "language", run).text)

    assert "The table appears when the run has ended." in shown
    assert reverse("mlworkers:run_detail", args=[run.pk]) in shown


@pytest.mark.parametrize("name", ["language", "language_csv"])
@pytest.mark.parametrize(("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200)])
def test_who_sees_an_analysis(request, dataset, name, person, status) -> None:
    run = RunFactory(kind="analyse_language", dataset=dataset, plan={"dataset": dataset.slug})

    assert page(request.getfixturevalue(person), name, run).status_code == status


def test_a_run_of_another_kind_is_no_analysis(staff, dataset) -> None:
    assert page(staff, "language", RunFactory(dataset=dataset)).status_code == 404


def test_a_run_shows_by_which_rule_its_words_were_found(dataset, owner) -> None:
    result = {"words_rule": "the old rule"}
    run = RunFactory(kind="harvest_pairs", dataset=dataset, state=Run.State.SUCCEEDED, result=result)

    assert "the old rule" in page(owner, "run_detail", run).text
