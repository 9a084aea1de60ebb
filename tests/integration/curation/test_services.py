"""Datasets, published score sets and uploads."""

import os
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from curation.datasets import services
from curation.datasets.services import ScoredSentence
from curation.exchange import claiming, importing, uploads
from curation.exchange.importing import ImportOptions
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import ClaimLost
from curation.models import Dataset, ImportBatch, Pair, PairScore, ScoreSet
from tests.factories import DatasetFactory, PairFactory, ScoreSetFactory, SentenceFactory

ROWS = b"sentence1,sentence2,score\nRome fell.,Rome fell.,5\nA dog runs.,A cat sleeps.,0.4\nA.,,1\n"


# Datasets


def test_whoever_makes_a_dataset_owns_it(stranger) -> None:
    dataset = services.dataset_create(slug="news", name="News", licence="CC0-1.0", by=stranger)

    assert dataset.memberships.get().role == "owner"
    assert (dataset.created_by, dataset.licence) == (stranger, "CC0-1.0")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"slug": "taken"}, "A dataset with the short name “taken” already exists"),
        ({"slug": "two words"}, "Short name: Enter a valid"),
        ({"language": "English!"}, "Language: Give a BCP-47 tag"),
        ({"name": ""}, "Name: This field cannot be blank"),
        ({"source_address": "not an address"}, "Source address: Enter a valid URL"),
    ],
)
def test_a_dataset_that_cannot_be_is_one_sentence(db, facts, message: str) -> None:
    DatasetFactory(slug="taken")

    with pytest.raises(UserError, match=message):
        services.dataset_create(**{"slug": "news", "name": "News", **facts})

    assert Dataset.objects.count() == 1


def test_what_a_dataset_says_about_itself_can_be_changed(dataset) -> None:
    services.dataset_change(dataset=dataset, name="Other", licence="MIT")

    dataset.refresh_from_db()
    assert (dataset.name, dataset.licence) == ("Other", "MIT")


def test_a_wrong_change_is_one_sentence_and_changes_nothing(dataset) -> None:
    with pytest.raises(UserError, match="Language: Give a BCP-47 tag"):
        services.dataset_change(dataset=dataset, language="?", name="Other")

    assert Dataset.objects.get().name != "Other"


def test_a_short_name_never_changes(dataset) -> None:
    with pytest.raises(TypeError, match="slug cannot be changed"):
        services.dataset_change(dataset=dataset, slug="other")


def test_an_archived_dataset_can_be_restored(dataset) -> None:
    services.dataset_archive(dataset=dataset)
    archived = Dataset.objects.get().archived
    services.dataset_restore(dataset=dataset)

    assert (archived, Dataset.objects.get().archived) == (True, False)


# Published score sets


def publish(dataset, scores, **changes) -> ScoreSet:
    asked = {
        "dataset": dataset,
        "name": "people: campaign 3, counting",
        "kind": "human",
        "low": 0.0,
        "high": 1.0,
        "method": "counting",
        "parameters": {"reliability": {"spearman_mean": 0.8}},
        "scores": scores,
        "campaign_ref": 3,
    }
    return services.score_set_publish(**{**asked, **changes})


def test_a_score_set_is_stored_with_its_scores(dataset) -> None:
    one, two = PairFactory(dataset=dataset), PairFactory(dataset=dataset)

    made = publish(dataset, iter([(one.pk, 0.75, 0.1, 8), (two.pk, 0.0, None, None)]))

    assert list(
        made.scores.order_by("pair").values_list("pair", "value", "standard_error", "judgements")
    ) == [
        (one.pk, 0.75, 0.1, 8),
        (two.pk, 0.0, None, None),
    ]
    assert (made.kind, made.campaign_ref, made.parameters["reliability"]) == (
        "human",
        3,
        {"spearman_mean": 0.8},
    )


@pytest.mark.parametrize(
    ("scores", "changes", "message"),
    [
        ([(0, 0.5)], {"name": "taken"}, "has a score set “taken”, and a score set never changes"),
        ([(0, 1.5)], {}, "The score 1.5 of pair .* is outside the scale 0 to 1"),
        ([(0, float("nan"))], {}, "The score nan of pair .* is outside the scale 0 to 1"),
        ([(0, 0.5), (0, 0.5)], {}, "A pair has two scores"),
        ([(0, 0.5), (1, 0.5)], {}, "1 of the scored pairs do not belong to the dataset"),
        ([(0, 0.5)], {"low": 1.0, "high": 0.0}, "The scale 1 to 0 does not rise"),
        ([(0, 0.5)], {"kind": "feeling"}, "Kind: Value 'feeling' is not a valid choice"),
    ],
)
def test_a_score_set_that_cannot_be_is_one_sentence_and_stores_nothing(
    dataset, scores, changes, message
) -> None:
    ScoreSetFactory(dataset=dataset, name="taken")
    pairs = [PairFactory(dataset=dataset), PairFactory()]

    with pytest.raises(UserError, match=message):
        publish(dataset, [(pairs[place].pk, value, None, None) for place, value in scores], **changes)

    assert not PairScore.objects.exists()
    assert ScoreSet.objects.count() == 1


def test_sentences_are_scored_beside_pairs(dataset) -> None:
    pair = PairFactory(dataset=dataset)
    scores = [ScoredSentence(pair.a_id, 0.9, -1.0, 1.2, 0), ScoredSentence(pair.b_id, 0.1)]

    made = publish(dataset, [(pair.pk, 0.1, None, None)], sentence_scores=iter(scores), kind="realism")

    fields = ("sentence", "value", "logit_machine", "logit_human", "fold")
    assert list(made.sentence_scores.order_by("sentence").values_list(*fields)) == [
        (pair.a_id, 0.9, -1.0, 1.2, 0),
        (pair.b_id, 0.1, None, None, None),
    ]


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([(0, 1.5)], "The score 1.5 of sentence .* is outside the scale 0 to 1"),
        ([(0, float("nan"))], "The score nan of sentence .* is outside the scale"),
        ([(0, 0.5, float("nan"), 1.0)], "A logit of sentence .* is not a finite number"),
        ([(0, 0.5, 1.0, float("inf"))], "A logit of sentence .* is not a finite number"),
        ([(0, 0.5, 1.0, 1.0, -1)], "The fold of sentence .* is negative"),
        ([(0, 0.5), (0, 0.5)], "A sentence has two scores"),
        ([(0, 0.5), (1, 0.5)], "1 of the scored sentences do not belong to the dataset"),
    ],
)
def test_a_sentence_that_cannot_be_scored_is_one_sentence_and_nothing_is_stored(
    dataset, scores, message
) -> None:
    sentences = [SentenceFactory(dataset=dataset), SentenceFactory()]
    pair = PairFactory(dataset=dataset)
    asked = [ScoredSentence(sentences[place].pk, *rest) for place, *rest in scores]

    with pytest.raises(UserError, match=message):
        publish(dataset, [(pair.pk, 0.5, None, None)], sentence_scores=asked)

    assert not ScoreSet.objects.exists()
    assert not PairScore.objects.exists()


def test_publishing_many_scores_takes_few_queries(dataset) -> None:
    pairs = [PairFactory(dataset=dataset) for _ in range(60)]

    with CaptureQueriesContext(connection) as caught:
        publish(dataset, [(pair.pk, 0.5, None, None) for pair in pairs])

    assert len(caught) < 12


# Uploads


@pytest.fixture
def batch(dataset, owner) -> ImportBatch:
    file = SimpleUploadedFile("../my news-train.csv", ROWS)
    return uploads.import_upload(dataset=dataset, files=[file], by=owner)


def test_an_upload_keeps_its_bytes_and_its_name(batch, home, owner) -> None:
    assert (batch.file_name, batch.state, batch.created_by) == ("my_news-train.csv", "uploaded", owner)
    assert (home / batch.path).read_bytes() == ROWS
    assert batch.path.startswith("imports/")


def test_an_upload_that_breaks_off_leaves_nothing(dataset, home) -> None:
    class Broken(SimpleUploadedFile):
        def chunks(self, chunk_size: int | None = None):
            yield b"half"
            raise ConnectionError

    with pytest.raises(ConnectionError):
        uploads.import_upload(dataset=dataset, files=[Broken("x.csv", b"")], by=None)

    assert list((home / "imports").iterdir()) == []
    assert not ImportBatch.objects.exists()


def test_a_check_foretells_the_import_and_writes_no_pair(batch) -> None:
    outcome = uploads.import_check(batch=batch, options=ImportOptions(source="wire"))

    batch.refresh_from_db()
    assert not Pair.objects.exists()
    assert (batch.state, batch.rows, batch.added, batch.rejected) == ("uploaded", 3, 2, 1)
    assert batch.report["scale"] == [0.0, 5.0]
    assert outcome.errors[0].line == 4


def test_an_import_does_as_it_was_checked_and_forgets_the_upload(batch, home) -> None:
    uploads.import_check(batch=batch, options=ImportOptions(source="wire", scale=(0, 10)))

    uploads.import_apply(batch=ImportBatch.objects.get())

    batch.refresh_from_db()
    assert set(Pair.objects.values_list("source", "split")) == {("wire", "train")}
    assert (ScoreSet.objects.get().high, batch.state, batch.added) == (10.0, "done", 2)
    assert not (home / batch.path).exists()


def test_rejected_rows_can_be_fetched_before_and_after(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    before = uploads.import_errors_path(batch)
    told = before.read_text() if before else ""

    uploads.import_apply(batch=batch)

    after = uploads.import_errors_path(ImportBatch.objects.get())
    assert told == (
        "line,reason,source,split,sentence1,sentence2,score\n4,sentence b is empty,my_news-train,train,A.,,1\n"
    )
    assert after is not None
    assert after.read_text() == told


def test_a_file_without_bad_rows_has_none_to_fetch(dataset) -> None:
    batch = uploads.import_upload(
        dataset=dataset, files=[SimpleUploadedFile("x.csv", b"a,b\nA.,B.\n")], by=None
    )
    uploads.import_check(batch=batch, options=ImportOptions())

    assert uploads.import_errors_path(batch) is None


def test_an_upload_is_imported_once(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    uploads.import_apply(batch=batch)

    with pytest.raises(UserError, match=r"my_news-train\.csv has been imported"):
        uploads.import_apply(batch=batch)
    with pytest.raises(UserError, match="upload it again"):
        uploads.import_check(batch=batch, options=ImportOptions())
    with pytest.raises(UserError, match="has been imported or is being imported, so it cannot be discarded"):
        uploads.import_discard(batch=batch)


def test_an_upload_that_was_not_checked_is_not_imported(batch) -> None:
    with pytest.raises(UserError, match="its columns were not checked"):
        uploads.import_apply(batch=batch)


def test_an_import_that_failed_can_be_tried_again(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())

    def stop(done: int, total: int, message: str) -> None:
        raise ClaimLost("Run 7 was stopped.")

    with pytest.raises(ClaimLost):
        uploads.import_apply(batch=batch, report=stop)
    batch.refresh_from_db()
    failed = (batch.state, batch.report["error"], batch.report["added"])
    uploads.import_apply(batch=batch)

    batch.refresh_from_db()
    assert failed == ("failed", "Run 7 was stopped.", 2)
    assert (batch.state, "error" in batch.report, Pair.objects.count()) == ("done", False, 2)


def test_what_an_unexpected_error_says_is_not_shown_as_the_failure_of_an_import(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())

    def fail(done: int, total: int, message: str) -> None:
        raise KeyError("secret")

    with pytest.raises(KeyError):
        uploads.import_apply(batch=batch, report=fail)

    batch.refresh_from_db()
    assert batch.report["error"] == (
        "An unexpected error stopped the import; the log of the site describes it. Import the file again."
    )


def test_an_import_whose_file_is_gone_has_failed(batch, home) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    (home / batch.path).unlink()

    with pytest.raises(UserError, match="cannot be read: No such file or directory"):
        uploads.import_apply(batch=batch)

    batch.refresh_from_db()
    assert batch.state == "failed"


def test_only_a_run_that_goes_on_may_take_up_a_running_import(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    ImportBatch.objects.update(state="running", heartbeat_at=now())

    with pytest.raises(UserError, match="has been imported"):
        uploads.import_apply(batch=batch)
    outcome = uploads.import_apply(batch=batch, again=True)

    assert outcome.added == 2


def test_a_discarded_upload_leaves_nothing(batch, home) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())

    uploads.import_discard(batch=batch)

    assert not ImportBatch.objects.exists()
    assert list((home / "imports").iterdir()) == []


def test_options_survive_being_stored() -> None:
    options = ImportOptions(
        header=False, delimiter=";", scale=(0.0, 5.0), score_set="x", source="", split="dev"
    )

    assert ImportOptions.from_json(options.as_json()) == options


# Imports that were interrupted


def killed_long_ago(batch: ImportBatch) -> None:
    ImportBatch.objects.filter(pk=batch.pk).update(state="running", heartbeat_at=now() - timedelta(hours=1))


def test_an_import_whose_process_was_killed_can_be_applied_again(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    killed_long_ago(batch)

    outcome = uploads.import_apply(batch=batch)

    batch.refresh_from_db()
    assert (outcome.added, batch.state) == (2, "done")


def test_an_import_whose_process_was_killed_can_be_discarded(batch, home) -> None:
    killed_long_ago(batch)

    uploads.import_discard(batch=batch)

    assert not ImportBatch.objects.exists()
    assert list((home / "imports").iterdir()) == []


def test_an_import_that_lives_is_neither_discarded_nor_checked(batch) -> None:
    ImportBatch.objects.update(state="running", heartbeat_at=now())

    with pytest.raises(UserError, match="is being imported"):
        uploads.import_discard(batch=batch)
    with pytest.raises(UserError, match="is being imported"):
        uploads.import_check(batch=batch, options=ImportOptions())


def test_an_importer_that_another_took_over_writes_nothing_more(batch) -> None:
    uploads.import_check(batch=batch, options=ImportOptions())
    paused = ImportBatch.objects.get()
    claiming.import_claim(batch=paused, again=False)
    killed_long_ago(batch)
    claiming.import_claim(batch=batch, again=False)

    with pytest.raises(UserError, match="Another process continued the import"):
        importing.pairs_import(
            dataset=paused.dataset, path=uploads.import_path(paused), batch=paused, options=ImportOptions()
        )

    assert not Pair.objects.exists()
    assert ImportBatch.objects.get().state == "running"


def test_what_an_interrupted_import_added_is_counted_once_more_by_none(batch, monkeypatch) -> None:
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 1)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 1)
    uploads.import_check(batch=batch, options=ImportOptions())

    def die(done: int, total: int, message: str) -> None:
        if done == 1 and total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        uploads.import_apply(batch=batch, report=die)
    half = Pair.objects.count()
    killed_long_ago(batch)
    outcome = uploads.import_apply(batch=batch)

    batch.refresh_from_db()
    assert half == 1
    assert (outcome.added, outcome.unchanged) == (batch.added, batch.unchanged) == (2, 0)
    assert batch.report["added"] == 2


def test_discarding_what_a_command_left_removes_no_file(dataset, home) -> None:
    batch = ImportBatch.objects.create(dataset=dataset, file_name="pairs.csv", state="failed")
    beside = home.parent / f"{home.name}-beside"
    beside.write_text("not ours")

    uploads.import_discard(batch=batch)

    assert home.is_dir()
    assert beside.read_text() == "not ours"


def test_a_command_that_imports_a_file_again_leaves_no_import_that_seems_to_go_on(
    dataset, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 1)
    path = tmp_path / "pairs.csv"
    path.write_text("a,b\nA.,B.\nC.,D.\n")

    def die(done: int, total: int, message: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        importing.pairs_import(dataset=dataset, path=path, report=die)
    left = ImportBatch.objects.get().state
    importing.pairs_import(dataset=dataset, path=path)

    assert left == "running"
    assert list(ImportBatch.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "done"]


def test_what_killed_processes_left_is_removed_and_what_is_needed_stays(batch, home) -> None:
    folder = (home / batch.path).parent
    part = folder.parent / f".{folder.name}.errors.csv.abc.part"
    part.write_text("line,reason,row")
    orphan = folder.parent / "orphan"
    orphan.mkdir()
    long_ago = (now() - timedelta(hours=2)).timestamp()
    for place in (orphan, folder):
        os.utime(place, (long_ago, long_ago))

    uploads.imports_tidy(now=now)

    assert sorted(folder.parent.iterdir()) == [folder]
    assert (home / batch.path).is_file()


# Large files


def test_a_large_file_is_not_checked_at_once_and_its_columns_are_kept(batch, monkeypatch) -> None:
    monkeypatch.setattr(uploads, "CHECK_AT_ONCE_BYTES", 10)

    checked = uploads.import_check_at_once(batch=batch, options=ImportOptions(source="wire"))

    batch.refresh_from_db()
    assert not checked
    assert (batch.mapping["source"], batch.report, batch.checked) == ("wire", {}, False)


def test_a_file_of_many_rows_is_not_checked_at_once(batch, monkeypatch) -> None:
    monkeypatch.setattr(uploads, "AT_ONCE_ROWS", 1)

    assert not uploads.import_check_at_once(batch=batch, options=ImportOptions())


def test_an_upload_whose_check_waits_for_a_run_is_not_imported(batch, monkeypatch) -> None:
    monkeypatch.setattr(uploads, "CHECK_AT_ONCE_BYTES", 10)
    uploads.import_check_at_once(batch=batch, options=ImportOptions())

    with pytest.raises(UserError, match="its columns were not checked"):
        uploads.import_apply(batch=batch)
