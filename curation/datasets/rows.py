"""Many rows into a table, without a model instance for each."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from django.db import connection, models, transaction
from django.utils.timezone import now
from numpy.typing import NDArray

from curation.datasets.word_index import words_merged_meanwhile

Item = TypeVar("Item")
# At most 320 MB of pages, in which the indexes of a million pairs have room; 256 MB of the log before it is written
# back, so that a page that changed often is written once; no waiting for the disk at the end of each transaction.
_BULK_PRAGMAS = {"cache_size": -327_680, "wal_autocheckpoint": 64_000, "synchronous": 1}


def rows_add(
    model: type[models.Model],
    *,
    shared: Mapping[str, Any],
    columns: Sequence[str],
    rows: Iterable[Sequence[str | int | float | None]],
) -> None:
    """Insert rows. shared: values that all of them have; columns: the fields of each row's values, in their order.

    Fields are named by their attribute (`pair_id`). What is named in neither has the field's default. The values of
    rows are given to the database as they are. Nothing is validated but by the database, and no signal is sent.
    All of them are stored or none.
    """
    fields = {field.attname: field for field in model._meta.concrete_fields}
    values = {
        name: now() if getattr(field, "auto_now_add", False) else shared.get(name, field.get_default())
        for name, field in fields.items()
        if not field.primary_key and name not in columns
    }
    names = [*columns, *values]
    quoted = ", ".join(connection.ops.quote_name(fields[name].column or "") for name in names)
    places = ", ".join(["%s"] * len(names))
    table = connection.ops.quote_name(model._meta.db_table)
    rest = tuple(fields[name].get_db_prep_save(value, connection) for name, value in values.items())
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} ({quoted}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row((*row, *rest))
            return
        cursor.executemany(
            f"INSERT INTO {table} ({quoted}) VALUES ({places})",  # noqa: S608 - names of the model alone
            [(*row, *rest) for row in rows],
        )


def rows_change(
    model: type[models.Model], *, columns: Sequence[str], rows: Iterable[Sequence[str | int | float | None]]
) -> None:
    """Change rows: each is the values of the columns, and then the number of the row that gets them. All or none."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    names = ", ".join(f"{connection.ops.quote_name(fields[name].column or '')} = %s" for name in columns)
    table = connection.ops.quote_name(model._meta.db_table)
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {table} SET {names} WHERE id = %s", list(rows))  # noqa: S608 - names of the model alone


def datasets_counted(*tables: type[models.Model]) -> None:
    """Have PostgreSQL count how the rows of these tables are spread over datasets. Elsewhere nothing happens.

    A dataset that its statistics do not know yet counts as empty there, so that each sentence of it would be sought by
    reading all of the dataset: an import grew slower with each part, until autovacuum came by a minute later.
    """
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for model in tables:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(model._meta.db_table)} (dataset_id)")


def numbers_reserve(model: type[models.Model], count: int) -> list[int]:
    """Numbers for rows that are about to be added, so that nobody need ask for them afterwards.

    Call it in a transaction. On SQLite that is the only one that writes; on PostgreSQL the sequence gives each once.
    """
    if not count:
        return []
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The name of the sequence is looked up once: it would be for each number, inside the call.
            sequence = """
                SELECT nextval(sequence.name) FROM generate_series(1, %s),
                    (SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name OFFSET 0) AS sequence
            """
            cursor.execute(sequence, [count, table])
            return [number for (number,) in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
    return list(range(last + 1, last + 1 + count))


@contextmanager
def bulk_writing() -> Iterator[None]:
    """For as long as very many rows are written, wait for the disk less often; SQLite also takes more memory, and
    PostgreSQL another connection (`words_merged_meanwhile`).

    Keys of sentences are spread over their whole index, so that each chunk touches almost every page of it. With
    SQLite's own 2 MB, a page would be read from the disk for each key. A power cut may undo the last transactions
    of this connection, whole ones, so use it for work that goes on by itself where the database says it stopped. What
    other connections save is not affected: a transaction that waits for the disk waits for all before it.
    """
    if connection.in_atomic_block:  # that transaction decides
        yield
        return
    with _settings_of_sqlite() if connection.vendor == "sqlite" else _settings_of_postgresql():
        yield


@contextmanager
def _settings_of_sqlite() -> Iterator[None]:
    with connection.cursor() as cursor:
        before = {name: cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in _BULK_PRAGMAS}
        for name, value in _BULK_PRAGMAS.items():
            cursor.execute(f"PRAGMA {name} = {value}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            for name, value in before.items():
                cursor.execute(f"PRAGMA {name} = {value}")
            cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")  # from here on, all of it is on the disk


@contextmanager
def _settings_of_postgresql() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    try:
        with words_merged_meanwhile():
            yield
    finally:
        # A lost connection has lost the setting too, and the error that is on its way says what happened.
        if connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("RESET synchronous_commit")
                # A record of the log that is waited for, and with it all before: from here on, it is on the disk.
                cursor.execute("SELECT pg_logical_emit_message(true, 'semblance', 'written')")


def sought(
    table: str, columns: Sequence[str], *, by: str, among: Sequence[str], within: Mapping[str, int]
) -> tuple[str, list[Any]]:
    """A query, with its parameters, for the rows whose column `by` has one of very many texts, through the index of
    `within` and `by`.

    A list of thousands of parameters costs more to write than to answer, so the texts are one parameter. On PostgreSQL
    each is looked up by itself: OFFSET 0 keeps the inner query from being joined in another way. While a table grows
    faster than its statistics, the planner takes a dataset for a small part of it, and would read all of the dataset.
    """
    names = ", ".join(f"one.{column}" for column in columns)
    same = " AND ".join(f"one.{column} = %s" for column in within)
    if connection.vendor == "postgresql":
        inner = f"SELECT {names} FROM {table} AS one WHERE {same} AND one.{by} = asked.value OFFSET 0"  # noqa: S608 - no value
        asked = "json_array_elements_text(%s::json) AS asked(value)"  # a list would be quoted text by text, in Python
        sql = f"SELECT found.* FROM {asked} CROSS JOIN LATERAL ({inner}) AS found"  # noqa: S608 - no value
        return sql, [json.dumps(among), *within.values()]
    listed = (
        f"SELECT {names} FROM {table} AS one WHERE {same} AND one.{by} IN (SELECT value FROM json_each(%s))"  # noqa: S608 - no value
    )
    return listed, [*within.values(), json.dumps(among)]


def prepared_meanwhile(parts: Iterator[Item]) -> Iterator[Item]:
    """The parts, each taken while the caller works on the one before by an iterator that does not use the database.

    That is so on PostgreSQL, where the server works and this process waits. SQLite works within this process: there,
    two threads would only take turns.
    """
    if connection.vendor != "postgresql":
        yield from parts
        return
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part


def two_columns(rows: Iterable[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two columns of n integers each, (n,), of rows that are never in memory together."""
    both: NDArray[Any] = np.fromiter(rows, np.dtype((np.int64, 2)))
    return both[:, 0], both[:, 1]
