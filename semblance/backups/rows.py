"""Rows of every table as lines of JSON that say the same on every database, and back.

The tables are those of the migrations that a database has, which need not be those of this version's models: so a
backup of an earlier version can be loaded first and migrated afterwards.
"""

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.management.color import no_style
from django.db import connections, models
from django.db.migrations.loader import MigrationLoader
from django.utils.duration import duration_iso_string

from curation.files.json_text import json_from

AT_ONCE = 5_000
# A float of this size or more is a whole number to PostgreSQL's JSON, and so it is written as one everywhere.
WHOLE_FROM = 1e16
# What the tables of a new database hold before anybody has used it.
MADE_BY_MIGRATING = frozenset({"contenttypes.contenttype", "auth.permission"})
PLAIN = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.BooleanField)

Model = type[models.Model]
Convert = Callable[[Any], Any]


def tables_of(migrations: Iterable[tuple[str, str]], using: str) -> list[Model]:
    """A model for every table that these migrations make, sorted by label, with those between two others."""
    loader, known = MigrationLoader(connections[using]), set(migrations)
    # All of them make the tables of this version's models, which are there already.
    everything = known == set(loader.graph.nodes)
    registry = apps if everything else loader.project_state(list(known)).apps
    found = registry.get_models(include_auto_created=True)
    tables = [one for one in found if one._meta.managed and not one._meta.proxy and not one._meta.swapped]
    return sorted(tables, key=label_of)


def label_of(model: Model) -> str:
    return model._meta.label_lower


def fields_of(model: Model) -> list[str]:
    """Sorted, because the order in a model and that of its migrations differ."""
    return sorted(field.attname for field in model._meta.concrete_fields)


def lines_of(model: Model, using: str) -> Generator[bytes, None, None]:
    """Each row as a line, in the order of the primary key. Rows that are equal make equal lines on every database."""
    fields, names = {field.attname: field for field in model._meta.concrete_fields}, fields_of(model)
    documents = [place for place, name in enumerate(names) if isinstance(fields[name], models.JSONField)]
    rows = model._base_manager.using(using).order_by("pk").values_list(*names)
    encode = json.JSONEncoder(default=_as_text, separators=(",", ":"), sort_keys=True).encode
    for row in rows.iterator(chunk_size=AT_ONCE):
        if documents:
            row = list(row)  # noqa: PLW2901
            for place in documents:
                row[place] = _same_everywhere(row[place])
        yield encode(row).encode() + b"\n"


def sum_of(model: Model, using: str) -> tuple[int, str]:
    """How many rows the table has, and the SHA-256 of their lines."""
    rows, digest = 0, hashlib.sha256()
    for line in lines_of(model, using):
        digest.update(line)
        rows += 1
    return rows, digest.hexdigest()


def rows_load(model: Model, fields: Sequence[str], lines: Iterable[bytes], using: str) -> None:
    """Write the rows of these lines into the table. Their keys are kept, and no default of a column applies."""
    connection = connections[using]
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    chosen = [by_name[name] for name in fields]
    converts = [_conversion(field, connection) for field in chosen]
    quote = connection.ops.quote_name
    table, columns = quote(model._meta.db_table), ", ".join(quote(str(field.column)) for field in chosen)
    rows = (
        [convert(value) for convert, value in zip(converts, json_from(line), strict=True)] for line in lines
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            statement = f"COPY {table} ({columns}) FROM STDIN"
            with connection.wrap_database_errors, cursor.cursor.copy(statement) as copy:
                for row in rows:
                    copy.write_row(row)
            return
        places = ", ".join(["%s"] * len(chosen))
        statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608 - names of our own tables
        while several := list(islice(rows, AT_ONCE)):
            cursor.executemany(statement, several)


def rows_remove(tables: Iterable[Model], using: str) -> None:
    """Empty the tables, in any order: the database checks what refers to what when the transaction ends."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for model in tables:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(model._meta.db_table)}")  # noqa: S608 - our own name


def numbering_continue(tables: Sequence[Model], using: str) -> None:
    """Let new rows get keys after the last one that is there."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), list(tables)):
            cursor.execute(statement)


def used_tables(tables: Iterable[Model], using: str) -> list[str]:
    """The labels of the tables with rows that somebody, and not the migrations, has written."""
    return [
        label_of(model)
        for model in tables
        if label_of(model) not in MADE_BY_MIGRATING and model._base_manager.using(using).exists()
    ]


def _as_text(value: object) -> str:
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_iso_string(value)
    if isinstance(value, UUID | Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written into a backup")


def _same_everywhere(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _same_everywhere(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_same_everywhere(value) for value in document]
    if isinstance(document, float):
        if document == 0:
            return 0.0
        return int(document) if document.is_integer() and abs(document) >= WHOLE_FROM else document
    return document


def _conversion(field: Any, connection: Any) -> Convert:
    """What makes of a value of a line what the database's driver takes."""
    if isinstance(field, models.JSONField):
        if field.null:
            return lambda value: field.get_db_prep_save(value, connection)
        # None is the document `null` here: the column holds no NULL.
        return lambda value: field.get_db_prep_value(value, connection)
    target = field
    while isinstance(target, models.ForeignKey):
        target = target.target_field
    if isinstance(target, PLAIN):
        return lambda value: value
    return lambda value: field.get_db_prep_save(target.to_python(value), connection)
