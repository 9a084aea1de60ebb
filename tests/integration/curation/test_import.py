"""A file of pairs into a dataset."""

import csv
import json
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path
from threading import Barrier

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from curation.exchange import importing, refusals
from curation.exchange.exporting import pairs_export
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files.parsing import Columns
from curation.foundation.errors import UserError
from curation.models import Dataset, ImportBatch, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.text import sentence_key
from curation.people.access import dataset_for

HEADER = "sentence1,sentence2,score\n"
IDS = ImportOptions(columns=Columns(external_id="id"))
THREE = HEADER + "Rome fell.,Rome  fell.,5\nA dog runs.,A cat sleeps.,0.4\nA cat sleeps.,A dog runs.,0.5\n"


@pytest.fixture
def written(tmp_path):
    def write(content: str, name: str = "news-train.csv") -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.fixture
def chunks_of_two(monkeypatch):
    """A large import is one of more than four rows here, and is written two rows at a time."""
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 4)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 2)


def many(number: int) -> str:
    return HEADER + "".join(f"Sentence {n}.,Sentence {n + 1}.,{n % 5}\n" for n in range(number))


def everything() -> list[object]:
    """All that an import could write."""
    return [
        list(model.objects.order_by("pk").values())
        for model in (Dataset, Sentence, Pair, ScoreSet, PairScore, ImportBatch)
    ]


# What is stored


def test_pairs_sentences_and_scores_are_stored(dataset, written) -> None:
    outcome = pairs_import(dataset=dataset, path=written(THREE))

    pairs = Pair.objects.filter(dataset=dataset)
    assert list(pairs.values_list("a__text", "b__text", "source", "split", "scores__value")) == [
        ("Rome fell.", "Rome fell.", "news-train", "train", 5.0),
        ("A dog runs.", "A cat sleeps.", "news-train", "train", 0.4),
        ("A cat sleeps.", "A dog runs.", "news-train", "train", 0.5),
    ]
    assert (outcome.rows, outcome.added, outcome.unchanged, outcome.rejected) == (3, 3, 0, 0)


def test_a_sentence_is_stored_once_under_its_key(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(THREE))

    stored = dict(Sentence.objects.filter(dataset=dataset).values_list("text", "key"))
    assert stored == {text: sentence_key(text) for text in ("Rome fell.", "A dog runs.", "A cat sleeps.")}


def test_scores_stay_as_they_are_on_the_scale_that_holds_them(dataset, written) -> None:
    outcome = pairs_import(dataset=dataset, path=written(THREE))

    score_set = ScoreSet.objects.get(dataset=dataset)
    assert (score_set.name, score_set.kind, score_set.low, score_set.high) == (
        "reference",
        "reference",
        0.0,
        5.0,
    )
    assert (outcome.scale, outcome.scale_guessed) == ((0.0, 5.0), True)


def test_a_named_scale_is_not_guessed_and_scores_outside_it_are_refused(dataset, written) -> None:
    outcome = pairs_import(dataset=dataset, path=written(THREE), options=ImportOptions(scale=(0, 1)))

    assert (outcome.added, outcome.rejected, outcome.scale_guessed) == (2, 1, False)
    assert outcome.errors[0].reason == "the score 5 is outside the scale 0 to 1"


def test_a_file_without_scores_makes_no_score_set(dataset, written) -> None:
    outcome = pairs_import(dataset=dataset, path=written("a,b\nA.,B.\n"))

    assert (outcome.added, outcome.score_set, outcome.scale) == (1, None, None)
    assert not ScoreSet.objects.exists()


def test_names_for_all_rows_win_over_the_files_name(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(THREE), options=ImportOptions(source="wire", split=""))

    assert set(Pair.objects.values_list("source", "split")) == {("wire", "")}


def test_an_import_is_recorded(dataset, written, owner) -> None:
    pairs_import(dataset=dataset, path=written(THREE + "A.,,1\n"), by=owner)

    batch = ImportBatch.objects.get(dataset=dataset)
    assert (batch.file_name, batch.state, batch.created_by) == ("news-train.csv", "done", owner)
    assert (batch.rows, batch.added, batch.unchanged, batch.rejected) == (4, 3, 0, 1)
    assert batch.report["errors"] == [
        {
            "line": 5,
            "reason": "sentence b is empty",
            "row": "A.,,1",
            "a": "",
            "b": "",
            "source": "",
            "split": "",
        }
    ]
    assert len(batch.sha256) == 64


# Again


def test_the_same_file_again_adds_nothing(dataset, written) -> None:
    path = written(THREE + "Rome fell.,Rome fell.,4\n")
    pairs_import(dataset=dataset, path=path)
    before = everything()[:5]

    outcome = pairs_import(dataset=dataset, path=path)

    assert (outcome.added, outcome.scores_added, outcome.unchanged, outcome.rejected) == (0, 0, 4, 0)
    assert everything()[:5] == before


def test_rows_added_to_a_file_are_added(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(THREE))

    outcome = pairs_import(dataset=dataset, path=written(THREE + "Rome fell.,Rome fell.,4\nNew.,Newer.,1\n"))

    assert (outcome.added, outcome.unchanged) == (2, 3)


def test_another_score_for_a_scored_pair_updates_it(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,3.8\n"))

    outcome = pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,3.9\nC.,D.,1\n"))

    assert (outcome.added, outcome.updated, outcome.unchanged) == (1, 1, 0)
    assert (outcome.changes["score"], outcome.scores_added) == (1, 1)
    assert outcome.changed == [(2, "A.", "score", 3.8, 3.9)]
    assert PairScore.objects.get(pair__a__text="A.").value == 3.9


def test_another_score_is_taken_into_another_score_set(dataset, written) -> None:
    path = written(HEADER + "A.,B.,3.8\n")
    pairs_import(dataset=dataset, path=path)

    outcome = pairs_import(dataset=dataset, path=path, options=ImportOptions(score_set="second"))

    assert (outcome.added, outcome.updated, outcome.scores_added) == (0, 1, 1)
    assert set(PairScore.objects.values_list("score_set__name", flat=True)) == {"reference", "second"}


def test_a_score_for_a_pair_that_had_none_is_added(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,\nC.,D.,3\n"))

    outcome = pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,4\nC.,D.,3\n"))

    assert (outcome.added, outcome.updated, outcome.unchanged, outcome.scores_added) == (0, 1, 1, 1)


def test_an_id_that_stands_for_other_sentences_is_refused(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("id,a,b\n1,A.,B.\n"))

    path = written("id,a,b\n1,A.,Other.\n2,C.,D.\n")
    outcome = pairs_import(dataset=dataset, path=path, options=IDS)

    assert (outcome.added, outcome.rejected) == (1, 1)
    assert (
        outcome.errors[0].reason
        == 'the id "1" belongs to other sentences in the same source and split of the dataset; '
        "give the file another source, or the row another id"
    )
    assert Pair.objects.get(external_id="1").b.text == "B."


SEMREL = 'PairID,Text,Score\n1,"{0} A.\n{0} B.",0.5\n2,"{0} C.\n{0} D.",1\n'


def test_ids_may_repeat_from_file_to_file_and_from_split_to_split(dataset, written) -> None:
    files = [
        written(SEMREL.format(name), f"{name}.csv") for name in ("eng_train", "eng_dev", "hau_train", "hau")
    ]

    first = [pairs_import(dataset=dataset, path=path) for path in files]
    again = [pairs_import(dataset=dataset, path=path) for path in files]

    assert [(outcome.added, outcome.rejected) for outcome in first] == [(2, 0)] * 4
    assert [(outcome.added, outcome.unchanged, outcome.scores_added) for outcome in again] == [(0, 2, 0)] * 4
    assert list(Pair.objects.filter(external_id="1").values_list("a__text", "source", "split")) == [
        ("eng_train A.", "eng_train", "train"),
        ("eng_dev A.", "eng_dev", "dev"),
        ("hau_train A.", "hau_train", "train"),
        ("hau A.", "hau", ""),
    ]


def test_a_file_may_be_imported_under_the_ids_of_another_source(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("id,a,b\n1,A.,B.\n"))

    other = ImportOptions(source="second")
    outcome = pairs_import(dataset=dataset, path=written("id,a,b\n1,C.,D.\n"), options=other)

    assert (outcome.added, outcome.rejected) == (1, 0)


def test_the_ids_of_one_column_may_repeat_in_each_split_of_another(dataset, written) -> None:
    path = written("id,split,a,b\n1,train,A.,B.\n1,dev,C.,D.\n1,dev,E.,F.\n")

    outcome = pairs_import(dataset=dataset, path=path, options=IDS)
    again = pairs_import(dataset=dataset, path=path, options=IDS)

    assert [(outcome.added, outcome.rejected), (again.unchanged, again.rejected)] == [(2, 1), (2, 1)]
    assert outcome.errors[0].reason.startswith('the id "1" is on line 3 already; give')


def test_scores_find_their_pair_among_equal_ids(dataset, written) -> None:
    path = written("id,split,a,b\n1,train,A.,B.\n1,dev,C.,D.\n")
    pairs_import(dataset=dataset, path=path)

    scored = path.read_text().replace("a,b", "a,b,score").replace("B.", "B.,1").replace("D.", "D.,5")
    outcome = pairs_import(dataset=dataset, path=written(scored))

    assert (outcome.added, outcome.updated, outcome.scores_added) == (0, 2, 2)
    values = PairScore.objects.values_list("pair__split", "pair__a__text", "value")
    assert sorted(values) == [("dev", "C.", 5.0), ("train", "A.", 1.0)]


def test_a_file_whose_every_row_contradicts_the_dataset_is_refused_and_changes_nothing(
    dataset, written
) -> None:
    pairs_import(dataset=dataset, path=written("id,a,b\n1,A.,B.\n2,C.,D.\n3,E.,F.\n"))
    before = everything()
    other = written("id,a,b,score\n1,A.,X.,1\n2,,D.,1\n3,E.,Y.,1\n")

    with pytest.raises(
        UserError, match=r"None of the 3 rows.*reason \(rows: 2\), first on line 2: the id \"1\""
    ):
        pairs_import(dataset=dataset, path=other, options=IDS)

    assert everything() == before


def test_a_second_import_keeps_to_the_score_sets_scale(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,3\n"), options=ImportOptions(scale=(0, 5)))

    named = ImportOptions(columns=Columns(score="score"))
    outcome = pairs_import(dataset=dataset, path=written(HEADER + "C.,D.,0.5\nE.,F.,7\n"), options=named)

    assert (outcome.scale, outcome.scale_guessed) == ((0.0, 5.0), False)
    assert outcome.errors[0].reason == "the score 7 is outside the scale 0 to 5"


@pytest.mark.parametrize("tried", [True, False])
def test_a_guessed_score_outside_the_score_sets_scale_rejects_no_row(dataset, written, tried: bool) -> None:
    pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,3\n"), options=ImportOptions(scale=(0, 5)))

    path = written(HEADER + "C.,D.,0.5\nE.,F.,7\nG.,H.,-1.5\n")
    outcome = pairs_import(dataset=dataset, path=path, dry_run=tried)

    assert (outcome.added, outcome.rejected, outcome.scores_added) == (3, 0, 1)
    [said] = [guess.reason for guess in outcome.guesses if "outside" in guess.reason]
    assert said.startswith(
        "In “score” 2 scores are outside the scale 0 to 5 of the score set “reference”, first on line 3: 7. "
    )
    if not tried:
        assert PairScore.objects.count() == 2


def facts_of(dataset: Dataset) -> list[tuple[object, ...]]:
    return list(dataset.pairs.values_list("a__text", "source", "split", "scores__value"))


def test_the_same_file_with_a_column_of_splits_moves_its_pairs_and_doubles_none(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("a,b,score\nA.,B.,1\nC.,D.,2\nA.,B.,3\n", "pairs.csv"))
    ids = list(dataset.pairs.values_list("pk", "external_id"))
    path = written("a,b,score,split\nA.,B.,1,train\nC.,D.,2,\nA.,B.,3,dev\n", "pairs.csv")

    first = pairs_import(dataset=dataset, path=path)
    again = pairs_import(dataset=dataset, path=path)

    assert (first.added, first.updated, first.unchanged, first.changes["split"]) == (0, 2, 1, 2)
    assert (again.added, again.updated, again.unchanged) == (0, 0, 3)
    assert facts_of(dataset) == [
        ("A.", "pairs", "train", 1.0),
        ("C.", "pairs", "", 2.0),
        ("A.", "pairs", "dev", 3.0),
    ]
    assert list(dataset.pairs.values_list("pk", "external_id")) == ids


def test_a_row_is_its_pair_whatever_file_and_split_it_came_from(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("a,b\nA.,B.\nC.,D.\nE.,F.\n", "first-train.csv"))

    outcome = pairs_import(
        dataset=dataset, path=written("a,b,split,source\nG.,H.,dev,wire\nA.,B.,test,wire\nC.,D.,,\n", "x.csv")
    )

    assert (outcome.added, outcome.updated, outcome.unchanged) == (1, 1, 1)
    assert [row[2:] for row in outcome.changed] == [
        ("split", "train", "test"),
        ("source", "first-train", "wire"),
    ]
    assert facts_of(dataset)[:2] == [("A.", "wire", "test", None), ("C.", "first-train", "train", None)]


def test_what_only_the_name_of_a_file_says_changes_no_pair(dataset, written) -> None:
    content = "a,b\n" + "".join(f"A {n}.,B {n}.\n" for n in range(9))
    pairs_import(dataset=dataset, path=written(content, "first-train.csv"))
    before = facts_of(dataset)

    outcome = pairs_import(dataset=dataset, path=written(content, "second-dev.csv"))

    assert (outcome.added, outcome.updated, outcome.unchanged, outcome.across_splits) == (0, 0, 9, True)
    assert facts_of(dataset) == before


def test_a_pair_in_the_training_and_the_test_file_of_a_benchmark_stays_in_both(dataset, written) -> None:
    train = written(HEADER + "".join(f"A {n}.,B {n}.,1\n" for n in range(5)), "sts-train.csv")
    test = written(HEADER + "A 0.,B 0.,2\nA 1.,C 1.,3\nA 2.,C 2.,3\n", "sts-test.csv")
    for path in (train, test):
        named = ImportOptions(source="sts", split=path.stem.removeprefix("sts-"), scale=(0, 5))
        pairs_import(dataset=dataset, path=path, options=named)

    before = facts_of(dataset)
    again = [pairs_import(dataset=dataset, path=path) for path in (test, train)]

    assert before.count(("A 0.", "sts", "train", 1.0)) == before.count(("A 0.", "sts", "test", 2.0)) == 1
    assert [(outcome.added, outcome.updated) for outcome in again] == [(0, 0), (0, 0)]
    assert facts_of(dataset) == before


def test_a_file_that_is_said_to_be_another_split_now_moves_its_pairs(dataset, written) -> None:
    path = written(many(6))
    pairs_import(dataset=dataset, path=path, options=ImportOptions(split="train"))

    moved = pairs_import(dataset=dataset, path=path, options=ImportOptions(split="dev"))

    assert (moved.added, moved.changes["split"], Pair.objects.filter(split="dev").count()) == (0, 6, 6)


def test_a_person_may_say_that_rows_of_another_split_are_new_pairs(dataset, written) -> None:
    path = written(many(6))
    pairs_import(dataset=dataset, path=path, options=ImportOptions(split="train"))

    added = pairs_import(dataset=dataset, path=path, options=ImportOptions(split="dev", across_splits=False))

    assert (added.added, added.duplicates["across_splits"], Pair.objects.count()) == (6, 6, 12)


def test_pairs_of_runs_are_only_those_of_their_own_rows(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("id,source,a,b\ng1,run 1,A.,B.\n", "x.csv"))
    Pair.objects.update(origin=Pair.Origin.GENERATED)

    stranger = pairs_import(dataset=dataset, path=written("a,b\nA.,B.\n", "y.csv"))
    own = pairs_import(dataset=dataset, path=written("id,source,split,a,b\ng1,run 1,test,A.,B.\n", "x.csv"))

    assert (stranger.added, own.added, own.changes["split"]) == (1, 0, 1)
    assert Pair.objects.get(origin=Pair.Origin.GENERATED).split == "test"


def test_a_move_onto_the_id_of_another_pair_is_refused(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("id,split,a,b\n1,train,A.,B.\n1,dev,C.,D.\n", "x.csv"))

    outcome = pairs_import(dataset=dataset, path=written("split,a,b\ndev,A.,B.\ntest,C.,D.\n", "x.csv"))

    assert (outcome.updated, outcome.rejected) == (1, 1)
    assert outcome.errors[0].reason.startswith(
        'another pair has the id "1" in the source "x" and the split "dev"'
    )


def test_an_export_imported_again_is_what_is_there(dataset, written, tmp_path) -> None:
    pairs_import(dataset=dataset, path=written(THREE + "Rome fell.,Rome fell.,4\n"))
    pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv", score_set="reference")

    outcome = pairs_import(dataset=dataset, path=tmp_path / "out.csv")

    assert (outcome.added, outcome.updated, outcome.unchanged) == (0, 0, 4)


def test_a_large_update_that_is_stopped_goes_on_where_it_was(dataset, written, chunks_of_two) -> None:
    pairs_import(dataset=dataset, path=written(many(9)), options=ImportOptions(scale=(0, 5)))
    path = written(many(9).replace(",0\n", ",5\n").replace(",1\n", ",4.5\n"))

    def stop(done: int, total: int, message: str) -> None:
        if done == 4:
            raise InterruptedError("stopped")

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=path, report=stop)
    outcome = pairs_import(dataset=dataset, path=path)

    assert (outcome.added, outcome.updated, outcome.unchanged) == (0, 2, 7)
    assert list(PairScore.objects.order_by("pk").values_list("value", flat=True)) == [
        5,
        4.5,
        2,
        3,
        4,
        5,
        4.5,
        2,
        3,
    ]


def test_all_rows_or_none_if_a_person_says_so(dataset, written, tmp_path) -> None:
    path, errors = written(THREE + "A.,,1\nB.,,1\n"), tmp_path / "errors.csv"

    with pytest.raises(
        UserError, match=r"2 rows of news-train\.csv cannot be imported.*The first is on line 5"
    ):
        pairs_import(dataset=dataset, path=path, options=ImportOptions(strict=True), errors=errors)
    assert not Pair.objects.exists()
    assert errors.read_text().count("\n") == 3

    clean = pairs_import(dataset=dataset, path=written(THREE), options=ImportOptions(strict=True))
    assert (clean.added, clean.duplicates["mirrored"]) == (3, 1)


def test_rejected_rows_are_corrected_and_imported_where_they_belong(dataset, written, tmp_path) -> None:
    errors = tmp_path / "errors.csv"
    path = written(THREE + '"So, so.",B.,many\nX.\n')
    pairs_import(
        dataset=dataset, path=path, errors=errors, options=ImportOptions(columns=Columns(score="score"))
    )
    rows = list(csv.reader(StringIO(errors.read_text(encoding="utf-8"))))
    assert [row[1][:20] for row in rows[1:]] == ['the score "many" is ', "the row has 1 cell, "]

    rows[1][-1] = "2"
    with errors.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([rows[0], rows[1]])
    outcome = pairs_import(dataset=dataset, path=errors)

    assert (outcome.added, outcome.rejected) == (1, 0)
    assert facts_of(dataset)[-1] == ("So, so.", "news-train", "train", 2.0)


# What cannot be imported


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ImportOptions(scale=(0, 10)), "“reference” has the scale 0 to 5"),
        (ImportOptions(score_set="people: campaign 1"), "was not imported"),
        (ImportOptions(score_set="x" * 101), "Name: Ensure this value has at most 100 characters"),
        (ImportOptions(score_set="new", scale=(5, 5)), "The scale 5 to 5 has one end only"),
        (ImportOptions(columns=Columns(a="left", b="right")), 'no column "left"'),
        (ImportOptions(split="x" * 21), "The split “xxxxxxxxxxxxxxxxxxxx…” is too long"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_writes_nothing(dataset, written, options, message) -> None:
    pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,3\n"), options=ImportOptions(scale=(0, 5)))
    ScoreSet.objects.create(
        dataset=dataset, name="people: campaign 1", kind="human", low=0, high=1, campaign_ref=1
    )
    before = everything()

    with pytest.raises(UserError, match=message):
        pairs_import(dataset=dataset, path=written(THREE), options=options)

    assert everything() == before


def test_scores_that_no_common_scale_holds_need_a_named_one(dataset, written) -> None:
    with pytest.raises(UserError, match="range from -3 to 250, and no common scale includes them all"):
        pairs_import(dataset=dataset, path=written(HEADER + "A.,B.,-3\nC.,D.,250\n"))

    assert not Pair.objects.exists()


def test_a_file_without_one_good_row_is_an_error(dataset, written) -> None:
    with pytest.raises(
        UserError, match=r"None of the 2 rows of news-train\.csv can be imported. Line 2: sentence a"
    ):
        pairs_import(dataset=dataset, path=written(HEADER + ",B.,1\n,D.,2\n"))

    assert everything()[1:] == [[]] * 5


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone can be told how large it may grow")
@pytest.mark.django_db(transaction=True)
def test_a_full_disk_is_one_sentence_and_nothing_is_left(dataset, written) -> None:
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # other tests may have left pages that are free
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0] + 5}")
    try:
        with pytest.raises(
            UserError, match=r"The disk of the database is full. Free some space and import the file again\."
        ):
            pairs_import(dataset=dataset, path=written(many(3000)))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")

    assert not Pair.objects.exists()
    assert not Sentence.objects.exists()


def test_another_fault_of_the_database_is_no_full_disk() -> None:
    with pytest.raises(OperationalError), refusals.file_errors_shown():
        raise OperationalError("locked") from sqlite3.OperationalError("database is locked")


# Dry runs


def test_a_dry_run_writes_nothing(written, db) -> None:
    before = everything()

    outcome = pairs_import(dataset=Dataset(slug="new", name="New"), path=written(THREE), dry_run=True)

    assert outcome.added == 3
    assert everything() == before


@pytest.mark.parametrize(
    "second", [THREE, HEADER + "Rome fell.,Rome fell.,4\nRome fell.,Rome fell.,4\nX.,Y.,1\n"]
)
def test_a_dry_run_foretells_the_import(dataset, written, second: str) -> None:
    pairs_import(dataset=dataset, path=written(THREE))
    path = written(second)

    foretold = pairs_import(dataset=dataset, path=path, dry_run=True).as_json()
    came = pairs_import(dataset=dataset, path=path).as_json()

    assert foretold | {"dry_run": False, "leaks": None} == came


# Duplicates


def test_duplicates_are_kept_and_counted(dataset, written) -> None:
    pairs_import(dataset=dataset, path=written("a,b\nA.,B.\nC.,D.\nD.,C.\nA.,B.\n", "x-train.csv"))

    outcome = pairs_import(dataset=dataset, path=written("a,b\nB.,A.\nC.,D.\nE.,F.\nE.,F.\n", "x-test.csv"))

    assert outcome.added == 4
    assert outcome.duplicates == {"within_file": 1, "in_dataset": 1, "mirrored": 2, "across_splits": 2}


def test_a_files_own_pairs_are_no_duplicates_of_the_dataset(dataset, written) -> None:
    path = written("a,b\nA.,B.\nA.,B.\n")
    first = pairs_import(dataset=dataset, path=path)

    second = pairs_import(dataset=dataset, path=path)

    assert first.duplicates == second.duplicates
    assert (second.duplicates["within_file"], second.duplicates["in_dataset"]) == (1, 0)


def test_the_same_sentences_in_another_dataset_are_no_duplicates(dataset, written) -> None:
    path = written(THREE)
    pairs_import(dataset=dataset, path=path)

    outcome = pairs_import(dataset=Dataset.objects.create(slug="other", name="Other"), path=path)

    assert (outcome.added, outcome.duplicates["in_dataset"]) == (3, 0)


def test_the_stored_pairs_that_a_file_repeats_are_read_once_and_not_for_every_chunk(
    dataset, written, chunks_of_two
) -> None:
    pairs_import(dataset=dataset, path=written("a,b\n" + "A.,B.\n" * 6, "first.csv"))

    with CaptureQueriesContext(connection) as caught:
        outcome = pairs_import(dataset=dataset, path=written("a,b\n" + "A.,B.\n" * 6, "second.csv"))

    looked_up = [query for query in caught.captured_queries if "pair.a_id" in query["sql"]]
    assert (outcome.duplicates["within_file"], outcome.duplicates["in_dataset"]) == (5, 0)
    assert (outcome.added, outcome.unchanged, len(looked_up)) == (0, 6, 1)


# Large files


def test_a_large_file_is_stored_as_a_small_one_is(dataset, written, monkeypatch, chunks_of_two) -> None:
    path = written(many(7) + "Sentence 0.,Sentence 1.,3\n")

    outcome = pairs_import(dataset=dataset, path=path)

    assert (outcome.added, outcome.duplicates["within_file"]) == (8, 1)
    assert Pair.objects.count() == PairScore.objects.count() == 8
    assert Sentence.objects.count() == 8


def test_a_large_import_that_is_stopped_goes_on_where_it_was(dataset, written, chunks_of_two) -> None:
    path = written(many(9))

    def stop(done: int, total: int, message: str) -> None:
        if done == 4:
            raise InterruptedError("stopped")

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=path, report=stop)
    kept = Pair.objects.count()
    outcome = pairs_import(dataset=dataset, path=path)

    assert kept == 4
    assert (outcome.added, outcome.unchanged) == (5, 4)
    assert list(ImportBatch.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "done"]


def test_a_large_file_whose_every_row_contradicts_the_dataset_leaves_no_empty_score_set(
    dataset, written, chunks_of_two
) -> None:
    rows = [f"{n},A {n}.,B {n}.,1\n" for n in range(6)]
    pairs_import(dataset=dataset, path=written("id,a,b,score\n" + "".join(rows)))
    before = everything()[:-1]

    contradicting = written("id,a,b,score\n" + "".join(rows).replace("B", "X"))
    with pytest.raises(UserError, match="None of the 6 rows"):
        pairs_import(dataset=dataset, path=contradicting, options=replace(IDS, score_set="new"))

    assert everything()[:-1] == before
    assert list(ImportBatch.objects.order_by("pk").values_list("state", "rejected")) == [
        ("done", 0),
        ("failed", 6),
    ]


def test_the_score_set_of_a_large_file_is_made_with_its_first_score(dataset, written, chunks_of_two) -> None:
    rows = ["A 0.,B 0.,\n", "A 1.,B 1.,\n", *(f"A {n}.,B {n}.,{n}\n" for n in range(2, 6))]

    outcome = pairs_import(dataset=dataset, path=written("a,b,score\n" + "".join(rows)))

    assert (outcome.added, outcome.scores_added) == (6, 4)
    assert ScoreSet.objects.get().scores.count() == 4


def test_a_small_import_that_is_stopped_leaves_nothing(dataset, written) -> None:
    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError("stopped")

    with pytest.raises(InterruptedError):
        pairs_import(dataset=dataset, path=written(THREE), report=stop)

    assert everything()[1:] == [[]] * 5


def test_progress_is_reported_up_to_the_last_row(dataset, written, chunks_of_two) -> None:
    told: list[tuple[int, int]] = []

    pairs_import(
        dataset=dataset, path=written(many(5)), report=lambda done, total, message: told.append((done, total))
    )

    assert told == [(2, 5), (4, 5), (5, 5)]


def test_the_number_of_queries_does_not_grow_with_the_rows(written, db, monkeypatch) -> None:
    monkeypatch.setattr("curation.exchange.claiming.SECONDS_BETWEEN_BEATS", 3600)

    def queries(number: int) -> list[str]:
        """The beginnings of the statements but for those that add rows."""
        empty = Dataset.objects.create(slug=f"rows-{number}", name="Rows")
        with CaptureQueriesContext(connection) as caught:
            pairs_import(dataset=empty, path=written(many(number)))
        statements = (re.split(r"[('\d]", query["sql"])[0] for query in caught.captured_queries)
        return [statement for statement in statements if not statement.startswith("INSERT")]

    assert queries(20) == queries(900)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_imports_at_once_store_each_pair_once(dataset, written, chunks_of_two) -> None:
    path = written(many(40))
    both_ready = Barrier(2)

    def run_one() -> int:
        both_ready.wait(timeout=60)
        try:
            return pairs_import(dataset=dataset, path=path).added
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        added = [work.result(timeout=120) for work in [pool.submit(run_one), pool.submit(run_one)]]

    assert sum(added) == Pair.objects.count() == PairScore.objects.count() == 40
    assert Sentence.objects.count() == 41


# The command


def run(*arguments: object) -> list[str]:
    out = StringIO()
    call_command("import_pairs", *map(str, arguments), stdout=out)
    return out.getvalue().splitlines()


def test_the_command_says_that_a_dataset_has_no_owner_once_when_it_makes_it(written, db) -> None:
    first = run(written(THREE), "--dataset", "news", "--create")
    again = run(written(THREE), "--dataset", "news", "--create")

    sentence = "news has no owner: only administrators can change it or invite an owner."
    assert [sentence in "\n".join(lines) for lines in (first, again)] == [True, False]


def test_the_dataset_that_the_command_makes_belongs_to_the_owner_that_is_named(written, stranger) -> None:
    lines = run(written(THREE), "--dataset", "news", "--create", "--owner", stranger.username)

    assert "no owner" not in "\n".join(lines)
    dataset = Dataset.objects.get(slug="news")
    assert dataset.memberships.get().role == "owner"
    assert dataset_for(stranger, "news", may="own") == dataset


def test_an_owner_that_does_not_exist_is_refused_and_no_dataset_is_made(written, db) -> None:
    with pytest.raises(CommandError, match="There is no account called “nobody”"):
        run(written(THREE), "--dataset", "news", "--create", "--owner", "nobody")

    assert not Dataset.objects.exists()


def test_the_command_tells_programs_what_came_of_it(written, db) -> None:
    told = json.loads(run(written(THREE), "--dataset", "news", "--create", "--json")[-1])

    guesses = told.pop("guesses")
    assert [(guess["what"], guess["taken"]) for guess in guesses] == [
        ("delimiter", ","),
        ("a", "sentence1"),
        ("b", "sentence2"),
        ("score", "score"),
        ("scale", "0 to 5"),
    ]
    assert all(guess["reason"].endswith(".") for guess in guesses)
    assert told.pop("seconds") >= 0
    assert told == {
        "dataset": "news",
        "rows": 3,
        "added": 3,
        "updated": 0,
        "unchanged": 0,
        "rejected": 0,
        "scores_added": 3,
        "changes": {"split": 0, "source": 0, "subset": 0, "score": 0, "score_added": 0},
        "duplicates": {"within_file": 0, "in_dataset": 0, "mirrored": 1, "across_splits": 0},
        "score_set": "reference",
        "scale": [0.0, 5.0],
        "scale_falls": False,
        "ratings": None,
        "leaks": [],
        "dry_run": False,
    }


def test_the_command_tells_people_what_was_taken_for_granted(written, db) -> None:
    lines = run(written(THREE + "A.,,1\n"), "--dataset", "news", "--create")

    assert "Source of all rows: news-train." in lines
    assert "Split of all rows: train." in lines
    assert "  0 to 5 is the smallest common scale that includes all scores." in lines
    assert any("scale 0 to 5. Use --scale to give another." in line for line in lines)
    assert "Line 5 was rejected: sentence b is empty." in lines
    assert lines[-1] == "news: 4 rows: 3 added, 0 updated, 0 unchanged, 1 rejected."


def test_the_command_says_when_nothing_was_added(written, db) -> None:
    path = written(THREE)
    run(path, "--dataset", "news", "--create")

    assert run(path, "--dataset", "news")[-1].startswith(
        "Nothing was added, because the dataset already contains these pairs."
    )
    with path.open("a") as file:
        file.write("G.,,1\n")
    assert run(path, "--dataset", "news")[-1] == (
        "Nothing was added, because the dataset already contains the other rows. "
        "4 rows: 0 added, 0 updated, 3 unchanged, 1 rejected."
    )


def test_the_command_fails_with_the_most_frequent_reason_if_no_row_can_be_imported(written, db) -> None:
    run(written("id,a,b\n1,A.,B.\n"), "--dataset", "news", "--create")

    with pytest.raises(CommandError) as caught:
        run(written("id,a,b\n1,C.,D.\n"), "--dataset", "news", "--id", "id")

    assert caught.value.returncode == 2
    assert str(caught.value) == (
        'The only row of news-train.csv cannot be imported. Line 2: the id "1" belongs to other sentences in the '
        "same source and split of the dataset; give the file another source, or the row another id."
    )


def test_the_command_writes_rejected_rows_to_a_file(written, tmp_path, db) -> None:
    run(written(THREE + '"A, a.",,1\n'), "--dataset", "news", "--create", "--errors", tmp_path / "errors.csv")

    with (tmp_path / "errors.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [
            ["line", "reason", "source", "split", "sentence1", "sentence2", "score"],
            ["5", "sentence b is empty", "news-train", "train", "A, a.", "", "1"],
        ]


def test_the_rejected_rows_of_a_file_without_a_good_one_are_written_too(written, tmp_path, db) -> None:
    errors = tmp_path / "errors.csv"
    run(written("id,a,b\n1,A.,B.\n"), "--dataset", "news", "--create")

    for content in ("id,a,b\n1,,B.\n2,C.,\n", "id,a,b\n1,C.,D.\n2,E.,\n"):
        with pytest.raises(CommandError, match="None of the 2 rows"):
            run(written(content), "--dataset", "news", "--errors", errors, "--id", "id")
        with errors.open(newline="", encoding="utf-8") as file:
            assert [row[0] for row in csv.reader(file)] == ["line", "2", "3"]


def test_the_command_takes_columns_names_and_a_scale(written, db) -> None:
    path = written("7,A.,B.,50\n8,C.,D.,60\n", "x.csv")
    columns = ["--no-header", "--id", 1, "--a", 2, "--b", 3, "--score", 4]
    names = ["--score-set", "percent", "--source-name", "wire", "--split-name", "dev"]

    run(path, "--dataset", "news", "--create", *columns, *names, "--scale", 0, 200)

    pair = Pair.objects.get(external_id="7")
    assert (pair.a.text, pair.source, pair.split) == ("A.", "wire", "dev")
    assert list(ScoreSet.objects.values_list("name", "low", "high")) == [("percent", 0.0, 200.0)]


def test_the_command_makes_no_dataset_unless_asked(written, db) -> None:
    with pytest.raises(CommandError, match=r"There is no dataset “news”\. Add --create to create it"):
        run(written(THREE), "--dataset", "news")


@pytest.mark.parametrize("content", ["", "a,b\n", "a,b\nA.,\n", "left,right\nA.,B.\n"])
def test_the_command_makes_no_dataset_for_a_file_that_cannot_be_imported(written, db, content: str) -> None:
    with pytest.raises(CommandError) as caught:
        run(written(content), "--dataset", "news", "--create")

    assert caught.value.returncode == 2
    assert not Dataset.objects.exists()


def test_the_command_refuses_a_name_that_no_address_can_hold(written, db) -> None:
    with pytest.raises(CommandError, match="Short name: Enter a valid"):
        run(written(THREE), "--dataset", "my news", "--create")
