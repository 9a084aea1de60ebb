"""The languages of the pages that annotators see. All other pages are in English.

A language is a folder under `locale/`: `locale/fr/LC_MESSAGES/django.po` and the `django.mo` made from it. It is
offered as soon as it is there; `docs/guide/run-a-site/translate.md` says how one is added.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.conf.locale import LANG_INFO
from django.http import HttpRequest

ENGLISH = "en"
# A link to locale/, so that a wheel holds the catalogues. Followed, or makemessages would find two folders.
FOLDER: Path = (Path(__file__).parent / "translations").resolve()

# What is drawn for somebody who only judges, by the name of the address.
TRANSLATED = frozenset(
    {
        "annotation:crowd_consent",
        "annotation:crowd_entry",
        "annotation:crowd_finish",
        "annotation:judge",
        "annotation:judge_screen",
        "annotation:judgement_answered",
        "annotation:judgement_create",
        "annotation:judgement_undo",
        "annotation:mine",
        "annotation:norming_answer",
        "annotation:norming_comment",
        "annotation:norming_judge",
        "annotation:norming_screen",
        "annotation:norming_session",
        "annotation:norming_undo",
        "annotation:own_answers_delete",
        "annotation:own_data",
        "annotation:own_data_erase",
        "annotation:practice",
        "annotation:quiz",
        "annotation:rate",
        "annotation:rating_answer",
        "annotation:rating_screen",
        "annotation:rating_undo",
        "annotation:tuple_flag",
        "annotation:tuple_skip",
        "curation:api_tokens",
        "curation:api_token_revoke",
        "curation:invitation",
        "curation:session_end",
        "curation:sessions",
        "curation:sessions_end",
        "email",
        "email_confirm",
        "email_remove",
        "home",
        "login",
        "login_code",
        "login_link",
        "logout",
        "mlworkers:rate",
        "mlworkers:rate_undo",
        "password_change",
        "password_change_done",
        "password_reset",
        "password_reset_complete",
        "password_reset_confirm",
        "second_factor",
        "set_language",
        "sign_on",
        "sign_on_callback",
    }
)

# The files whose sentences stand on these pages: a file, or a folder with all that is in it.
SOURCES = (
    "annotation/about.py",
    "annotation/crowds/entering.py",
    "annotation/crowds/leaving.py",
    "annotation/forms/entering.py",
    "annotation/forms/judging.py",
    "annotation/forms/norming.py",
    "annotation/forms/quiz.py",
    "annotation/forms/rating.py",
    "annotation/judging/",
    "annotation/reasons.py",
    "annotation/views/entering.py",
    "annotation/views/judging.py",
    "annotation/results/norming.py",
    "annotation/views/norming.py",
    "annotation/views/own_data.py",
    "annotation/views/quiz.py",
    "curation/people/accounts/",
    "curation/people/members.py",
    "curation/foundation/errors.py",
    "curation/forms/people.py",
    "curation/people/mail/sending.py",
    "curation/forms/second_factor.py",
    "curation/forms/tokens.py",
    "curation/foundation/roles.py",
    "curation/people/sign_on/",
    "curation/views/accounts.py",
    "curation/views/people.py",
    "curation/views/second_factor.py",
    "curation/views/sign_on.py",
    "mlworkers/kinds/paraphrases/rating_forms.py",
    "mlworkers/kinds/paraphrases/ratings.py",
    "mlworkers/views/ratings.py",
    "semblance/failures.py",
    "semblance/home.py",
    "semblance/middleware.py",
    "templates/400.html",
    "templates/403.html",
    "templates/403_csrf.html",
    "templates/404.html",
    "templates/500.html",
    "templates/503.html",
    "templates/annotation/campaigns/_judgements.html",
    "templates/annotation/crowds/consent.html",
    "templates/annotation/crowds/erased.html",
    "templates/annotation/crowds/finish.html",
    "templates/annotation/crowds/own_data.html",
    "templates/annotation/crowds/someone_else.html",
    "templates/annotation/crowds/turned_away.html",
    "templates/annotation/judging/",
    "templates/annotation/mine.html",
    "templates/base.html",
    "templates/components/_account.html",
    "templates/components/_copy.html",
    "templates/components/_error.html",
    "templates/components/_guide_link.html",
    "templates/components/_languages.html",
    "templates/components/_pager.html",
    "templates/components/_simulated.html",
    "templates/curation/api_tokens.html",
    "templates/curation/invitation.html",
    "templates/curation/invitation_answered.html",
    "templates/curation/mail/",
    "templates/curation/sessions.html",
    "templates/error.html",
    "templates/home.html",
    "templates/mlworkers/rate.html",
    "templates/registration/",
    "templates/semblance/_ratings_waiting.html",
)


def languages_there() -> list[tuple[str, str]]:
    """English, and every language with a catalogue, by its code; each under its own name."""
    codes = sorted(path.parent.parent.name for path in FOLDER.glob("*/LC_MESSAGES/django.mo"))
    return [(code, LANG_INFO[code]["name_local"]) for code in (ENGLISH, *codes)]


def is_translated(request: HttpRequest) -> bool:
    """Whether the page of the request's address is one that annotators see."""
    match = request.resolver_match
    return match is not None and match.view_name in TRANSLATED


def language_choices(request: HttpRequest) -> dict[str, Any]:
    """For templates: the languages to choose from, on the pages that have them."""
    choices = settings.LANGUAGES if is_translated(request) and len(settings.LANGUAGES) > 1 else []
    return {"language_choices": choices}
