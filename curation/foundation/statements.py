"""Statements that many requests execute: Django builds each once per process, and each execution brings its values.

A rule stays a queryset, in one place. To build its SQL takes Django several times as long as to execute it, which a
page never notices and a site full of annotators does. On PostgreSQL the server plans such a statement once per
connection as well (`PREPARED_STATEMENTS`).
"""

import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.models import (
    BigIntegerField,
    DateTimeField,
    Expression,
    Model,
    QuerySet,
    TextField,
    UUIDField,
)
from django.db.models.constants import OnConflict
from django.db.models.query import ModelIterable, get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler
from django.db.transaction import TransactionManagementError, mark_for_rollback_on_error

Parameters = ParamSpec("Parameters")
Row = TypeVar("Row")

# How the values of a statement reach the database, by the type that a parameter is annotated with.
FIELDS: dict[Any, Any] = {
    int: BigIntegerField(),
    str: TextField(),
    UUID: UUIDField(),
    datetime: DateTimeField(),
}


class Slot(Expression):
    """Where a statement takes the value of this place in each execution."""

    def __init__(self, place: int, field: Any) -> None:
        super().__init__(output_field=field)
        self.place = place

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


@cache
def _prepared_cursor() -> type:
    """A class of cursors that send values apart from the statement, which the server then plans once."""
    import psycopg  # noqa: PLC0415 - SQLite does without

    class PreparedCursor(psycopg.Cursor[Any]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            return super().execute(query, params, prepare=True, **options)

    return PreparedCursor


@dataclass(frozen=True)
class Statement:
    """SQL as Django built it. Its parameters are slots and, where the database takes them so, constants."""

    sql: str
    parameters: tuple[Any, ...]

    @classmethod
    def built(cls, sql: str, parameters: Iterable[Any]) -> "Statement":
        """On PostgreSQL constants become a part of the SQL: a plan for all values sees which partial index serves."""
        parameters = tuple(parameters)
        if connection.vendor != "postgresql":
            return cls(sql, parameters)
        slots = tuple(parameter for parameter in parameters if isinstance(parameter, Slot))
        from psycopg.sql import quote  # noqa: PLC0415

        pieces = [
            "%s" if isinstance(each, Slot) else quote(each, connection.connection).replace("%", "%%")
            for each in parameters
        ]
        return cls(sql.replace("%%", "%%%%") % tuple(pieces), slots)

    def execute(self, values: Sequence[Any]) -> Any:
        """The cursor, to be read by the caller."""
        database: Any = connections[DEFAULT_DB_ALIAS]  # itself: `connection` looks for it at every use
        parameters = [
            each.output_field.get_db_prep_save(values[each.place], database)
            if isinstance(each, Slot)
            else each
            for each in self.parameters
        ]
        cursor: Any = database.cursor()
        # A log of statements shows them with their values, which only Django's cursor knows.
        if database.vendor == "postgresql" and not database.queries_logged:
            cursor.cursor = _prepared_cursor()(database.connection)
        cursor.execute(self.sql, parameters)
        return cursor


# How often each function is built at most; a caller that asks for more shapes waits for Django each time.
MOST_SHAPES = 100
EVERY: list["_Built[Any]"] = []  # in the modules that are imported: tests hold each against Django's own SQL


class _Built(Generic[Parameters]):
    """What a function describes by its parameters: positional ones are values, keywords-only change the SQL."""

    def __init__(self, describe: Callable[Parameters, Any]) -> None:
        self.describe = describe
        parameters = inspect.signature(describe).parameters.values()
        self._fields = [FIELDS[each.annotation] for each in parameters if each.kind is not each.KEYWORD_ONLY]
        self._many = any(each.kind is each.VAR_POSITIONAL for each in parameters)
        # A text here would be quoted into SQL that is kept, and its author would decide how much is kept.
        self._shape = {each.name: each.annotation for each in parameters if each.kind is each.KEYWORD_ONLY}
        if not {*self._shape.values()} <= {bool, int}:
            raise TypeError(
                "Only whole numbers and yes or no change the SQL of a statement; a text is a value."
            )
        self._statements: dict[Hashable, Any] = {}
        EVERY.append(self)

    def _statement(self, values: Sequence[Any], shape: dict[str, Any]) -> Any:
        key = (len(values), *shape.values(), *shape)
        if key in self._statements:
            return self._statements[key]
        if any(type(value) is not self._shape[name] for name, value in shape.items()):
            raise TypeError(f"The SQL of {self.describe.__name__} was asked for with {shape}.")
        fields = self._fields * len(values) if self._many else self._fields
        slots: list[Any] = [Slot(place, field) for place, field in enumerate(fields)]
        built = self._compile(self.describe(*slots, **shape))
        if len(self._statements) < MOST_SHAPES:
            self._statements[key] = built
        return built

    def _compile(self, described: Any) -> Any:
        raise NotImplementedError


class RowsBuilt(_Built[Parameters], Generic[Parameters, Row]):
    """A queryset of rows, or of tuples of their fields. Called with values, it is the list of them."""

    def queryset(self, *values: Parameters.args, **shape: Parameters.kwargs) -> QuerySet[Any, Row]:
        """The same as Django builds it, to add to."""
        queryset: QuerySet[Any, Row] = self.describe(*values, **shape)
        return queryset

    def __call__(self, *values: Parameters.args, **shape: Parameters.kwargs) -> list[Row]:
        rows: list[Row] = self._statement(values, shape).rows(values)
        return rows

    def first(self, *values: Parameters.args, **shape: Parameters.kwargs) -> Row | None:
        return next(iter(self(*values, **shape)), None)

    def _compile(self, described: QuerySet[Any, Row]) -> "_Select":
        return _Select(described)


class _Select:
    """A statement and how its rows become what the queryset would give. It does what Django's iterables do."""

    def __init__(self, queryset: Any) -> None:
        compiler = queryset.query.get_compiler(connection=connection)
        self._statement = Statement.built(*compiler.as_sql())
        self._locks = queryset.query.select_for_update
        self._converters = compiler.get_converters([each[0] for each in compiler.select])
        self._compiler, self._database = compiler, queryset.db
        self._makes = issubclass(queryset._iterable_class, ModelIterable)
        if self._makes:
            about, select = compiler.klass_info, compiler.select
            self._model = about["model"]
            self._first, self._end = about["select_fields"][0], about["select_fields"][-1] + 1
            self._names = [each[0].target.attname for each in select[self._first : self._end]]
            self._related: Any = get_related_populators(about, select, self._database)  # type: ignore[call-arg]
            self._annotations = tuple((compiler.annotation_col_map or {}).items())

    def rows(self, values: Sequence[Any]) -> list[Any]:
        if self._locks and connection.get_autocommit():
            raise TransactionManagementError("select_for_update cannot be used outside of a transaction.")
        with self._statement.execute(values) as cursor:
            rows = cursor.fetchall()
        if self._converters:
            rows = self._compiler.apply_converters(rows, self._converters)
        if not self._makes:
            return [tuple(row) for row in rows]
        instances = []
        for row in rows:
            instance: Model = self._model.from_db(self._database, self._names, row[self._first : self._end])
            for related in self._related:
                related.populate(row, instance)
            for name, column in self._annotations:
                setattr(instance, name, row[column])
            instances.append(instance)
        return instances


class UpdateBuilt(_Built[Parameters]):
    """Rows, and the values that they get. Called with values, it changes them and returns how many there were."""

    def __call__(self, *values: Parameters.args, **shape: Parameters.kwargs) -> int:
        return _changed(self._statement(values, shape), values)

    def _compile(self, described: tuple[QuerySet[Any], dict[str, Any]]) -> Statement:
        rows, changes = described
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        return Statement.built(*query.get_compiler(connection=connection).as_sql())


def _changed(statement: Statement, values: Sequence[Any]) -> int:
    with mark_for_rollback_on_error(connection.alias), statement.execute(values) as cursor:
        changed: int = cursor.rowcount
    return changed


def built_once(
    describe: Callable[Parameters, QuerySet[Any, Row]],
) -> RowsBuilt[Parameters, Row]:
    """Makes a function that describes rows one that reads them. None may stand for none of its values."""
    return RowsBuilt(describe)


def updates_once(
    describe: Callable[Parameters, tuple[QuerySet[Any], dict[str, Any]]],
) -> UpdateBuilt[Parameters]:
    """Makes a function that describes rows and their new values one that changes them."""
    return UpdateBuilt(describe)


_of_rows: dict[Hashable, Any] = {}


def row_update(row: Model, *names: str) -> None:
    """`row.save(update_fields=names)`, without signals."""
    key = type(row), names
    fields: list[Any] = [row._meta.get_field(name) for name in names]
    if key not in _of_rows:
        pk = row._meta.pk
        query: Any = type(row)._base_manager.filter(pk=Slot(len(names), pk)).query.chain(UpdateQuery)
        query.add_update_values({name: Slot(place, fields[place]) for place, name in enumerate(names)})
        _of_rows[key] = Statement.built(*query.get_compiler(connection=connection).as_sql())
    values = [field.pre_save(row, add=False) for field in fields]
    if not _changed(_of_rows[key], [*values, row.pk]):
        raise DatabaseError(f"{row._meta.label} {row.pk} is not there any more.")


def row_insert(row: Model, *, unique: Sequence[str] = (), replaced: Sequence[str] = ()) -> None:
    """`row.save(force_insert=True)`, without signals.

    Where a row with the same `unique` fields is there, it gets the `replaced` ones instead.
    """
    key = type(row), tuple(unique), tuple(replaced)
    if key not in _of_rows:
        about = row._meta
        inserted = [field for field in about.local_concrete_fields if field is not about.pk]
        slots = type(row)(**{field.attname: Slot(place, field) for place, field in enumerate(inserted)})
        query = InsertQuery(
            type(row),
            on_conflict=OnConflict.UPDATE if unique else None,
            update_fields=[about.get_field(name) for name in replaced],
            unique_fields=[about.get_field(name) for name in unique],
        )
        query.insert_values(inserted, [slots])
        compiler = query.get_compiler(connection=connection)
        compiler.returning_fields = [about.pk]
        _of_rows[key] = inserted, Statement.built(*compiler.as_sql()[0])
    fields, statement = _of_rows[key]
    values = [field.pre_save(row, add=True) for field in fields]
    with mark_for_rollback_on_error(connection.alias), statement.execute(values) as cursor:
        row.pk = cursor.fetchone()[0]
    row._state.adding, row._state.db = False, connection.alias
