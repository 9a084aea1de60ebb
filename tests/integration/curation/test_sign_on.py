"""Single sign-on, against a provider in a process of its own."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from curation.foundation.command import Error
from curation.models import AuditEntry, Membership, User
from curation.people.members import account_erase, invitation_create
from curation.people.sign_on.groups import Rights, rights_of, rules_from
from semblance.sign_on_settings import issuer_check
from tests.factories import DatasetFactory, MembershipFactory, UserFactory
from tests.integration.semblance.test_site_path import PATH
from tests.integration.semblance.test_site_path import under_a_path as under_a_path_fixture
from tests.oidc_provider import CLIENT, SECRET, RunningProvider, provider_running

pytestmark = pytest.mark.django_db
under_a_path = under_a_path_fixture
BEGIN, CALLBACK = "/accounts/sign-on/", "/accounts/sign-on/callback/"
ANN = {"sub": "ann-1", "preferred_username": "ann", "given_name": "Ann", "family_name": "Example"}
MAIL = {"email": "ann@example.org", "email_verified": True}


@pytest.fixture(scope="module")
def process() -> Iterator[RunningProvider]:
    with provider_running() as running:
        yield running


@pytest.fixture
def provider(process, settings) -> RunningProvider:
    settings.OIDC_ISSUER, settings.OIDC_NAME = process.issuer, "the University"
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
    return process


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments: object) -> None:
        return None


def sent_on(address: str) -> str:
    """Where the provider sends the browser."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.build_opener(NoRedirect).open(address)
    with refused.value as answer:
        assert answer.code == 302, answer.read()
        return answer.headers["Location"]


def back_from(client: Client, page: str = "") -> str:
    """The address to which a browser comes back that went to the provider."""
    begun = client.get(BEGIN, {"next": page} if page else {})
    assert begun.status_code == 302, begun.content.decode()
    there = urlsplit(sent_on(begun["Location"]))
    assert f"{there.scheme}://{there.netloc}" == "http://testserver"
    return f"{there.path}?{there.query}"


def signed_on(client: Client, page: str = ""):
    return client.get(back_from(client, page))


def who(client: Client) -> str:
    number = client.session.get("_auth_user_id")
    return User.objects.get(pk=number).username if number else ""


def test_somebody_who_comes_first_gets_an_account_and_the_page_they_wanted(provider) -> None:
    provider.person(**ANN, **MAIL)
    client = Client()

    answer = signed_on(client, "/judge/data/")

    assert (answer.status_code, answer["Location"]) == (302, "/judge/data/")
    user = User.objects.get(username=who(client))
    assert (user.username, user.get_full_name(), user.email) == ("ann", "Ann Example", "ann@example.org")
    assert not user.has_usable_password()
    assert not user.is_staff
    assert client.session.get_expiry_age() <= 24 * 3600
    assert provider.asked() == [
        "/.well-known/openid-configuration", "/authorize", "/.well-known/openid-configuration",
        "/token", "/jwks", "/userinfo",
    ]  # fmt: skip
    assert signed_on(again := Client()).status_code == 302
    assert who(again) == "ann"
    assert User.objects.filter(username__startswith="ann").count() == 1


def test_a_taken_name_gets_a_number_and_no_other_site_is_led_to(provider) -> None:
    UserFactory(username="Ann")
    provider.person(**ANN)
    client = Client()

    answer = signed_on(client, "https://elsewhere.example.org/")

    assert answer["Location"] == "/"
    assert who(client) == "ann-2"


@pytest.mark.parametrize(
    "fault",
    ["expired", "another key", "no signature", "public key as secret", "nonce", "issuer", "audience",
     "two audiences", "userinfo", "denied"],
)  # fmt: skip
def test_an_answer_that_is_not_to_be_believed_logs_nobody_in(provider, fault: str) -> None:
    provider.person(fault=fault, **ANN, **MAIL)
    client = Client()

    answer = signed_on(client)

    assert answer.status_code == 403
    assert "You could not be logged in with the University. Try again." in answer.content.decode()
    assert who(client) == ""
    assert not User.objects.exists()


@pytest.mark.parametrize("fault", ["document", "redirect"])
def test_another_providers_document_and_a_redirect_are_not_followed(provider, fault: str) -> None:
    provider.person(fault=fault, **ANN)

    assert Client().get(BEGIN).status_code == 403
    assert provider.asked() == ["/.well-known/openid-configuration"]


def test_a_provider_that_is_away_is_one_sentence(provider, settings) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:9"

    answer = Client().get(BEGIN)

    assert answer.status_code == 403
    assert "Try again" in answer.content.decode()


def test_a_state_is_of_one_browser_and_holds_once(provider) -> None:
    provider.person(**ANN)
    ann, mallory = Client(), Client()
    back = back_from(ann)

    assert mallory.get(back).status_code == 403  # a login that somebody else began
    assert ann.get(f"{CALLBACK}?code=x&state=x").status_code == 403
    assert ann.get(back).status_code == 302
    assert ann.get(back).status_code == 403
    assert who(mallory) == ""


def test_a_stolen_code_is_worth_nothing_without_its_verifier(provider) -> None:
    """Mallory puts Ann's code into a login of her own: the provider finds another challenge (PKCE)."""
    provider.person(**ANN)
    stolen = parse_qs(urlsplit(back_from(Client())).query)["code"][0]
    mallory = Client()
    state = parse_qs(urlsplit(back_from(mallory)).query)["state"][0]

    answer = mallory.get(CALLBACK, {"code": stolen, "state": state})

    assert answer.status_code == 403
    assert who(mallory) == ""


def test_an_address_cannot_change_what_the_provider_is_asked(provider) -> None:
    provider.person(**ANN)

    begun = Client().get(
        BEGIN, {"auth_params": "redirect_uri=https://x.example", "process": "connect", "scope": "all"}
    )

    asked = parse_qs(urlsplit(begun["Location"]).query)
    assert asked["redirect_uri"] == [f"http://testserver{CALLBACK}"]
    assert set(asked["scope"][0].split()) == {"openid", "profile", "email"}


@pytest.mark.parametrize(
    ("allowed", "verified", "joined"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_an_account_is_joined_by_a_verified_address_where_the_setting_allows_it(
    provider, settings, allowed: bool, verified: bool, joined: bool
) -> None:
    settings.OIDC_JOIN_BY_EMAIL = allowed
    UserFactory(username="local", email="Ann@example.org")
    provider.person(**ANN, email="ann@example.org", email_verified=verified)
    client = Client()

    signed_on(client)

    assert who(client) == ("local" if joined else "ann")
    assert User.objects.get(username=who(client)).email == ("Ann@example.org" if joined else "")


def test_no_superuser_no_staff_without_a_group_and_none_of_two_is_joined(provider, settings) -> None:
    settings.OIDC_JOIN_BY_EMAIL = True
    accounts = [
        [{"is_superuser": True}], [{"is_staff": True}], [{}, {}],
    ]  # fmt: skip
    for number, facts in enumerate(accounts):
        email = f"p{number}@example.org"
        for each in facts:
            UserFactory(email=email, **each)
        provider.person(sub=f"p{number}", preferred_username=f"new{number}", email=email, email_verified=True)
        signed_on(client := Client())
        assert who(client) == f"new{number}"
        assert not User.objects.get(username=f"new{number}").is_staff


def test_staff_are_joined_where_a_group_makes_them_staff(provider, settings) -> None:
    settings.OIDC_JOIN_BY_EMAIL, settings.OIDC_ROLES = True, rules_from(["admins=staff"])
    UserFactory(username="local", email="ann@example.org", is_staff=True)
    provider.person(**ANN, **MAIL, groups=["admins"])

    signed_on(client := Client())

    assert who(client) == "local"


@pytest.mark.parametrize("joins", [True, False])
def test_the_owner_of_a_closed_account_gets_no_new_one(provider, settings, joins: bool) -> None:
    settings.OIDC_JOIN_BY_EMAIL = joins
    UserFactory(username="closed", email="Ann@example.org", is_active=False)
    provider.person(**ANN, **MAIL)

    answer = signed_on(client := Client())

    assert "This account is closed. Ask the administrator of this site." in answer.content.decode()
    assert (who(client), User.objects.count()) == ("", 1)


def test_an_address_that_is_not_verified_says_nothing_of_a_closed_account(provider) -> None:
    UserFactory(username="closed", email="ann@example.org", is_active=False)
    provider.person(**ANN, email="ann@example.org", email_verified=False)

    signed_on(client := Client())

    assert who(client) == "ann"


def test_a_closed_account_stays_closed(provider) -> None:
    provider.person(**ANN)
    signed_on(Client())
    User.objects.update(is_active=False)

    answer = signed_on(client := Client())

    assert "This account is closed" in answer.content.decode()
    assert who(client) == ""


def test_an_erased_person_is_no_longer_known_by_the_provider(provider) -> None:
    provider.person(**ANN)
    signed_on(Client())
    user = User.objects.get(username="ann")

    account_erase(user=user, by=user, at=now())
    signed_on(client := Client())

    assert who(client) == "ann"
    assert User.objects.get(username="ann").pk != user.pk


def test_groups_give_roles_and_a_removed_group_takes_them_back(provider, settings, dataset) -> None:
    other = DatasetFactory(slug="other")
    settings.OIDC_ROLES = rules_from(
        [
            f"lab={dataset.slug}:annotator",
            f"leads={dataset.slug}:curator",
            "leads=other:annotator",
            "it=staff",
        ]
    )
    MembershipFactory(dataset=dataset, role="owner")

    def roles(*groups: str) -> dict[str, str]:
        provider.person(**ANN, groups=list(groups))
        signed_on(Client())
        return dict(Membership.objects.filter(user__username="ann").values_list("dataset__slug", "role"))

    def is_staff() -> bool:
        return User.objects.get(username="ann").is_staff

    assert roles("lab", "/leads", "it") == {dataset.slug: "curator", "other": "annotator"}
    assert is_staff()
    assert roles("lab") == {dataset.slug: "annotator"}
    assert not is_staff()
    assert roles() == {}
    told = AuditEntry.objects.filter(dataset=dataset, subject="ann").order_by("pk")
    assert [(entry.action, entry.via) for entry in told] == [
        ("member_joined", "rule"), ("member_changed", "rule"), ("member_removed", "rule"),
    ]  # fmt: skip
    assert not other.memberships.exists()


def test_what_owners_gave_by_hand_stays(provider, settings, dataset) -> None:
    settings.OIDC_ROLES = rules_from([f"lab={dataset.slug}:annotator"])
    provider.person(**ANN, groups=[])
    signed_on(Client())
    user = User.objects.get(username="ann")
    user.is_staff = True
    user.save()
    mine = MembershipFactory(dataset=dataset, user=user, role="curator")

    for groups in (["lab"], []):
        provider.person(**ANN, groups=groups)
        signed_on(Client())

    mine.refresh_from_db()
    user.refresh_from_db()
    assert (mine.role, user.is_staff) == ("curator", True)


def test_the_only_owner_stays_one(provider, settings, dataset) -> None:
    settings.OIDC_ROLES = rules_from([f"lab={dataset.slug}:owner"])
    for groups in (["lab"], []):
        provider.person(**ANN, groups=groups)
        assert signed_on(Client()).status_code == 302

    assert dataset.memberships.get().role == "owner"


def test_an_invitation_leads_through_the_provider_and_back(provider, settings, dataset, owner) -> None:
    settings.LOCAL_LOGIN = False
    invited = {"dataset": dataset, "role": "annotator", "people": 1, "days": 3, "by": owner, "at": now()}
    _made, token = invitation_create(**invited)
    link, client = f"/invitations/{token}/", Client()
    page = client.get(link).content.decode()
    assert f"{BEGIN}?next={link}" in page
    assert "password1" not in page
    account = {"username": "eve", "password1": "a-new-long-password", "password2": "a-new-long-password"}
    client.post(link, account)
    assert not User.objects.filter(username="eve").exists()

    provider.person(**ANN)
    assert signed_on(client, link)["Location"] == link
    client.post(link)

    assert dataset.memberships.get(user__username="ann").role == "annotator"


def test_without_passwords_a_superuser_has_a_link_of_a_command_that_works_once(
    provider, settings, capsys
) -> None:
    settings.LOCAL_LOGIN = False
    admin = User.objects.create_superuser("root", password="a-long-password")
    form = {"username": "root", "password": "a-long-password"}
    for address, status in (("/accounts/login/", 200), ("/admin/login/", 302)):
        refused = Client()
        assert refused.post(address, form).status_code == status
        assert who(refused) == ""
    there = Client().get("/admin/login/?next=/admin/curation/")["Location"]
    assert there == "/accounts/login/?next=%2Fadmin%2Fcuration%2F"
    page = Client().get("/accounts/login/").content.decode()
    assert "Log in with the University" in page
    assert 'type="password"' not in page

    call_command("login_link", "root")
    link = capsys.readouterr().out.strip()
    client, second = Client(), Client()
    assert who(client) == ""
    assert "Log in as root" in client.get(link).content.decode()
    client.post(link)

    assert who(client) == "root"
    assert second.post(link).status_code == 403
    assert who(second) == ""
    admin.is_superuser = False
    admin.save()
    with pytest.raises(Error, match="no superuser called"):
        call_command("login_link", "root")


def test_without_a_provider_there_is_nothing(client) -> None:
    assert client.get(BEGIN).status_code == 404
    assert client.get(CALLBACK).status_code == 404
    assert "sign-on" not in client.get("/accounts/login/").content.decode()


def test_under_a_part_of_a_host_somebody_comes_back_to_the_page_they_wanted(provider, under_a_path) -> None:
    provider.person(**ANN)
    client = Client()

    begun = client.get(f"{PATH}{BEGIN}", {"next": f"{PATH}/judge/data/"})
    back = urlsplit(sent_on(begun["Location"]))
    answer = client.get(f"{back.path}?{back.query}")

    assert (f"{back.scheme}://{back.netloc}", back.path) == ("http://testserver", f"{PATH}{CALLBACK}")
    assert (answer.status_code, answer["Location"]) == (302, f"{PATH}/judge/data/")
    assert who(client) == "ann"
    assert client.cookies["sessionid"]["path"] == f"{PATH}/"


def test_rules_of_groups_are_read_and_the_greatest_role_holds() -> None:
    rules = rules_from(["a b=staff", " cn=lab,ou=x = d:annotator", "lead=d:owner", ""])

    assert rights_of(["a b"], rules) == Rights(staff=True)
    assert rights_of(["lead", "cn=lab,ou=x"], rules) == Rights(roles={"d": "owner"})
    assert rights_of(["nobody"], rules) == Rights()


@pytest.mark.parametrize("text", ["lab", "lab=", "=staff", "lab=d:boss", "lab=owner"])
def test_a_rule_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="says nothing about a group"):
        rules_from([text])


@pytest.mark.parametrize(
    "address", ["http://login.example.org", "login.example.org", "https://x.example?a=b"]
)
def test_an_issuer_is_an_encrypted_address(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="OIDC_ISSUER is"):
        issuer_check(address)
