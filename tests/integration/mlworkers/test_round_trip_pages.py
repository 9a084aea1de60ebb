"""Pages of a round-trip translation: what each setting gives."""

import csv
import io

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from curation.files.tables import write_table
from curation.files.writing import sha256_of
from curation.models import Pair, PairScore
from mlworkers.models import Run
from mlworkers.runs.candidates import CANDIDATE_COLUMNS, CANDIDATES
from mlworkers.runs.storage import home_relative, run_folder
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.factories import ArtifactFactory, PairFactory, RunFactory, ScoreSetFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
HOT, MILD = "round trip k20 T3 back k20 T3", "round trip k30 T2 back k30 T2"
# Setting, pair, reason, similarity and BLEU of each candidate.
ROWS = [
    (HOT, 1, "", 97.0, 3.0),
    (MILD, 2, "", 96.0, 12.0),
    (HOT, 3, "", 40.0, 2.0),
    (MILD, 3, "already written for the source", 40.0, 2.0),
    (HOT, None, "copy of the source", None, None),
    (MILD, 4, "", 71.0, 44.0),
]


@pytest.fixture(autouse=True)
def _no_cache() -> None:
    cache.clear()


def translated(dataset, *, rows=ROWS) -> Run:
    """A run whose candidates are pairs of the dataset."""
    settings = [{"setting": name, "written": 3, "kept": 2} for name in (HOT, MILD)]
    run = RunFactory(
        kind="translate_round_trip", dataset=dataset, state="succeeded", result={"settings": settings}
    )
    texts = {}
    for setting, number, dropped, *_labels in rows:
        if number is not None and not dropped:
            pair = PairFactory(
                dataset=dataset, external_id=f"g{run.pk}-{number}", run_ref=run.pk, origin="generated",
                source=f"run {run.pk}", subset=setting, a__text=f"Source {number} of run {run.pk}.",
                b__text=f"Candidate {number} of run {run.pk}.",
            )  # fmt: skip
            texts[number] = pair
    path = run_folder(run.pk) / "1" / "candidates.parquet"
    path.parent.mkdir(parents=True)
    lines = [
        [
            texts[number].a_id if number else 0, setting, 0, number, dropped, 0, 0, 0,
            texts[number].a.text if number else "A source.", "…",
            texts[number].b.text if number else "A source.",
        ]
        for setting, number, dropped, *_labels in rows
    ]  # fmt: skip
    write_table(path, "parquet", CANDIDATE_COLUMNS, lines)
    ArtifactFactory(run=run, kind=CANDIDATES, path=home_relative(path), sha256=sha256_of(path))
    return run


def labelled(run: Run, *, rows=ROWS, run_ref: int = 900):
    sets = {
        label: ScoreSetFactory(
            dataset=run.dataset, name=f"run {run_ref}: {label}", kind="model", low=0, high=100, run_ref=run_ref,
            parameters={"label": label, "tags": TagBounds().as_dict()},
        )
        for label in ("similarity", "bleu")
    }  # fmt: skip
    for _setting, number, dropped, *labels in rows:
        if number is not None and not dropped:
            pair = Pair.objects.get(external_id=f"g{run.pk}-{number}")
            for score_set, value in zip(sets.values(), labels, strict=True):
                PairScore.objects.create(score_set=score_set, pair=pair, value=value)
    return sets


def page(user, run, name: str = "round_trip", **asked: object):
    return client_of(user).get(reverse(f"mlworkers:{name}", args=[run.pk]), asked)


def test_a_stranger_gets_neither_the_page_nor_the_file(stranger, dataset) -> None:
    run = translated(dataset)

    for name in ("round_trip", "round_trip_csv"):
        assert page(stranger, run, name).status_code == 404


def test_an_annotator_gets_neither(annotator, dataset) -> None:
    run = translated(dataset)

    for name in ("round_trip", "round_trip_csv"):
        assert page(annotator, run, name).status_code == 403


def test_the_page_of_another_kind_of_run_is_not_there(curator, dataset) -> None:
    assert page(curator, RunFactory(dataset=dataset, kind="score_pairs")).status_code == 404


def test_without_labels_the_page_says_how_to_get_them(curator, dataset) -> None:
    shown = page(curator, translated(dataset)).content.decode()

    assert "The candidates have no labels yet." in shown


def test_a_run_that_has_not_ended_has_no_settings(curator, dataset) -> None:
    run = RunFactory(kind="translate_round_trip", dataset=dataset, state="running")

    assert "The settings can be compared when the run has ended." in page(curator, run).content.decode()
    assert page(curator, run, "round_trip_csv").status_code == 404


def test_each_setting_has_its_share_and_the_best_one_its_cells(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)

    answer = page(curator, run)

    shown = {one.setting: one for one in answer.context["shown"].yields}
    # The text that both settings wrote counts for both.
    assert (shown[HOT].written, shown[HOT].dropped, shown[HOT].inside) == (3, 1, 1)
    assert (shown[MILD].written, shown[MILD].dropped, shown[MILD].inside) == (3, 0, 2)
    assert answer.context["chosen"].setting == MILD
    text = squeezed(answer.content.decode())
    assert f"“{MILD}” puts the largest share of its candidates into one of the 48 cells: 66.7 %" in text


def test_the_labels_of_its_own_candidates_are_shown_and_not_newer_ones_of_other_pairs(
    curator, dataset
) -> None:
    run, other = translated(dataset), translated(dataset)
    labelled(run)
    labelled(other, run_ref=901)

    answer = page(curator, run)

    assert answer.context["form"].first_row.score_set.run_ref == 900
    assert f"written_by={run.pk}" in answer.content.decode()


def test_the_address_chooses_the_setting_whose_cells_are_shown(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)

    answer = page(curator, run, setting=HOT)

    assert answer.context["chosen"].setting == HOT
    assert page(curator, run, setting="nonsense").context["chosen"].setting == MILD


def test_candidates_without_labels_are_named_and_left_out(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run, rows=ROWS[:2])

    shown = page(curator, run)

    assert {one.setting: one.known for one in shown.context["shown"].yields} == {HOT: 2, MILD: 1}
    assert "3 candidates do not have both labels" in squeezed(shown.content.decode())


def test_the_file_has_a_row_for_each_setting_and_cell(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)

    answer = page(curator, run, "round_trip_csv")

    rows = list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))
    assert len(rows) == 2 * 48
    filled = {
        (row["setting"], row["similarity"], row["bleu"]): (row["candidates"], float(row["percent"]))
        for row in rows
        if row["candidates"] != "0"
    }
    assert filled == {
        (HOT, "SIM95", "BLEU0_5"): ("1", 33.333),
        (MILD, "SIM95", "BLEU10"): ("1", 33.333),
        (MILD, "SIM70", "BLEU40"): ("1", 33.333),
    }


def test_a_file_that_is_gone_is_said_in_one_sentence(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)
    (run_folder(run.pk) / "1" / "candidates.parquet").unlink()

    shown = page(curator, run)

    assert f"The file of candidates of run {run.pk} is gone or damaged" in shown.content.decode()


def test_the_number_of_queries_does_not_grow_with_the_candidates(curator, dataset) -> None:
    run = translated(dataset)
    labelled(run)
    page(curator, run)
    cache.clear()
    with CaptureQueriesContext(connection) as few:
        page(curator, run)
    more = [(HOT, number, "", 80.0, 20.0) for number in range(1, 30)]
    other = translated(dataset, rows=more)
    labelled(other, rows=more, run_ref=901)
    cache.clear()

    with CaptureQueriesContext(connection) as many:
        page(curator, other)

    assert len(many) <= len(few)
