"""Many rows into a table, without a model instance for each."""

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
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({quoted}) VALUES ({places})",  # noqa: S608 - names of the model alone
            [(*row, *rest) for row in rows],
        )
