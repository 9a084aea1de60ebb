"""E-mail: what is sent and when, what owners are told, and how a person gets a new password by it."""

import contextlib
import re
import socketserver
import threading
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest
from django.core import mail as sent_mail
from django.core import signing
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.timezone import now

from curation.foundation.errors import UserError
from curation.models import AuditEntry, Mail, Membership, User
from curation.people.accounts.guessing import MAILS_TO_ONE_FROM_ONE_ADDRESS
from curation.people.mail import backend, sending, services, waiting
from curation.people.mail.addresses import addresses_in
from curation.people.mail.sending import OF_INVITATIONS, OF_OTHERS, mails_carry_out
from curation.people.mail.services import (
    address_confirm,
    address_mail,
    invitations_mail,
    password_mail,
    password_tell,
)
from curation.people.mail.waiting import mails_sweep
from curation.people.members import account_erase, invitation_by_token, invitation_revoke
from curation.people.outgoing import State
from semblance.mail_server import MailServer, mail_server_of
from tests.factories import UserFactory, token_of
from tests.mail_server import mail_server

pytestmark = pytest.mark.django_db
SITE = "https://site.test/"
NEW = "a-new-long-password"


@pytest.fixture(autouse=True)
def with_mail(settings) -> None:
    settings.MAIL_SERVER = True
    settings.DEFAULT_FROM_EMAIL = "Semblance <site@example.org>"


@pytest.fixture
def smtp(settings):
    with mail_server() as server:
        settings.EMAIL_BACKEND = "curation.people.mail.backend.BoundedBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


@pytest.fixture
def clock(monkeypatch):
    """The database's clock, which the test moves."""

    class Clock:
        now = now()

    for module in (sending, waiting):
        monkeypatch.setattr(module, "database_now", lambda: Clock.now)
    return Clock


def invited(dataset, owner, *addresses: str, **more):
    given = {"role": "annotator", "days": 14, "language": "en", "site": SITE, "at": now()}
    return invitations_mail(dataset=dataset, addresses=addresses, by=owner, **{**given, **more})


def link_in(text: str) -> str:
    """The path of the only link."""
    (address,) = re.findall(r"https?://[^/\s]+(/\S+)", text)
    return address


def test_an_invitation_reaches_a_mail_server_and_admits_who_opens_it(dataset, owner, client_of, smtp) -> None:
    page = client_of(owner).post(
        f"/datasets/{dataset.slug}/invitations/",
        {"role": "annotator", "people": 1, "days": 7, "note": "", "language": "en", "addresses": "ann@example.org\n"},
    ).content.decode()  # fmt: skip
    assert "The invitation is being sent." in page

    assert mails_carry_out() == 1

    (letter,) = smtp.taken
    assert letter["To"] == "ann@example.org"
    assert letter["From"] == "Semblance <site@example.org>"
    assert letter["Subject"] == f"Invitation to {dataset.name}"
    link = link_in(letter.get_content())
    account = {"username": "ann", "password1": NEW, "password2": NEW}
    assert Client().post(link, account).status_code == 302
    user = User.objects.get(username="ann")
    assert (user.email, Membership.objects.get(user=user).role) == ("ann@example.org", "annotator")
    assert Client().get(link).status_code == 410  # one person only
    shown = client_of(owner).get(f"/datasets/{dataset.slug}/invitations/").content.decode()
    assert "ann@example.org" in shown


def test_the_database_alone_opens_no_invitation(dataset, owner, settings) -> None:
    invited(dataset, owner, "ann@example.org")
    nonce = Mail.objects.get().nonce
    settings.SECRET_KEY = "another"

    assert invitation_by_token(nonce) is None
    assert invitation_by_token(sending.invitation_link(Mail.objects.get()).rsplit("/", 2)[1]) is None


def test_what_was_sent_leaves_nothing_to_compute_a_link_from_and_no_address_in_the_log(
    dataset, owner
) -> None:
    invited(dataset, owner, "ann@example.org")

    mails_carry_out()

    assert Mail.objects.get().nonce == ""
    assert Mail.objects.get().state == State.DELIVERED
    assert "ann@" not in str(list(AuditEntry.objects.values_list("subject", "details")))


def test_each_address_is_told_what_became_of_it(dataset, owner) -> None:
    invited(dataset, owner, "open@example.org")

    told = invited(dataset, owner, "new@example.org", "nobody", "OPEN@example.org")

    assert [(each.address, each.good) for each in told] == [
        ("new@example.org", True),
        ("nobody", False),
        ("OPEN@example.org", False),
    ]
    assert "not an e-mail address" in told[1].sentence
    assert "has an open invitation" in told[2].sentence
    assert Mail.objects.count() == 2


def test_an_address_whose_invitation_was_revoked_is_invited_again(dataset, owner) -> None:
    invited(dataset, owner, "ann@example.org")
    invitation_revoke(invitation=dataset.invitations.get(), at=now(), by=owner)

    (told,) = invited(dataset, owner, "ann@example.org")

    assert told.good
    mails_carry_out()
    assert len(sent_mail.outbox) == 1  # of the revoked one nothing is sent


def test_too_many_addresses_are_refused_at_once_and_in_a_day(dataset, owner, client_of, monkeypatch) -> None:
    many = "\n".join(f"a{number}@example.org" for number in range(services.MOST_AT_ONCE + 1))
    form = {"role": "annotator", "people": 1, "days": 7, "language": "en", "addresses": many}

    page = client_of(owner).post(f"/datasets/{dataset.slug}/invitations/", form).content.decode()

    assert "You gave 101 addresses. Give at most 100 at once." in page
    monkeypatch.setattr(services, "MOST_IN_A_DAY", 2)
    invited(dataset, owner, "a@example.org")
    with pytest.raises(UserError, match="2 people by e-mail in a day"):
        invited(dataset, owner, "b@example.org", "c@example.org")
    assert Mail.objects.count() == 1


def test_a_mail_that_the_server_does_not_take_is_tried_again_told_on_the_page_and_given_up(
    dataset, owner, client_of, smtp, clock
) -> None:
    smtp.broken = True
    invited(dataset, owner, "ann@example.org", at=clock.now)
    address = f"/datasets/{dataset.slug}/invitations/"

    for pause in (*OF_INVITATIONS, None):
        assert mails_carry_out() == 0
        assert mails_carry_out() == 0  # not before its time
        page = client_of(owner).get(address).content.decode()
        assert ("could not be sent yet." in page) == (pause is not None)
        assert "Too busy" in page
        clock.now += pause or timedelta()

    waiting_mail = Mail.objects.get()
    assert (waiting_mail.state, waiting_mail.tries) == (State.FAILED, len(OF_INVITATIONS) + 1)
    smtp.broken = False
    again = client_of(owner).post(f"{address}{dataset.invitations.get().pk}/mail/", follow=True)
    assert "The e-mail is being sent again." in again.content.decode()
    clock.now = max(clock.now, now())
    assert mails_carry_out() == 1
    assert invitation_by_token(link_in(smtp.taken[0].get_content()).split("/")[2]) is not None


@pytest.mark.parametrize("tls", [True, False])
def test_a_mail_server_that_sends_a_byte_now_and_then_has_one_deadline(
    dataset, owner, settings, monkeypatch, tls: bool
) -> None:
    monkeypatch.setattr(backend, "SECONDS", 0.3)
    stopped = threading.Event()

    class Slow(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                while not stopped.wait(0.02):
                    self.wfile.write(b"\x16" if tls else b"2")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Slow) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        threading.Timer(3, stopped.set).start()
        settings.EMAIL_BACKEND, settings.EMAIL_USE_SSL = "curation.people.mail.backend.BoundedBackend", tls
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.server_address[1]
        invited(dataset, owner, "ann@example.org")
        begun = monotonic()

        assert mails_carry_out() == 0

        took = monotonic() - begun
        stopped.set()
        server.shutdown()
    assert took < 2
    assert Mail.objects.get().problem.startswith("The mail server could not be used: ")


def test_an_address_that_the_server_refuses_for_good_is_not_tried_again(dataset, owner, smtp) -> None:
    smtp.refuse["ann@example.org"] = "550 No such person"
    invited(dataset, owner, "ann@example.org", "bob@example.org")

    assert mails_carry_out() == 1

    refused = Mail.objects.get(to="ann@example.org")
    assert (refused.state, refused.problem) == (
        State.FAILED,
        "The mail server does not take mail for this address: 550 No such person",
    )
    assert [letter["To"] for letter in smtp.taken] == ["bob@example.org"]


def test_a_name_of_a_dataset_writes_no_header(dataset, owner, smtp) -> None:
    dataset.name = "Pairs\r\nBcc: everybody@example.org"
    dataset.save()
    invited(dataset, owner, "ann@example.org")

    mails_carry_out()

    (letter,) = smtp.taken
    assert letter["Bcc"] is None
    assert letter["Subject"] == "Invitation to Pairs Bcc: everybody@example.org"


def test_a_mail_is_in_the_language_that_was_chosen(dataset, owner) -> None:
    invited(dataset, owner, "ann@example.org", language="de")

    mails_carry_out()

    assert "lädt Sie" in sent_mail.outbox[0].body


def test_lines_are_addresses_and_each_is_taken_once() -> None:
    assert addresses_in(" a@example.org \n\nb@example.org\r\nA@example.org\n") == [
        "a@example.org",
        "b@example.org",
    ]


def test_a_new_password_by_mail_ends_sessions_and_tokens_and_the_link_works_once(client, settings) -> None:
    user = UserFactory(username="ann", email="Ann@example.org")
    user.set_password("the-old-password")
    user.save()
    elsewhere, program = Client(), Client(HTTP_AUTHORIZATION=f"Token {token_of(user, 'read')}")
    elsewhere.force_login(user)

    client.post("/accounts/password/new/", {"email": "ann@example.org"})
    mails_carry_out()
    link = link_in(sent_mail.outbox[0].body)
    form = client.get(link, follow=True)
    done = client.post(form.redirect_chain[-1][0], {"new_password1": NEW, "new_password2": NEW}, follow=True)

    assert "Everybody who was logged in" in done.content.decode()
    assert Client().login(username="ann", password=NEW)
    assert elsewhere.get("/accounts/password/").status_code == 302
    assert program.get("/api/v1/datasets/").status_code == 401
    assert "not valid, or no longer" in Client().get(link, follow=True).content.decode()


def told() -> list[tuple[list[str], str]]:
    """Whom the mails that wait go to, and what they say."""
    sent_mail.outbox.clear()
    mails_carry_out()
    return [(mail.to, mail.body) for mail in sent_mail.outbox]


def test_who_gets_a_new_password_is_told_whoever_changed_it(client, client_of) -> None:
    user = UserFactory(username="ann", email="ann@example.org")
    user.set_password("the-old-password")
    user.save()

    client_of(user).post(
        "/accounts/password/",
        {"old_password": "the-old-password", "new_password1": NEW, "new_password2": NEW},
    )
    [(to, text)] = told()
    assert to == ["ann@example.org"]
    assert "password of the account “ann” on Semblance was changed" in text
    assert link_in(text) == "/accounts/password/new/"

    client.post("/accounts/password/new/", {"email": "ann@example.org"})
    [(_to, text)] = told()
    form = client.get(link_in(text), follow=True)
    client.post(form.redirect_chain[-1][0], {"new_password1": NEW + "!", "new_password2": NEW + "!"})
    assert ["was changed" in text for _to, text in told()] == [True]

    admin = client_of(UserFactory(is_staff=True, is_superuser=True))
    another = {"usable_password": "true", "password1": "a-third-password", "password2": "a-third-password"}
    assert (
        admin.post(f"/admin/curation/user/{user.pk}/password/", {**another, "password2": "no"}).status_code
        == 200
    )
    assert told() == []
    assert admin.post(f"/admin/curation/user/{user.pk}/password/", another).status_code == 302
    assert ["was changed" in text for _to, text in told()] == [True]


def test_where_passwords_are_switched_off_the_mail_about_one_offers_no_other(client_of, settings) -> None:
    user = UserFactory(email="ann@example.org")
    settings.LOCAL_LOGIN = False
    admin = client_of(UserFactory(is_staff=True, is_superuser=True))

    new = {"usable_password": "true", "password1": NEW, "password2": NEW}
    admin.post(f"/admin/curation/user/{user.pk}/password/", new)

    [(_to, text)] = told()
    assert "tell the people who run the site" in text
    assert "http" not in text


def test_an_address_that_is_no_longer_an_accounts_is_told(client_of, annotator) -> None:
    annotator.email = "old@example.org"
    annotator.set_password("the-old-password")
    annotator.save()
    site = client_of(annotator)

    site.post("/accounts/email/", {"email": "new@example.org", "password": "the-old-password"})
    [(_to, text)] = told()
    site.post(link_in(text))
    assert [(to, "no longer the e-mail address" in text) for to, text in told()] == [
        (["old@example.org"], True)
    ]

    site.post("/accounts/email/remove/")
    assert [to for to, _text in told()] == [["new@example.org"]]
    site.post("/accounts/email/remove/")
    assert told() == []  # there was none


def test_without_a_mail_server_nothing_waits_for_one(annotator, settings) -> None:
    settings.MAIL_SERVER = False
    annotator.email = "ann@example.org"

    password_tell(user=annotator, site=SITE, at=now())

    assert not Mail.objects.exists()


def test_the_answer_is_the_same_where_there_is_no_account() -> None:
    UserFactory(username="ann", email="ann@example.org")
    answers, counts = [], []
    for number, to in enumerate(("ann@example.org", "nob@example.org")):
        client = Client(REMOTE_ADDR=f"192.0.2.{number}")
        with CaptureQueriesContext(connection) as count:
            answers.append(client.post("/accounts/password/new/", {"email": to}).content.decode())
        counts.append(len(count))

    masked = [re.sub("(ann|nob)@example.org|[A-Za-z0-9]{64}", "", answer) for answer in answers]
    assert masked[0] == masked[1]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("more", [{"is_active": False}, {"password": "!"}])
def test_a_closed_account_and_one_without_a_password_get_no_mail(more) -> None:
    UserFactory(email="ann@example.org", **more)
    password_mail(to="ann@example.org", site=SITE, at=now())

    mails_carry_out()

    assert sent_mail.outbox == []
    assert Mail.objects.get().state == State.DELIVERED  # nobody waits for it


def test_asking_in_somebodys_name_does_not_keep_them_from_a_new_password() -> None:
    """Whoever asks too often from one network waits. From another one the answer is as ever, and one mail is enough."""
    user = UserFactory(email="ann@example.org")
    user.set_password("the-old-password")
    user.save()
    attacker, ann = Client(REMOTE_ADDR="192.0.2.1"), Client(REMOTE_ADDR="198.51.100.1")
    ask = {"email": "ann@example.org"}

    pages = [
        attacker.post("/accounts/password/new/", ask).content.decode()
        for _number in range(MAILS_TO_ONE_FROM_ONE_ADDRESS + 1)
    ]

    assert "Too many e-mails were asked for" in pages[-1]
    assert "is on its way" in ann.post("/accounts/password/new/", ask).content.decode()
    mails_carry_out()
    (letter,) = sent_mail.outbox
    assert ann.get(link_in(letter.body), follow=True).status_code == 200


def test_a_password_that_is_waited_for_is_not_tried_for_a_day(smtp, clock) -> None:
    user = UserFactory(email="ann@example.org")
    user.set_password("the-old-password")
    user.save()
    smtp.broken = True
    password_mail(to="ann@example.org", site=SITE, at=clock.now)

    for pause in (*OF_OTHERS, timedelta()):
        mails_carry_out()
        clock.now += pause

    assert Mail.objects.get().state == State.FAILED


def test_an_address_becomes_the_accounts_with_the_link_and_not_before(client_of, annotator) -> None:
    annotator.set_password("the-old-password")
    annotator.save()
    site = client_of(annotator)
    wrong = site.post("/accounts/email/", {"email": "ann@example.org", "password": "no"}).content.decode()
    assert "The password is wrong." in wrong

    site.post("/accounts/email/", {"email": "ann@example.org", "password": "the-old-password"})
    mails_carry_out()
    annotator.refresh_from_db()
    assert annotator.email == ""
    link = link_in(sent_mail.outbox[0].body)
    assert "becomes the address" in site.get(link).content.decode()
    annotator.refresh_from_db()
    assert annotator.email == ""  # programs that look into mails open links
    site.post(link)

    annotator.refresh_from_db()
    assert annotator.email == "ann@example.org"
    assert site.post(link).status_code == 400  # once
    site.post("/accounts/email/remove/")
    annotator.refresh_from_db()
    assert annotator.email == ""


def test_a_link_is_of_one_account_its_password_and_a_day(annotator, stranger, monkeypatch) -> None:
    address_mail(user=annotator, to="ann@example.org", site=SITE, at=now())
    token = sending.address_link(Mail.objects.get(), annotator).rstrip("/").rsplit("/", 1)[1]

    with pytest.raises(UserError, match="another account"):
        address_confirm(user=stranger, token=token, site=SITE, at=now())
    with pytest.raises(UserError, match="not valid"):
        address_confirm(user=annotator, token=token[:-1], site=SITE, at=now())
    late = datetime.now(UTC) + timedelta(days=1, minutes=1)
    with monkeypatch.context() as later:
        later.setattr(signing.time, "time", late.timestamp)
        with pytest.raises(UserError, match="not valid"):
            address_confirm(user=annotator, token=token, site=SITE, at=now())
    annotator.set_password(NEW)
    annotator.save()
    with pytest.raises(UserError, match="not valid"):
        address_confirm(user=annotator, token=token, site=SITE, at=now())


def test_without_a_mail_server_no_page_offers_mail(dataset, owner, client_of, settings) -> None:
    settings.MAIL_SERVER = False
    site = client_of(owner)

    pages = [
        Client().get("/accounts/login/").content.decode(),
        site.get(f"/datasets/{dataset.slug}/invitations/").content.decode(),
    ]

    assert not any("mail" in page.lower() for page in pages)
    gone = [
        "/accounts/password/new/",
        "/accounts/email/",
        "/accounts/password/new/x/y/",
        "/accounts/email/x/",
    ]
    assert [site.get(address).status_code for address in gone] == [404] * 4


def test_links_have_the_path_of_the_site(dataset, owner, settings) -> None:
    invited(dataset, owner, "ann@example.org", site="https://site.test/a/b/")

    mails_carry_out()

    assert "https://site.test/a/b/invitations/" in sent_mail.outbox[0].body


def test_addresses_are_forgotten_and_a_sweep_invites_for_what_waits(dataset, owner, monkeypatch) -> None:
    invited(dataset, owner, "ann@example.org")
    password_mail(to="ann@example.org", site=SITE, at=now())
    called = []
    monkeypatch.setattr(waiting, "send_soon", lambda: called.append(1))
    mails_sweep()
    assert called == [1]
    mails_carry_out()

    monkeypatch.setattr(waiting, "database_now", lambda: now() + timedelta(days=2))
    mails_sweep()
    assert list(Mail.objects.values_list("kind", flat=True)) == ["invitation"]
    monkeypatch.setattr(waiting, "database_now", lambda: now() + timedelta(days=91))
    mails_sweep()
    assert not Mail.objects.exists()


def test_erasing_a_person_erases_their_mails(dataset, owner) -> None:
    invited(dataset, owner, "ann@example.org")
    user = UserFactory(email="ann@example.org")
    address_mail(user=user, to="other@example.org", site=SITE, at=now())

    account_erase(user=user, by=user, at=now())

    assert not Mail.objects.exists()


@pytest.mark.parametrize(
    ("address", "server"),
    [
        ("smtp://127.0.0.1", MailServer("127.0.0.1", 25, "", "", starts_tls=False, tls=False)),
        ("smtp+tls://a:b%40c@m.test", MailServer("m.test", 587, "a", "b@c", starts_tls=True, tls=False)),
        ("smtps://a%40m:b@m.test:1465", MailServer("m.test", 1465, "a@m", "b", starts_tls=False, tls=True)),
    ],
)
def test_a_mail_server_is_an_address(address: str, server: MailServer) -> None:
    assert mail_server_of(address) == server


@pytest.mark.parametrize(
    "address", ["mail.example.org", "http://secret@x", "smtp://", "smtp://a:secret@h:port"]
)
def test_what_is_no_mail_server_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="EMAIL_URL is not an address") as refused:
        mail_server_of(address)

    assert "secret" not in str(refused.value)


def test_a_logged_in_person_finds_the_page_of_the_address(client_of, annotator) -> None:
    assert reverse("email") in client_of(annotator).get("/", follow=True).content.decode()
