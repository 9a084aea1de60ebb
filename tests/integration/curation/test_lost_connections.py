"""A database that goes away is told from what is wrong with a statement or a disk, whoever asks again meanwhile."""

import pytest
from django.db import DatabaseError, connection, connections, transaction

from curation.exchange.refusals import failure_recorded
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import connection_lost, database_now
from curation.models import ImportBatch
from tests.factories import DatasetFactory

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def ask_when_the_server_has_hung_up() -> None:
    """The server ends this test's connection, as an administrator does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        [number] = cursor.fetchone()
    other = connections.create_connection("default")
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [number])
    other.close()
    database_now()


def ask_and_say_so() -> None:
    try:
        ask_when_the_server_has_hung_up()
    except DatabaseError as error:
        raise UserError("Nothing can be read.") from error


def test_a_connection_that_the_server_ended_is_lost_also_when_there_is_a_new_one() -> None:
    with pytest.raises(DatabaseError) as found, transaction.atomic():
        ask_when_the_server_has_hung_up()

    assert database_now()  # over a new connection
    assert connection_lost(found.value)


def test_so_is_one_behind_which_that_lies() -> None:
    with pytest.raises(UserError) as found:
        ask_and_say_so()
    connection.close()

    assert connection_lost(found.value)


@pytest.mark.parametrize(
    "statement", ["SELECT 1/0", "SELECT nothing", "SET statement_timeout = 1; SELECT pg_sleep(1)"]
)
def test_another_error_of_the_database_is_no_lost_connection(statement: str) -> None:
    with pytest.raises(DatabaseError) as found, connection.cursor() as cursor:
        cursor.execute(statement)
    connection.close()

    assert not connection_lost(found.value)


def test_an_import_whose_connection_was_lost_is_not_said_to_have_failed() -> None:
    batch = ImportBatch.objects.create(dataset=DatasetFactory(), file_name="pairs.csv", state="running")

    with pytest.raises(DatabaseError), failure_recorded(batch), transaction.atomic():
        ask_when_the_server_has_hung_up()

    batch.refresh_from_db()
    assert batch.state == "running"
