"""Many rows into a table at once."""

import itertools
import threading

import pytest
from django.db import IntegrityError, connection

from curation.datasets.rows import bulk_writing, numbers_reserve, prepared_meanwhile, rows_add, sought
from curation.datasets.word_index import WAITING_MOST_MB
from curation.models import Sentence
from tests.factories import SentenceFactory

SETTINGS = ("cache_size", "wal_autocheckpoint", "synchronous")


def settings_of_sqlite() -> dict[str, int]:
    with connection.cursor() as cursor:
        return {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in SETTINGS}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone has such settings")
@pytest.mark.django_db(transaction=True)
def test_sqlite_waits_for_the_disk_again_after_bulk_writing_even_when_it_fails() -> None:
    with connection.cursor() as cursor:
        of_the_tests = cursor.execute("PRAGMA synchronous").fetchone()[0]
        cursor.execute("PRAGMA synchronous = FULL")
    before, within = settings_of_sqlite(), {}

    def fails() -> None:
        with bulk_writing():
            within.update(settings_of_sqlite())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    after = settings_of_sqlite()
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA synchronous = {of_the_tests}")
    assert (within["synchronous"], within["cache_size"]) == (1, -327_680)
    assert (before["synchronous"], after) == (2, before)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL alone has this setting")
@pytest.mark.django_db(transaction=True)
def test_postgresql_waits_for_the_disk_again_after_bulk_writing_even_when_it_fails() -> None:
    def setting() -> str:
        with connection.cursor() as cursor:
            return cursor.execute("SHOW synchronous_commit").fetchone()[0]

    before, within = setting(), []

    def fails() -> None:
        with bulk_writing():
            within.append(setting())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()

    assert (within, setting()) == (["off"], before)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL alone has an index of words")
@pytest.mark.django_db(transaction=True)
def test_words_of_sentences_that_are_written_in_bulk_wait_for_no_merge_afterwards() -> None:
    def value(sql: str) -> str | int:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()[0]

    dataset = SentenceFactory().dataset
    limit, merge = (
        "SHOW gin_pending_list_limit",
        "SELECT gin_clean_pending_list('sentence_by_words'::regclass)",
    )
    before = value(limit)

    def write(kind: str) -> None:
        texts = [(f"Sentence {number} of {kind}.", f"{kind}-{number}") for number in range(500)]
        shared = {"dataset_id": dataset.pk}
        rows_add(Sentence, shared=shared, columns=["text", "key"], rows=texts)

    with bulk_writing():
        write("first")
        within = value(limit)
    left = value(merge)
    write("second")

    assert (within, value(limit)) == (f"{WAITING_MOST_MB}MB", before)
    assert left == 0
    assert value(merge) > 0  # which it says of rows that were written in another way
    assert not [each for each in threading.enumerate() if each.name == "words merged meanwhile"]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL alone has an index of words")
@pytest.mark.django_db(transaction=True)
def test_bulk_writing_goes_on_where_the_database_lets_nobody_else_merge(monkeypatch) -> None:
    monkeypatch.setattr("curation.datasets.word_index.INDEX", "an_index_that_is_missing")

    with bulk_writing():
        made = SentenceFactory(text="A sentence.")

    assert Sentence.objects.get() == made


@pytest.mark.django_db
def test_rows_are_found_by_any_text_of_many_in_their_dataset_alone() -> None:
    texts = ['a "quoted" word', "back\\slash", "{braces, and commas}", "مرحبا 🙂", "NULL", ""]
    there = [SentenceFactory(text="One.", key=text) for text in texts]
    dataset = there[0].dataset
    Sentence.objects.filter(pk__in=[one.pk for one in there]).update(dataset=dataset)
    SentenceFactory(text="Of another dataset.", key="NULL")

    with connection.cursor() as cursor:
        cursor.execute(
            *sought(
                "curation_sentence",
                ["key", "id"],
                by="key",
                among=[*texts, "none"],
                within={"dataset_id": dataset.pk},
            )
        )
        assert sorted(cursor.fetchall()) == sorted((one.key, one.pk) for one in there)


@pytest.mark.django_db
def test_within_a_transaction_no_setting_is_changed() -> None:
    with bulk_writing():
        SentenceFactory(text="A sentence.")

    assert Sentence.objects.get().text == "A sentence."


@pytest.mark.django_db(transaction=True)
def test_all_rows_are_added_or_none() -> None:
    there = SentenceFactory(text="A sentence.")

    with pytest.raises(IntegrityError):
        rows_add(
            Sentence,
            shared={"dataset_id": there.dataset_id},
            columns=["text", "key"],
            rows=[("New.", "new"), (there.text, there.key)],
        )

    assert Sentence.objects.get() == there


@pytest.mark.django_db
def test_reserved_numbers_are_new_and_are_given_once() -> None:
    there = SentenceFactory().pk

    first = numbers_reserve(Sentence, 3)
    Sentence.objects.create(pk=first[-1], dataset=SentenceFactory().dataset, text="Taken.", key="k")

    assert len(set(first)) == 3
    assert min(first) > there
    assert numbers_reserve(Sentence, 0) == []


@pytest.mark.django_db
def test_parts_come_in_their_order_whoever_prepares_them() -> None:
    threads = set()

    def parts():
        for number in range(5):
            threads.add(threading.current_thread())
            yield [number]

    found = list(itertools.chain.from_iterable(prepared_meanwhile(parts())))

    assert found == [0, 1, 2, 3, 4]
    assert (threading.current_thread() in threads) == (connection.vendor == "sqlite")


@pytest.mark.django_db
def test_an_error_of_a_part_reaches_the_caller_after_the_parts_before_it() -> None:
    def parts():
        yield "first"
        raise ValueError("broken off")

    seen = []
    with pytest.raises(ValueError, match="broken off"):
        seen.extend(prepared_meanwhile(parts()))
    assert seen in ([], ["first"])
