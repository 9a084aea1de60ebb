"""Statements that are built once: the SQL is Django's own, and each execution has its own values."""

import inspect
import itertools
import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F, QuerySet
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver

from curation.foundation import statements
from curation.foundation.statements import RowsBuilt, built_once, row_insert, row_update, updates_once
from curation.models import Membership, Pair, User
from tests.factories import DatasetFactory, MembershipFactory, PairFactory, SentenceFactory, UserFactory

SAMPLES = {
    int: 7001,
    str: "it's 100 % %s",
    UUID: UUID(int=7),
    datetime: datetime(2026, 5, 1, 12, tzinfo=UTC),
}
SHAPES = {bool: (True, False), int: (1, 3)}


def sql_of(execute) -> str:
    """What was executed, without brackets: Django puts none around a value, and some around an expression."""
    with CaptureQueriesContext(connection) as executed:
        execute()
    return re.sub(r"[()]|::\w+", "", executed.captured_queries[-1]["sql"])


def uses() -> list:
    """Each statement that the site has built once, with values for it and each shape that it can have."""
    assert get_resolver().url_patterns  # everything that answers is imported
    found = []
    for built in statements.EVERY:
        if not built.describe.__module__.startswith(("annotation.", "curation.")):
            continue
        parameters = inspect.signature(built.describe).parameters.values()
        values = [SAMPLES[each.annotation] for each in parameters if each.kind is not each.KEYWORD_ONLY]
        shaped = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
        for chosen in itertools.product(*(SHAPES[each.annotation] for each in shaped)):
            shape = dict(zip([each.name for each in shaped], chosen, strict=True))
            name = f"{built.describe.__module__}.{built.describe.__name__}-{shape}"
            found.append(pytest.param(built, values, shape, id=name))
    return found


@pytest.mark.parametrize(("built", "values", "shape"), uses())
def test_a_statement_is_the_one_that_django_builds(db, built, values, shape) -> None:
    def ours() -> None:
        built(*values, **shape)

    def djangos() -> None:
        described = built.describe(*values, **shape)
        if isinstance(built, RowsBuilt):
            list(described)
        else:
            described[0].update(**described[1])

    assert sql_of(ours) == sql_of(djangos)


def test_there_are_statements_of_judging_to_hold_against_django(db) -> None:
    assert len(uses()) > 10


@built_once
def members(dataset: int, role: str) -> QuerySet:
    rows = Membership.objects.filter(dataset=dataset, role=role).select_related("user")
    return rows.annotate(again=F("pk")).order_by("pk")


@built_once
def names(*people: int) -> QuerySet:
    return User.objects.filter(pk__in=people).order_by("pk").values_list("pk", "username")


@built_once
def locked(person: int) -> QuerySet:
    return User.objects.filter(pk=person).select_for_update()


@updates_once
def renamed(person: int, name: str) -> tuple[QuerySet, dict]:
    return User.objects.filter(pk=person), {"first_name": name}


def test_each_execution_has_its_own_values(db) -> None:
    curator, owner = MembershipFactory(role="curator"), MembershipFactory(role="owner")

    found = [members(each.dataset_id, each.role) for each in (curator, owner)]

    assert found == [[curator], [owner]]
    assert [each.user for (each,) in found] == [curator.user, owner.user]
    assert [each.again for (each,) in found] == [curator.pk, owner.pk]
    assert members.first(curator.dataset_id, "owner") is None


def test_what_is_selected_with_a_row_needs_no_further_query(db, django_assert_num_queries) -> None:
    curator = MembershipFactory(role="curator")

    with django_assert_num_queries(1):
        assert members(curator.dataset_id, "curator")[0].user.username == curator.user.username


def test_any_number_of_values(db) -> None:
    people = UserFactory.create_batch(3)

    assert [len(names(*(each.pk for each in people[:number]))) for number in (1, 2, 3)] == [1, 2, 3]
    assert names(people[1].pk) == [(people[1].pk, people[1].username)]


def first_people(person: int, *, at_most: int, active: bool = True) -> QuerySet:
    people = User.objects.filter(pk__gte=person, is_active=active)
    return people.order_by("pk").values_list("pk")[:at_most]


@pytest.mark.parametrize(
    "asked", [{"at_most": "1; DROP TABLE"}, {"at_most": 1.5}, {"at_most": 1, "active": "yes"}]
)
def test_nothing_but_a_whole_number_and_yes_or_no_becomes_a_part_of_the_sql(db, asked) -> None:
    built = RowsBuilt(first_people)

    with pytest.raises(TypeError):
        built(1, **asked)

    assert built._statements == {}


def test_a_function_whose_sql_a_text_would_change_is_refused() -> None:
    def by_name(person: int, *, name: str) -> QuerySet:
        raise AssertionError

    with pytest.raises(TypeError, match="a text is a value"):
        built_once(by_name)


def test_however_many_shapes_are_asked_for_few_are_kept(db, monkeypatch) -> None:
    monkeypatch.setattr(statements, "MOST_SHAPES", 3)
    people, built = UserFactory.create_batch(5), RowsBuilt(first_people)

    counts = [len(built(people[0].pk, at_most=number)) for number in range(1, 6)]

    assert counts == [1, 2, 3, 4, 5]
    assert len(built._statements) == 3


def test_a_changed_row_and_one_that_is_not_there(db) -> None:
    person = UserFactory()

    assert (renamed(person.pk, "it's 100 % %s"), renamed(person.pk + 1, "nobody")) == (1, 0)
    person.refresh_from_db()
    assert person.first_name == "it's 100 % %s"


def test_a_row_is_locked_in_transactions_only(transactional_db) -> None:
    person = UserFactory()
    with transaction.atomic():
        assert locked(person.pk) == [person]

    if connection.features.has_select_for_update:
        with pytest.raises(TransactionManagementError):
            locked(person.pk)


def test_an_update_of_fields_is_the_one_of_django(db) -> None:
    person = UserFactory(first_name="Ada", last_name="Lovelace")

    assert sql_of(lambda: row_update(person, "first_name", "last_name")) == sql_of(
        lambda: person.save(update_fields=["first_name", "last_name"])
    )


def test_an_update_of_a_row_that_is_gone_fails(db) -> None:
    person = UserFactory()
    User.objects.filter(pk=person.pk).delete()

    with pytest.raises(DatabaseError, match="not there any more"):
        row_update(person, "first_name")


def test_a_new_row_is_the_one_of_django(db) -> None:
    dataset = DatasetFactory()
    sentence = SentenceFactory(dataset=dataset)
    ours, djangos = (
        PairFactory.build(dataset=dataset, a=sentence, b=sentence, external_id="x") for _ in range(2)
    )

    inserted = sql_of(lambda: row_insert(ours))

    kept = Pair.objects.get()
    assert (kept, kept.external_id, kept.a, ours._state.adding) == (ours, "x", sentence, False)
    kept.delete()
    times = r"\d\d:\d\d:\d\d\.\d+"
    again = sql_of(lambda: djangos.save(force_insert=True))
    assert re.sub(times, "", again) == re.sub(times, "", inserted)


def test_a_row_that_is_there_gets_what_is_to_be_replaced(db) -> None:
    first = MembershipFactory(role="annotator")
    again = Membership(dataset=first.dataset, user=first.user, role="owner")

    row_insert(again, unique=("dataset", "user"), replaced=("role",))

    assert again.pk == first.pk
    assert Membership.objects.get().role == "owner"


def test_a_failed_change_leaves_nothing_of_its_transaction(transactional_db) -> None:
    UserFactory(username="taken")

    with transaction.atomic():
        UserFactory(username="new")
        with pytest.raises(DatabaseError):
            row_insert(User(username="taken"))

    assert [each.username for each in User.objects.all()] == ["taken"]
