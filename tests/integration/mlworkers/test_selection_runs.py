"""A run that selects labelled pairs, its files, and the page of what each cell got."""

import csv

import pytest
from django.urls import reverse

from curation.files.json_text import json_from
from curation.models import PairScore
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.factories import DatasetFactory, PairFactory, RunFactory, ScoreSetFactory, SentenceFactory
from tests.markup import squeezed
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db(transaction=True)
CELLS = ((97.0, 3.0), (97.0, 22.0))  # of SIM95 with BLEU0_5 and with BLEU20


@pytest.fixture
def dataset(db):
    """Thirty sources, each with a paraphrase in either cell."""
    dataset = DatasetFactory(slug="news")
    tags = TagBounds().as_dict()
    sets = [
        ScoreSetFactory(
            dataset=dataset, name=f"run 7: {name}", kind="model", low=0, high=100, run_ref=7,
            parameters={"label": label, "tags": tags, "labels_from": "STS-B"},
        )
        for label, name in (("similarity", "similarity"), ("bleu", "BLEU"))
    ]  # fmt: skip
    for number in range(30):
        source = SentenceFactory(dataset=dataset, text=f"Source number {number} says something.")
        for scores in CELLS:
            pair = PairFactory(dataset=dataset, a=source, split="train")
            for score_set, value in zip(sets, scores, strict=True):
                PairScore.objects.create(score_set=score_set, pair=pair, value=value)
    return dataset


def selected(dataset, **options: object) -> Run:
    values = {"similarity": "run 7: similarity", "bleu": "run 7: BLEU", **options}
    sizes = {"train_pairs": 10, "dev_pairs": 2, "test_pairs": 2}
    return run_execute(run_plan("select_paraphrases", dataset, {"dataset": dataset.slug, **sizes, **values}))


def rows_of(run: Run) -> list[dict[str, object]]:
    path = artifact_path(run.artifacts.get(kind="tagged pairs"))
    return [json_from(line) for line in path.read_text().splitlines()]


def test_siblings_of_a_source_are_in_one_split_and_no_pair_is_taken_twice(dataset) -> None:
    run = selected(dataset)

    assert run.state == "succeeded", run.message
    rows = rows_of(run)
    splits = {}
    for row in rows:
        splits.setdefault(row["source"], set()).add(row["split"])
    assert max(map(len, splits.values())) == 1
    assert len({row["pair"] for row in rows}) == len(rows) == sum(run.result["chosen"].values())
    assert {(row["sim_tag"], row["bleu_tag"]) for row in rows} == {("SIM95", "BLEU0_5"), ("SIM95", "BLEU20")}


def test_the_same_seed_gives_the_same_file(dataset) -> None:
    first, again, other = selected(dataset), selected(dataset), selected(dataset, seed=43)

    sums = [run.artifacts.get(kind="tagged pairs").sha256 for run in (first, again, other)]
    assert sums[0] == sums[1] != sums[2]


def test_a_cell_with_too_few_pairs_is_reported_and_never_filled_up(dataset) -> None:
    run = selected(dataset, train_pairs=100)

    text = artifact_path(run.artifacts.get(kind="cells")).read_text()
    cells = list(csv.DictReader(text.splitlines()))
    [cell] = [c for c in cells if (c["split"], c["similarity"], c["bleu"]) == ("train", "SIM95", "BLEU0_5")]
    assert int(cell["asked"]) == 200  # twice as wide as others
    assert int(cell["chosen"]) + int(cell["shortfall"]) == 200
    assert int(cell["candidates"]) == 30
    assert run.result["cells_short"] > 0


def test_pairs_with_a_sentence_of_the_test_split_are_not_chosen(dataset) -> None:
    source = dataset.sentences.get(text="Source number 4 says something.")
    PairFactory(dataset=dataset, split="test", a=source)

    rows = rows_of(selected(dataset))

    assert source.text not in {row["source"] for row in rows}
    assert rows


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"split": "nowhere"}, "No pair of the split “nowhere” has both labels"),
        (
            {"similarity": "run 7: BLEU", "bleu": "run 7: similarity"},
            "Choose the similarity and the BLEU of the same run",
        ),
    ],
)
def test_what_cannot_be_selected_is_refused_in_one_sentence(dataset, options, sentence) -> None:
    run = selected(dataset, **options)

    assert run.state == "failed"
    assert sentence in run.message


def test_a_cell_without_any_pair_is_reported_and_stays_empty(dataset) -> None:
    run = selected(dataset)

    found = {(split, sim, bleu): rest for split, sim, bleu, *rest in run.result["cells"]}
    asked, candidates, chosen = found["train", "SIM70", "BLEU40"]
    assert (asked, candidates, chosen) == (10, 0, 0)
    assert run.result["cells_short"] >= 3 * 46  # all but two cells of each split


def test_pairs_of_which_none_lies_in_a_cell_are_refused_in_one_sentence(dataset) -> None:
    PairScore.objects.filter(score_set__name="run 7: similarity").update(value=12.0)

    run = selected(dataset)

    assert run.state == "failed"
    assert "Of 60 labelled pairs, 0 can be trained on and 0 are dev pairs; label more pairs" in run.message
    assert not run.artifacts.exists()


def test_the_page_shows_each_cell_and_says_whose_labels_these_are(client, dataset, django_user_model) -> None:
    run = selected(dataset, train_pairs=100)
    staff = django_user_model.objects.create_user("sam", password="not used", is_staff=True)
    stranger = django_user_model.objects.create_user("stranger", password="not used")

    client.force_login(staff)
    shown = squeezed(client.get(reverse("mlworkers:selection", args=[run.pk])).content.decode())
    client.force_login(stranger)
    refused = client.get(reverse("mlworkers:selection", args=[run.pk]))

    assert "chosen by a scorer that was trained on STS-B" in shown
    assert "of 200" in shown
    assert refused.status_code == 404


def written_by_generator(dataset) -> Run:
    """Gives every pair of a run “Generate pairs” the label 1 or 0 in turn, smoothed by default to .9 and .1."""
    run = RunFactory(kind="generate_pairs", dataset=dataset, state="succeeded")
    targets = ScoreSetFactory(
        dataset=dataset, name="its targets", kind="target", run_ref=run.pk, parameters={"smoothing": 0.2}
    )
    dataset.pairs.update(run_ref=run.pk, origin="generated")
    for number, pair in enumerate(dataset.pairs.order_by("pk")):
        PairScore.objects.create(score_set=targets, pair=pair, value=(0.1, 0.9)[number % 2])
    return run


def test_of_a_run_that_generated_pairs_those_with_the_label_1_are_candidates(dataset) -> None:
    generating = written_by_generator(dataset)

    run = selected(dataset, written_by=generating.pk)

    assert run.state == "succeeded", run.message
    assert run.result["candidates"] == 30
    assert run.result["written_by"] == generating.pk
    # Every second pair is that of the second cell.
    assert {row["bleu_tag"] for row in rows_of(run)} == {"BLEU20"}


def test_of_another_run_all_its_pairs_are_candidates_and_no_others(dataset) -> None:
    trips = RunFactory(kind="translate_round_trip", dataset=dataset, state="succeeded")
    first = list(dataset.pairs.order_by("pk").values_list("pk", flat=True)[:40])
    dataset.pairs.filter(pk__in=first).update(run_ref=trips.pk, origin="generated")

    run = selected(dataset, written_by=trips.pk)

    assert run.result["candidates"] == 40
    assert {row["pair"] for row in rows_of(run)} <= set(first)


def test_a_run_without_paraphrases_is_refused_in_one_sentence(dataset) -> None:
    generating = RunFactory(kind="generate_pairs", dataset=dataset, state="succeeded")

    run = selected(dataset, written_by=generating.pk)

    assert (run.state, run.result) == ("failed", {})
    assert f"The snapshot has no paraphrase that run {generating.pk} wrote" in run.message
