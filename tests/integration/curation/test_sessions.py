"""The list of a person's own sessions: what it shows, what ends one, and what is not kept."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from curation.foundation.command import Error
from curation.models import BrowserSession
from tests.factories import token_of

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_7) Version/18.1 Safari/605.1.15"
PAGE = "/accounts/sessions/"


@pytest.fixture
def person(owner):
    owner.set_password(PASSWORD)
    owner.save()
    return owner


def browser(header: str = "", user: str = "owner") -> Client:
    client = Client(headers={"User-Agent": header} if header else {})
    client.post("/accounts/login/", {"username": user, "password": PASSWORD})
    return client


def is_in(client: Client) -> bool:
    return client.get("/datasets/").status_code == 200


def page_of(client: Client) -> str:
    return " ".join(client.get(PAGE).content.decode().split())


def test_each_login_is_listed_with_its_browser_and_the_one_of_the_page_is_marked(person) -> None:
    here = browser(FIREFOX)
    browser(SAFARI)

    page = page_of(here)

    assert '<bdi lang="en">Firefox</bdi> on <bdi lang="en">Linux</bdi>' in page
    assert '<bdi lang="en">Safari</bdi> on <bdi lang="en">macOS</bdi>' in page
    assert page.count("this one") == 1
    assert page.index("this one") < page.index("Safari")


def test_somebody_who_is_logged_in_once_reads_that_there_is_no_other(person) -> None:
    page = page_of(browser())

    assert "An unknown browser" in page
    assert "You are logged in nowhere else." in page
    assert "End all other sessions" not in page


def test_a_session_that_is_ended_has_to_log_in_again_and_the_others_stay(person) -> None:
    here, lost, third = browser(FIREFOX), browser(SAFARI), browser()
    row = BrowserSession.objects.get(browser="Safari")

    here.post(f"{PAGE}{row.pk}/end/")

    assert [is_in(client) for client in (here, lost, third)] == [True, False, True]
    assert not Session.objects.filter(pk=row.session_id).exists()


def test_all_others_end_at_once_and_tokens_go_on(person) -> None:
    token = token_of(person)
    here, others = browser(), [browser(), browser()]

    told = here.post(f"{PAGE}end/", follow=True).content.decode()

    assert "All other sessions were ended." in told
    assert is_in(here)
    assert not any(is_in(client) for client in others)
    assert Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {token}"}).status_code == 200


def test_ending_the_session_of_the_page_logs_out(person) -> None:
    here = browser()

    answer = here.post(f"{PAGE}{BrowserSession.objects.get().pk}/end/")

    assert answer["Location"] == "/accounts/login/"
    assert not is_in(here)


def test_nobody_sees_or_ends_the_session_of_somebody_else(person, stranger, client_of) -> None:
    mine = browser(FIREFOX)
    other = client_of(stranger)
    row = BrowserSession.objects.get(user=person)

    page = page_of(other)
    other.post(f"{PAGE}{row.pk}/end/")
    other.post(f"{PAGE}end/")

    assert "Firefox" not in page
    assert is_in(mine)


def test_a_logout_and_a_time_that_is_over_take_a_session_from_the_list(person) -> None:
    here, gone, old = browser(), browser(SAFARI), browser(FIREFOX)
    gone.post("/accounts/logout/")
    Session.objects.filter(pk=old.cookies["sessionid"].value).update(expire_date=now())

    page = page_of(here)

    assert "Safari" not in page
    assert "Firefox" not in page


def test_a_new_password_leaves_the_one_session_in_which_it_was_set(person) -> None:
    here, elsewhere = browser(FIREFOX), browser(SAFARI)
    new = {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "another long one"}

    here.post("/accounts/password/", new)

    page = page_of(here)
    assert "Firefox" in page
    assert "this one" in page
    assert "Safari" not in page
    assert not is_in(elsewhere)


def test_the_last_use_is_noted_every_five_minutes_without_making_the_session_longer(person) -> None:
    client = browser()
    day = now() - timedelta(days=1)
    BrowserSession.objects.update(last_used_at=day)
    ends = Session.objects.get().expire_date

    client.get("/datasets/")
    at_once = BrowserSession.objects.get().last_used_at
    cache.clear()  # five minutes later
    client.get("/datasets/")

    assert at_once == day
    assert BrowserSession.objects.get().last_used_at > day
    assert Session.objects.get().expire_date == ends


def test_neither_the_list_nor_the_page_has_an_address_or_the_number_of_the_session(person) -> None:
    client = Client(REMOTE_ADDR="203.0.113.7")
    client.post("/accounts/login/", {"username": "owner", "password": PASSWORD})

    page = page_of(client)

    assert client.cookies["sessionid"].value not in page
    assert "203.0.113" not in page + str(BrowserSession.objects.values().get())


def test_the_page_asks_as_often_for_five_sessions_as_for_one(person, django_assert_num_queries) -> None:
    here = browser()
    for _number in range(4):
        browser()

    with django_assert_num_queries(4):
        page = here.get(PAGE).content.decode()

    assert page.count("An unknown browser") == 5


def test_an_administrator_logs_a_person_out_everywhere(person) -> None:
    clients = [browser(), browser()]
    said = StringIO()

    call_command("end_sessions", "owner", stdout=said)

    assert said.getvalue() == "Sessions ended: 2.\n"
    assert not any(is_in(client) for client in clients)


def test_the_command_names_an_account_that_does_not_exist(db) -> None:
    with pytest.raises(Error, match="There is no account called “nobody”"):
        call_command("end_sessions", "nobody")
