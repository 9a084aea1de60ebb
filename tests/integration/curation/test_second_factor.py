"""A second factor: set up with a code, asked for after the password, used once, lost, and required of staff."""

import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import pyotp
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from curation.foundation.command import Error
from curation.models import AuditEntry, SecondFactor
from curation.people.accounts.second_factor import code_use, second_factor_activate, secret_new
from tests.factories import token_of

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
PAGE, CODE = "/accounts/second-factor/", "/accounts/login/code/"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
EARLIER = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def person(owner):
    owner.set_password(PASSWORD)
    owner.save()
    return owner


@pytest.fixture
def recovery(person) -> list[str]:
    """The recovery codes of the person, whose second factor was set up some time ago."""
    code = pyotp.TOTP(SECRET).at(EARLIER)
    return second_factor_activate(user=person, secret=SECRET, code=code, at=EARLIER)


def code_now() -> str:
    return pyotp.TOTP(SECRET).at(now())


def after_password(next_page: str = "", user: str = "owner") -> Client:
    client = Client()
    client.post("/accounts/login/", {"username": user, "password": PASSWORD, "next": next_page})
    return client


def is_in(client: Client) -> bool:
    return client.get("/datasets/").status_code == 200


def text_of(answer) -> str:
    return " ".join(answer.content.decode().split())


def test_a_code_of_the_app_activates_it_and_recovery_codes_are_shown_once(person, client_of) -> None:
    client = client_of(person)
    shown = text_of(client.get(PAGE))
    secret = re.search(r'id="key"[^>]*value="(\w+)"', shown)[1]

    made = client.post(PAGE, {"password": PASSWORD, "code": pyotp.TOTP(secret).now()})

    codes = re.findall(r"(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}", text_of(made))
    assert 'src="data:image/svg+xml' in shown
    assert len(set(codes)) == 10
    later = text_of(client.get(PAGE))
    assert "You have 10 unused recovery codes." in later
    assert not set(codes) & set(re.findall(r"[\w-]{29}", later))
    assert secret not in later


@pytest.mark.parametrize(
    ("password", "code", "sentence"),
    [
        (PASSWORD, "000000", "The code is wrong."),
        (PASSWORD, "１２３４５６", "The code is wrong."),
        ("wrong", None, "The password is wrong."),
    ],
)
def test_a_wrong_code_or_password_activates_nothing(person, client_of, password, code, sentence) -> None:
    client = client_of(person)
    secret = re.search(r'id="key"[^>]*value="(\w+)"', text_of(client.get(PAGE)))[1]

    answer = client.post(PAGE, {"password": password, "code": code or pyotp.TOTP(secret).now()})

    assert sentence in text_of(answer)
    assert not SecondFactor.objects.exists()


def test_the_password_alone_logs_nobody_in(person, recovery) -> None:
    client = after_password()

    assert not is_in(client)
    assert "Enter your code" in text_of(client.get(CODE))


def test_the_code_logs_in_and_leads_to_the_page_that_was_asked_for(person, recovery) -> None:
    client = after_password("/datasets/")

    answer = client.post(CODE, {"code": code_now()})

    assert answer["Location"] == "/datasets/"
    assert is_in(client)


def test_a_code_works_once_also_for_somebody_who_read_it_over_a_shoulder(person, recovery) -> None:
    code = code_now()
    after_password().post(CODE, {"code": code})
    second = after_password()

    answer = second.post(CODE, {"code": code})

    assert "The code is wrong, or it was used." in text_of(answer)
    assert not is_in(second)


def test_a_recovery_code_works_once_in_any_case_and_without_its_lines(person, recovery) -> None:
    first, again = after_password(), after_password()

    first.post(CODE, {"code": recovery[3].lower().replace("-", " ")})
    again.post(CODE, {"code": recovery[3]})

    assert is_in(first)
    assert not is_in(again)
    assert len(SecondFactor.objects.get().recovery) == 9


def test_the_database_holds_no_recovery_code(recovery) -> None:
    kept = str(SecondFactor.objects.values().get())

    assert not any(code in kept or code.replace("-", "") in kept for code in recovery)


@pytest.mark.parametrize(
    ("seconds", "right"), [(0, True), (-30, True), (30, True), (-90, False), (90, False)]
)
def test_a_clock_may_be_half_a_minute_off(person, recovery, seconds: int, right: bool) -> None:
    at = EARLIER + timedelta(hours=1)
    code = pyotp.TOTP(SECRET).at(at + timedelta(seconds=seconds))

    assert code_use(user=person, code=code, at=at) is right


def test_codes_are_guessed_no_faster_than_passwords(person, recovery) -> None:
    client = after_password()
    answers = [text_of(client.post(CODE, {"code": f"{number:06}"})) for number in range(6)]

    right = text_of(client.post(CODE, {"code": code_now()}))

    assert "There were too many wrong codes." in answers[-1]
    assert "There were too many wrong codes." in right
    assert not is_in(client)


def test_the_right_password_holds_for_ten_minutes(person, recovery) -> None:
    client = after_password()
    session = client.session
    early = now() - timedelta(minutes=11)
    session["second_factor_awaited"] = {**session["second_factor_awaited"], "at": early.isoformat()}
    session.save()

    answer = client.post(CODE, {"code": code_now()})

    assert answer["Location"] == "/accounts/login/?next=/"
    assert not is_in(client)


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "another hash"}])
def test_an_account_that_was_closed_or_has_another_password_gets_no_further(person, recovery, change) -> None:
    client = after_password()
    type(person).objects.filter(pk=person.pk).update(**change)

    assert client.post(CODE, {"code": code_now()})["Location"] == "/accounts/login/?next=/"


def test_without_a_password_before_it_the_page_of_the_code_leads_to_the_login(db) -> None:
    assert Client().get(CODE)["Location"] == "/accounts/login/?next=/"


def test_the_administrations_own_login_is_no_way_around_the_code(admin) -> None:
    admin.set_password(PASSWORD)
    admin.save()
    second_factor_activate(user=admin, secret=SECRET, code=pyotp.TOTP(SECRET).at(EARLIER), at=EARLIER)
    client = Client()

    answer = client.post("/admin/login/", {"username": "admin", "password": PASSWORD})

    assert "Your account has a second factor." in text_of(answer)
    assert client.get("/admin/").status_code == 302


def test_the_password_deactivates_it_and_nothing_else_does(person, recovery) -> None:
    client = after_password()
    client.post(CODE, {"code": code_now()})

    client.post(PAGE, {"password": "wrong", "deactivate": ""})
    still = SecondFactor.objects.exists()
    told = client.post(PAGE, {"password": PASSWORD, "deactivate": ""}, follow=True)

    assert still
    assert "The second factor is off." in text_of(told)
    assert is_in(after_password())


def test_other_recovery_codes_end_those_from_before(person, recovery, client_of) -> None:
    page = text_of(client_of(person).post(PAGE, {"password": PASSWORD, "renew": ""}))

    assert len(re.findall(r"(?:[A-Z2-7]{4}-){5}[A-Z2-7]{4}", page)) == 10
    assert not code_use(user=person, code=recovery[0], at=now())


def test_the_log_says_that_a_recovery_code_was_used(
    person, recovery, caplog, django_capture_on_commit_callbacks
) -> None:
    caplog.set_level("INFO")

    with django_capture_on_commit_callbacks(execute=True):
        code_use(user=person, code=recovery[0], at=now())

    assert f"recovery_code_used user={person.pk}" in caplog.text
    assert recovery[0] not in caplog.text


def test_tokens_work_as_before(person, recovery) -> None:
    token = token_of(person)

    assert Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {token}"}).status_code == 200


def test_who_has_no_password_here_has_no_such_page(stranger, client_of) -> None:
    stranger.set_unusable_password()
    stranger.save()

    assert client_of(stranger).get(PAGE).status_code == 404


def test_a_command_removes_it_and_the_log_of_the_site_says_so(person, recovery) -> None:
    said = StringIO()

    call_command("remove_second_factor", "owner", stdout=said)

    entry = AuditEntry.objects.get(action="factor_removed")
    assert said.getvalue() == "Removed the second factor of owner.\n"
    assert (entry.subject, entry.via, entry.dataset) == ("owner", "command", None)
    assert is_in(after_password())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("owner", "The account “owner” has no second factor."), ("x", "There is no account called “x”.")],
)
def test_the_command_says_what_is_not_there(person, name: str, sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        call_command("remove_second_factor", name)


class TestStaffMustHaveOne:
    @pytest.fixture(autouse=True)
    def required(self, settings) -> None:
        settings.REQUIRE_SECOND_FACTOR = "staff"

    def test_staff_set_one_up_before_they_see_anything_else(self, staff, client_of) -> None:
        staff.set_password(PASSWORD)
        staff.save()
        client = client_of(staff)

        page, programs = client.get("/datasets/"), client.get("/api/v1/datasets/")

        assert page["Location"] == PAGE
        assert programs.status_code == 403
        assert "This site asks its staff" in programs.json()["detail"]
        assert "This site asks its staff" in text_of(client.get(PAGE))
        assert client.post("/accounts/logout/").status_code == 302

    def test_staff_who_have_one_and_everybody_else_go_on(self, staff, owner, client_of) -> None:
        secret = secret_new()
        second_factor_activate(user=staff, secret=secret, code=pyotp.TOTP(secret).at(EARLIER), at=EARLIER)

        assert is_in(client_of(staff))
        assert is_in(client_of(owner))

    def test_tokens_of_staff_and_single_sign_on_are_exempt(self, staff, client_of) -> None:
        token = token_of(staff)
        client = client_of(staff)
        session = client.session
        session["second_factor_elsewhere"] = True
        session.save()

        assert is_in(client)
        assert (
            Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {token}"}).status_code == 200
        )
