"""How many passwords may be tried: exactly, also at the same moment, and for each name and each address."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from django.db import connection

from curation.models import PasswordTries
from curation.people.accounts.guessing import (
    REMEMBERED,
    TRIES_FROM_ONE_ADDRESS,
    TRIES_OF_A_NAME,
    TRIES_OF_A_NAME_FROM_ONE_ADDRESS,
    TooManyTriesError,
    name_question_count,
    try_count,
    try_was_right,
)

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HERE, THERE = "203.0.113.1", "203.0.113.2"


def checked(number: int, *, name: str = "owner", address: str = HERE, at: datetime = NOW) -> int:
    """How many of so many wrong passwords, one after the other, are looked at."""
    outcomes = [is_checked(name.format(each), address.format(each), at) for each in range(number)]
    return sum(outcomes)


def is_checked(name: str, address: str, at: datetime) -> bool:
    try:
        try_count(username=name, address=address, at=at)
    except TooManyTriesError:
        return False
    return True


def test_a_name_is_tried_five_times_from_one_address() -> None:
    assert checked(20) == TRIES_OF_A_NAME_FROM_ONE_ADDRESS


def test_a_name_is_tried_fifty_times_from_anywhere() -> None:
    assert checked(200, address="203.0.113.{}") == TRIES_OF_A_NAME


def test_many_names_from_one_address_are_tried_a_hundred_times() -> None:
    assert checked(130, name="name {}") == TRIES_FROM_ONE_ADDRESS


def test_a_classroom_behind_one_address_may_be_wrong_three_times_each() -> None:
    assert sum(checked(3, name=f"person {person}") for person in range(30)) == 90


def test_a_name_that_is_closed_at_one_address_is_open_elsewhere() -> None:
    checked(TRIES_OF_A_NAME_FROM_ONE_ADDRESS)

    assert is_checked("owner", THERE, NOW)


def test_what_is_refused_does_not_count_against_the_name() -> None:
    """Otherwise one address alone could close a name to everybody."""
    checked(TRIES_OF_A_NAME + 10)

    assert is_checked("owner", THERE, NOW)


def test_case_and_spaces_make_no_other_name() -> None:
    checked(TRIES_OF_A_NAME_FROM_ONE_ADDRESS)

    assert not is_checked(" OWNER ", HERE, NOW)


def test_a_quarter_of_an_hour_after_the_first_try_the_name_is_open_again() -> None:
    checked(TRIES_OF_A_NAME_FROM_ONE_ADDRESS)

    assert not is_checked("owner", HERE, NOW + REMEMBERED - timedelta(seconds=1))
    assert checked(20, at=NOW + REMEMBERED) == TRIES_OF_A_NAME_FROM_ONE_ADDRESS


def test_the_refusal_says_when_to_try_again() -> None:
    checked(TRIES_OF_A_NAME_FROM_ONE_ADDRESS)

    with pytest.raises(TooManyTriesError, match="Wait 5 minutes, then try again"):
        try_count(username="owner", address=HERE, at=NOW + timedelta(minutes=10, seconds=30))


def test_the_right_password_takes_its_try_back_and_forgets_the_slips_of_the_name_there() -> None:
    checked(TRIES_OF_A_NAME_FROM_ONE_ADDRESS - 1)

    try_was_right(try_count(username="owner", address=HERE, at=NOW))

    assert checked(20) == TRIES_OF_A_NAME_FROM_ONE_ADDRESS


def test_right_passwords_close_no_address() -> None:
    for person in range(TRIES_FROM_ONE_ADDRESS + 20):
        try_was_right(try_count(username=f"person {person}", address=HERE, at=NOW))

    assert is_checked("owner", HERE, NOW)


@pytest.mark.exhaustive
def test_a_right_password_of_ones_own_opens_no_tries_of_other_names() -> None:
    for person in range(TRIES_FROM_ONE_ADDRESS // 2):
        checked(1, name=f"victim {person}")
        try_was_right(try_count(username="attacker", address=HERE, at=NOW))

    assert checked(130, name="name {}") == TRIES_FROM_ONE_ADDRESS // 2


def test_questions_whether_a_name_is_taken_count_against_the_address_and_close_no_name() -> None:
    for _time in range(TRIES_FROM_ONE_ADDRESS - 1):
        name_question_count(address=HERE, at=NOW)

    assert is_checked("owner", THERE, NOW)
    assert checked(20, name="name {}") == 1
    with pytest.raises(TooManyTriesError):
        name_question_count(address=HERE, at=NOW)


def test_counts_that_ended_are_forgotten() -> None:
    checked(5, name="name {}")

    checked(1, at=NOW + REMEMBERED)

    assert not PasswordTries.objects.filter(ends_at__lte=NOW + REMEMBERED).exists()


def test_what_was_typed_as_a_name_is_not_kept() -> None:
    checked(1, name="my secret password")

    assert "secret" not in str(list(PasswordTries.objects.values()))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "address", "number", "limit"),
    [
        ("owner", HERE, 50, TRIES_OF_A_NAME_FROM_ONE_ADDRESS),
        ("owner", "203.0.113.{}", 80, TRIES_OF_A_NAME),
        ("name {}", HERE, 130, TRIES_FROM_ONE_ADDRESS),
    ],
)
def test_of_many_tries_at_once_no_more_are_checked(name: str, address: str, number: int, limit: int) -> None:
    threads = 10
    together = Barrier(threads)

    def many(part: int) -> int:
        together.wait(timeout=60)
        try:
            mine = range(part, number, threads)
            return sum(is_checked(name.format(each), address.format(each), NOW) for each in mine)
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(many, range(threads))) == limit


@pytest.mark.django_db(transaction=True)
def test_right_and_wrong_passwords_at_once_wait_for_each_other_without_an_end() -> None:
    """Rows are locked in one order: no two transactions may hold what the other waits for."""
    threads = 8

    def try_all(part: int) -> int:
        try:
            for each in range(12):
                username, address = f"name {(part + each) % 3}", f"203.0.113.{(part * each) % 3}"
                try:
                    counted = try_count(username=username, address=address, at=NOW + each * REMEMBERED / 4)
                except TooManyTriesError:
                    continue
                if each % 2:
                    try_was_right(counted)
            return 1
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(try_all, range(threads))) == threads
