"""Many rows of one model at once, where `bulk_create` is too slow: it prepares every value of every row by itself."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import connection, models
from django.utils.timezone import now


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
    """
    values = {**_defaults(model), **_prepared(model, shared)}
    for name in columns:
        del values[name]
    names = [*columns, *values]
    columns_of = {field.attname: field.column or "" for field in model._meta.concrete_fields}
    quoted = ", ".join(connection.ops.quote_name(columns_of[name]) for name in names)
    places = ", ".join(["%s"] * len(names))
    table = connection.ops.quote_name(model._meta.db_table)
    rest = tuple(values.values())
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({quoted}) VALUES ({places})",  # noqa: S608 - names of the model alone
            [(*row, *rest) for row in rows],
        )


def _defaults(model: type[models.Model]) -> dict[str, Any]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    made = {
        field.attname: now() if getattr(field, "auto_now_add", False) else field.get_default()
        for field in fields
    }
    return _prepared(model, made)


def _prepared(model: type[models.Model], values: Mapping[str, Any]) -> dict[str, Any]:
    fields = {field.attname: field for field in model._meta.concrete_fields}
    return {name: fields[name].get_db_prep_save(value, connection) for name, value in values.items()}
