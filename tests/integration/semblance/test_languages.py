"""The pages that annotators see are translated as a whole; all other pages are in English as a whole."""

import json
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pyotp
import pytest
from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils.http import urlsafe_base64_encode
from django.utils.timezone import now
from django.utils.translation import ngettext, override

from annotation.campaigns.examples import WorkedExample, example_add
from annotation.campaigns.norming import discussion_begin, norming_close, norming_start
from annotation.campaigns.quiz import Options, question_add
from annotation.campaigns.services import guideline_save
from annotation.judging.settling import participation_stop
from annotation.models import Campaign, GoldAnswer, Participation, SliderArm, SliderPair
from curation.foundation.roles import Role
from curation.models import User
from curation.people.accounts.addresses import address_claim
from curation.people.accounts.second_factor import SETTING_UP
from curation.people.members import invitation_create, invitation_revoke
from semblance import languages
from tests.factories import (
    CampaignFactory,
    DatasetFactory,
    GoldFactory,
    MembershipFactory,
    PairFactory,
    TupleFactory,
    UserFactory,
    token_of,
)
from tests.integration.annotation.pages import address, answer_on, hidden, new_id

pytestmark = pytest.mark.django_db
TRANSLATIONS = sorted(set(dict(settings.LANGUAGES)) - {languages.ENGLISH})
# Latin words that stay in an Arabic page: names, and words of programs.
NAMES = {"Semblance", "API", "OpenAPI", "api", "v1", "Ctrl", "UTC"}
SAID = {"aria-label", "title", "placeholder", "alt", "data-copied", "data-selected", "data-does"}


class Said(HTMLParser):
    """What a page says: its text and the attributes that are read aloud. Keys, code and names of languages are not."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        hushed = tag in {"script", "style", "kbd", "pre", "code"} or (tag != "html" and "lang" in given)
        if tag not in {"input", "meta", "link", "br", "hr", "img"}:
            self.open.append((tag, hushed or bool(self.open and self.open[-1][1])))
        self.texts += [value or "" for name, value in attributes if name in SAID]

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not (self.open and self.open[-1][1]):
            self.texts.append(data)


def latin_words(html: str) -> set[str]:
    """The words of a page in Latin letters, without those that belong there in every language."""
    said = Said()
    said.feed(html)
    for words in re.findall(r'<script id="words" type="application/json">(.*?)</script>', html):
        said.texts += [text for name, text in json.loads(words).items() if name != "login_address"]
    text = re.sub(r"\{\w+\}", " ", " ".join(said.texts))
    return set(re.findall(r"[A-Za-z]\w+", text)) - NAMES


@pytest.fixture
def greek() -> Campaign:
    """A campaign in which everything that people wrote is Greek or digits: what is Latin comes from the site."""
    dataset = DatasetFactory(name="Σύνολο", slug="77", language="el", description="Περιγραφή")
    campaign = CampaignFactory(
        dataset=dataset,
        name="Εκστρατεία",
        question="Ποια;",
        best_label="Πάνω",
        worst_label="Κάτω",
        judgements_per_tuple=2,
        gold_every=2,
    )
    for factory, first in ((TupleFactory, 0), (GoldFactory, 6)):
        for number in range(first, first + 6):
            pairs = [
                PairFactory(
                    dataset=dataset, a__text=f"Άλφα {number} {place}", b__text=f"Βήτα {number} {place}"
                )
                for place in range(4)
            ]
            factory(campaign=campaign, pairs=pairs)
    GoldAnswer.objects.update(why="Γιατί")
    MembershipFactory(dataset=dataset, user=UserFactory(username="11"), role=Role.OWNER)
    MembershipFactory(dataset=dataset, user=UserFactory(username="22"), role=Role.ANNOTATOR)
    guideline_save(campaign=campaign, text="Οδηγίες")
    pairs = tuple((f"{number}α", f"{number}β") for number in range(campaign.tuple_size))
    example_add(campaign=campaign, example=WorkedExample(pairs, 0, 1, "Γιατί"))
    return campaign


def visitor(user: User | None, language: str) -> Client:
    client = Client(headers={"Accept-Language": language})
    if user:
        client.force_login(user)
    return client


class Walk:
    """Somebody who only judges and the owner, in one language; `pages` are the answers by what they are."""

    def __init__(self, campaign: Campaign, language: str) -> None:
        self.campaign, self.language = campaign, language
        self.pages: dict[str, str] = {}
        self.annotator, self.owner = (User.objects.get(username=name) for name in ("22", "11"))
        self.site, self.nobody = visitor(self.annotator, language), visitor(None, language)

    def keep(self, name: str, answer: HttpResponse) -> HttpResponse:
        assert answer.status_code not in {301, 302}, name
        self.pages[name] = answer.content.decode()
        return answer

    def come(self) -> None:
        login = reverse("login")
        self.keep("login", self.nobody.get(login))
        self.keep("login refused", self.nobody.post(login, {"username": "22", "password": "9"}))
        other = visitor(UserFactory(username="33"), self.language)
        self.keep("no campaign", other.get(reverse("home")))
        invitation, token = invitation_create(
            dataset=self.campaign.dataset, by=self.owner, role=Role.ANNOTATOR, people=2, days=3, at=now()
        )
        here = reverse("curation:invitation", args=[token])
        self.keep("invited", self.nobody.get(here))
        refused = {"username": "22", "password1": "1", "password2": "2"}
        self.keep("an account refused", self.nobody.post(here, refused))
        self.keep("invited with an account", other.get(here))
        self.keep("already a member", self.site.get(here))
        invitation_revoke(invitation=invitation, at=now())
        self.keep("an invitation that ended", self.nobody.get(here))

    def see_to_the_address(self) -> None:
        """Pages of a site with a mail server."""
        forgotten, own = reverse("password_reset"), reverse("email")
        to = {"email": "22@παράδειγμα.ελ", "password": "99"}
        self.keep("login, with mail", self.nobody.get(reverse("login")))
        for sent in ({}, {"email": "22"}, to, to, to, to):
            self.keep(f"forgotten {len(self.pages)}", self.nobody.post(forgotten, sent))
        self.keep("no link", self.nobody.get(reverse("password_reset_confirm", args=["22", "33"])))
        number = urlsafe_base64_encode(str(self.annotator.pk).encode())
        link = reverse(
            "password_reset_confirm", args=[number, default_token_generator.make_token(self.annotator)]
        )
        form = self.nobody.get(link)["Location"]
        self.keep("new password", self.nobody.get(form))
        self.keep(
            "new password refused", self.nobody.post(form, {"new_password1": "9", "new_password2": "8"})
        )
        self.keep("new password set", self.nobody.get(reverse("password_reset_complete")))
        self.keep("address", self.site.get(own))
        self.keep("address refused", self.site.post(own, to))
        claim = address_claim(self.annotator, to=to["email"])
        self.keep("address proved", self.site.get(reverse("email_confirm", args=[claim])))
        self.keep("address kept", self.site.post(reverse("email_confirm", args=[claim]), follow=True))
        self.keep("address not proved", self.site.get(reverse("email_confirm", args=["2:2:2"])))
        self.keep("address removed", self.site.post(reverse("email_remove"), follow=True))

    def quiz(self) -> None:
        question_add(campaign=self.campaign, text="2 + 2?", options=Options(("4", "5"), 0), why="2 + 2 = 4")
        self.keep("quiz", self.site.get(address("quiz", self.campaign)))
        for answer in ({}, {"question-1": 1}):
            self.keep(f"quiz {answer}", self.site.post(address("quiz", self.campaign), answer))
        self.site.post(address("quiz", self.campaign), {"question-1": 0})

    def norming(self) -> None:
        session = norming_start(campaign=self.campaign, people=3, drawn=1)

        def place(name: str, *more: int) -> str:
            return address(name, self.campaign, *more)

        self.keep("norming", self.site.get(place("norming_session", 1)))
        self.keep("norming undo refused", self.site.post(place("norming_undo", 1), follow=True))
        page = self.keep("norming screen", self.site.get(place("norming_judge", 1)))
        sent = f"{place('norming_answer', 1)}?round="
        self.keep("norming refused", self.site.post(f"{sent}2", answer_on(page), follow=True))
        self.keep("norming answered", self.site.post(f"{sent}1", answer_on(page), follow=True))
        comment = {"tuple": session.tuples.get().pk, "text": "Λόγος"}
        self.keep("comment too early", self.site.post(place("norming_comment", 1), comment))
        discussion_begin(session=session, at=now())
        self.keep("norming discussed", self.site.get(place("norming_session", 1)))
        self.keep("comment refused", self.site.post(place("norming_comment", 1), comment | {"text": ""}))
        self.keep("comment", self.site.post(place("norming_comment", 1), comment, follow=True))
        again = self.site.get(place("norming_judge", 1))
        self.keep("judged again", self.site.post(f"{sent}2", answer_on(again), follow=True))
        self.keep("mine, with a calibration session", self.site.get(reverse("annotation:mine")))
        norming_close(session=session, at=now())
        self.keep("norming closed", self.site.get(place("norming_session", 1)))

    def rate(self) -> None:
        arm = SliderArm.objects.create(
            campaign=self.campaign, question="Πόσο;", low_label="α", high_label="ω", ratings_per_pair=2
        )
        pairs = [item.pair for item in self.campaign.tuples.first().items.all()[:2]]
        for number, pair in enumerate(pairs, 1):
            SliderPair.objects.create(arm=arm, number=number, pair=pair)
        me = self.campaign.participations.get(user=self.annotator)
        me.rates = True
        me.save()
        page = self.keep("rating", self.site.get(address("rate", self.campaign)))
        self.keep("rates and does not judge", self.site.get(address("judge", self.campaign)))
        answer = address("rating_answer", self.campaign)
        sent = {"pair": hidden(page, "pair"), "client_id": hidden(page, "client_id")}
        self.keep("no choice", self.site.post(answer, sent, follow=True))
        self.keep("no number of the scale", self.site.post(answer, sent | {"value": 101}, follow=True))
        self.keep("no pair of theirs", self.site.post(answer, sent | {"pair": 0, "value": 1}, follow=True))
        self.keep("rated", self.site.post(answer, sent | {"value": 70}, follow=True))
        self.keep(
            "rated twice", self.site.post(answer, sent | {"value": 7, "client_id": new_id()}, follow=True)
        )
        self.keep("mine, with ratings", self.site.get(reverse("annotation:mine")))
        left = self.site.get(address("rate", self.campaign))
        again = {"pair": hidden(left, "pair"), "client_id": hidden(left, "client_id"), "value": 1}
        self.keep("all rated", self.site.post(answer, again, follow=True))
        for _time in range(2):
            undone = self.site.post(address("rating_undo", self.campaign), {}, follow=True)
        self.keep("undone", undone)
        self.keep("nothing to undo", self.site.post(address("rating_undo", self.campaign), {}, follow=True))
        arm.state = "closed"
        arm.save()
        self.keep("rating is closed", self.site.get(address("rate", self.campaign)))
        me.rates = False
        me.save()

    def judge(self) -> None:
        self.keep("mine, nothing judged", self.site.get(reverse("annotation:mine")))
        self.keep("practice", self.site.get(address("practice", self.campaign)))
        self.keep("practised", self.site.get(address("practice", self.campaign), {"tuple": 2}))
        self.quiz()
        page = self.keep("screen", self.site.get(address("judge", self.campaign)))
        lease = {"lease": hidden(page, "lease")}
        for name in ("tuple_skip", "tuple_flag"):
            self.keep(name, self.site.get(address(name, self.campaign), lease))
            self.keep(f"{name} refused", self.site.post(address(name, self.campaign), lease))
        sent = address("judgement_create", self.campaign)
        self.keep("answer refused", self.site.post(sent, answer_on(page, worst=0)))
        while "expected-best" not in self.pages.get("answered", ""):
            page = self.site.get(address("judge", self.campaign))
            self.keep("answered", self.site.post(sent, answer_on(page, best=2), follow=True))
        self.keep(
            "undo refused",
            self.site.post(address("judgement_undo", self.campaign), {"client_id": "x"}, follow=True),
        )
        self.keep("mine, with judgements", self.site.get(reverse("annotation:mine")))
        self.norming()
        self.rate()

    def be_stopped(self) -> None:
        for state in (Campaign.State.PAUSED, Campaign.State.DRAFT, Campaign.State.CLOSED):
            Campaign.objects.filter(pk=self.campaign.pk).update(state=state)
            self.keep(f"screen, {state}", self.site.get(address("judge", self.campaign)))
            self.keep(f"mine, {state}", self.site.get(reverse("annotation:mine")))
        Campaign.objects.filter(pk=self.campaign.pk).update(state=Campaign.State.OPEN)
        participation = Participation.objects.get(campaign=self.campaign, user=self.annotator)
        participation_stop(participation=participation, reason="Λόγος", by=self.owner)
        self.keep("stopped", self.site.get(address("judge", self.campaign)))
        self.keep("mine, stopped", self.site.get(reverse("annotation:mine")))

    def see_to_the_account(self) -> None:
        token, password = reverse("curation:api_tokens"), reverse("password_change")
        self.keep("token", self.site.get(token))
        self.keep("token made", self.site.post(token))
        token_of(self.annotator, "judge", name="Πρόγραμμα")
        self.keep("token kept", self.site.get(token))
        other = visitor(self.annotator, self.language)
        self.keep("sessions", self.site.get(reverse("curation:sessions")))
        self.keep("sessions ended", self.site.post(reverse("curation:sessions_end"), follow=True))
        self.keep("login after the end", other.get(reverse("home"), follow=True))
        self.set_up_a_second_factor()
        self.keep("password", self.site.get(password))
        self.keep("password refused", self.site.post(password, {"old_password": "9"}))
        self.keep("password changed", self.site.get(reverse("password_change_done")))
        self.keep("not found", self.site.get("/77/77/"))
        self.keep("NUL", self.site.get(reverse("annotation:mine"), {"7": "\0"}))

    def set_up_a_second_factor(self) -> None:
        page, word = reverse("second_factor"), "a long password"
        self.annotator.set_password(word)
        self.annotator.save()
        self.site.force_login(self.annotator)
        self.keep("second factor", self.site.get(page))
        self.keep("second factor refused", self.site.post(page, {"password": "9", "code": "9"}))
        self.keep("code refused", self.site.post(page, {"password": word, "code": "9"}))
        app = pyotp.TOTP(self.site.session[SETTING_UP])
        self.keep("recovery codes", self.site.post(page, {"password": word, "code": app.now()}))
        self.keep("second factor on", self.site.get(page))
        client = visitor(None, self.language)
        client.post(reverse("login"), {"username": "22", "password": word})
        self.keep("code", client.get(reverse("login_code")))
        for _try in range(6):
            self.keep("wrong codes", client.post(reverse("login_code"), {"code": "9"}))
        self.keep("off", self.site.post(page, {"password": word, "deactivate": ""}, follow=True))


def test_no_page_of_an_annotator_has_a_word_that_is_not_translated(greek, settings) -> None:
    settings.MAIL_SERVER = True
    walk = Walk(greek, "ar")
    walk.come()
    walk.see_to_the_address()
    walk.judge()
    walk.be_stopped()
    walk.see_to_the_account()

    untranslated = {name: words for name, page in walk.pages.items() if (words := latin_words(page))}

    assert untranslated == {}
    assert all('lang="ar" dir="rtl"' in page for page in walk.pages.values())


def test_the_look_for_untranslated_words_finds_them() -> None:
    page = '<p title="Say why">شكرًا <kbd>Enter</kbd> <b lang="en">English</b><script>var a</script> Undo</p>'

    assert latin_words(page) == {"Say", "why", "Undo"}


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_page_that_is_not_translated_is_in_english_as_a_whole(greek, language) -> None:
    owner = visitor(User.objects.get(username="11"), language)

    page = owner.get(reverse("curation:dataset", args=["77"])).content.decode()
    judged = owner.get(address("judge", greek)).content.decode()

    assert '<html lang="en" dir="ltr">' in page
    assert f'<html lang="{language}"' in judged


def test_a_person_chooses_the_language_and_it_stays(greek) -> None:
    client = visitor(None, "en")

    answer = client.post(reverse("set_language"), {"language": "es", "next": reverse("login")})

    assert answer["Location"] == reverse("login")
    page = client.get(reverse("login")).content.decode()
    assert '<html lang="es" dir="ltr">' in page
    assert re.search(r'value="es"\s+lang="es"\s+aria-pressed="true"', page)


def test_choosing_a_language_leads_to_no_other_site() -> None:
    answer = Client().post(reverse("set_language"), {"language": "es", "next": "https://example.org/"})

    assert answer["Location"] == "/"


def test_sentences_with_numbers_say_them_in_every_language() -> None:
    for language in TRANSLATIONS:
        with override(language):
            said = [
                ngettext("%(number)d answered in this session", "%(number)d answered in this session", number)
                % {"number": number}
                for number in (0, 1, 2, 3, 11, 100, 1_000_000)
            ]
        assert [int(re.search(r"\d+", text)[0]) for text in said] == [0, 1, 2, 3, 11, 100, 1_000_000]
        assert not any("sitting" in text for text in said)


def run(*command: str) -> str:
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    )
    return done.stdout + done.stderr


@pytest.mark.gettext
def test_every_sentence_of_these_pages_is_in_every_catalogue(tmp_path, monkeypatch, settings) -> None:
    for source in languages.SOURCES:
        there, here = languages.FOLDER.parent / source, tmp_path / source
        here.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if there.is_dir() else shutil.copy)(there, here)
    shutil.copytree(languages.FOLDER, tmp_path / "locale")
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    monkeypatch.chdir(tmp_path)

    call_command("makemessages", locale=TRANSLATIONS, no_obsolete=True, verbosity=0)

    for language in TRANSLATIONS:
        catalogue = tmp_path / "locale" / language / "LC_MESSAGES" / "django.po"
        report = run("msgfmt", "--check-format", "--statistics", "-o", os.devnull, str(catalogue))
        assert re.fullmatch(r"\d{3,} translated messages\.\n", report), (language, report)


@pytest.mark.gettext
def test_what_the_site_reads_is_made_of_what_translators_write(tmp_path) -> None:
    for language in TRANSLATIONS:
        folder: Path = languages.FOLDER / language / "LC_MESSAGES"
        made = tmp_path / "made.mo"
        run("msgfmt", "-o", str(made), str(folder / "django.po"))
        assert run("msgunfmt", str(folder / "django.mo")) == run("msgunfmt", str(made)), language
