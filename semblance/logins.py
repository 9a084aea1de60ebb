"""What follows a login: a line of the log, and a row in the list of the person's sessions."""

from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.timezone import now

from curation.foundation.log_lines import log_line, log_line_at_commit
from curation.models import User
from curation.people.accounts.second_factor import second_factor_event
from curation.people.accounts.sessions import session_begin
from curation.people.accounts.visitors import visitor_address


@receiver(user_logged_in)
def login(user: User, request: HttpRequest | None = None, **about: Any) -> None:
    log_line("login", user=user.pk, address=_address(request))
    if request is not None:
        session_begin(request=request, user=user, at=now())


@receiver(user_login_failed)
def login_failed(request: HttpRequest | None = None, **about: Any) -> None:
    """Without the name that was given: people type their password there."""
    log_line("login_failed", address=_address(request))


@receiver(user_logged_out)
def logout(user: User | None, request: HttpRequest | None = None, **about: Any) -> None:
    log_line("logout", user=user.pk if user else None, address=_address(request))


@receiver(second_factor_event)
def second_factor_changed(event: str, user: User, **about: Any) -> None:
    log_line_at_commit(event, user=user.pk)


def _address(request: HttpRequest | None) -> str | None:
    return visitor_address(request) if request is not None else None
