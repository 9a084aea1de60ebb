"""A person's own account: the password, the e-mail address, the sessions, and the tokens for programs."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import PasswordChangeView, PasswordResetConfirmView
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django.views.generic import FormView

from curation.forms.people import EmailForm, NewPasswordForm, OwnEmailForm, PasswordForm
from curation.forms.tokens import ApiTokenForm
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.people.accounts.addresses import address_claimed
from curation.people.accounts.sessions import is_here, session_end, sessions_end, sessions_of
from curation.people.accounts.tokens import api_token_create, api_token_revoke, api_tokens_of
from curation.people.mail.links import site_address
from curation.people.mail.services import (
    address_confirm,
    address_mail,
    address_remove,
    password_mail,
    password_tell,
)


@login_not_required
@never_cache
def admin_login(request: HttpRequest) -> HttpResponse:
    """The administration's own page asks for a password. Where nobody has one, people log in as everywhere else."""
    if settings.LOCAL_LOGIN or request.user.is_authenticated:
        return admin.site.login(request)
    return redirect(reverse("login", query={"next": request.GET.get("next") or reverse("admin:index")}))


class TellsOfPassword(FormView):  # type: ignore[type-arg]
    """A form that sets a password, of which the person's address is told."""

    def form_valid(self, form: Any) -> HttpResponse:
        with transaction.atomic():
            password_tell(user=form.user, site=site_address(self.request), at=now())
            return super().form_valid(form)


class PasswordChange(TellsOfPassword, PasswordChangeView):
    form_class = PasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}


def where_mail_is_sent(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page that does not exist on a site without a mail server, or on which nobody has a password."""

    @wraps(view)
    def answer(request: HttpRequest, *parts: Any, **named: Any) -> HttpResponseBase:
        if not (settings.MAIL_SERVER and settings.LOCAL_LOGIN):
            raise Http404
        return view(request, *parts, **named)

    return answer


@where_mail_is_sent
@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def password_reset(request: HttpRequest) -> HttpResponse:
    """The answer is the same whether there is an account with this address or not."""
    form = EmailForm(request.POST or None, request=request)
    asked = form.is_valid()
    if asked:
        password_mail(to=form.cleaned_data["email"], site=site_address(request), at=now())
    return render(request, "registration/password_reset_form.html", {"form": form, "asked": asked})


class PasswordReset(TellsOfPassword, PasswordResetConfirmView):
    """What the link of the mail opens: Django's. The new password ends sessions and tokens as every new one does."""

    form_class = NewPasswordForm


password_reset_confirm = where_mail_is_sent(PasswordReset.as_view())


@where_mail_is_sent
@never_cache
@require_http_methods(["GET", "POST"])
def email(request: AuthedRequest) -> HttpResponse:
    """The person's own address. Another one holds once the link that is sent to it was opened."""
    form = OwnEmailForm(request.POST or None, request=request)
    sent_to = ""
    if form.is_valid():
        sent_to = form.cleaned_data["email"]
        address_mail(user=request.user, to=sent_to, site=site_address(request), at=now())
        form = OwnEmailForm(request=request)
    return render(request, "registration/email.html", {"form": form, "sent_to": sent_to})


@where_mail_is_sent
@require_POST
def email_remove(request: AuthedRequest) -> HttpResponse:
    address_remove(user=request.user, site=site_address(request), at=now())
    messages.success(request, _("Your account has no e-mail address any more."))
    return redirect("email")


@where_mail_is_sent
@never_cache
@require_http_methods(["GET", "POST"])
def email_confirm(request: AuthedRequest, token: str) -> HttpResponse:
    """What the link of the mail opens. Programs that look into mails open links too, so that a button changes it."""
    if request.method == "POST":
        to = address_confirm(user=request.user, token=token, site=site_address(request), at=now())
        messages.success(
            request, _("%(address)s is now the e-mail address of your account.") % {"address": to}
        )
        return redirect("email")
    return render(
        request, "registration/email_confirm.html", {"to": address_claimed(token, user=request.user)}
    )


@never_cache
@require_http_methods(["GET", "POST"])
def api_tokens(request: AuthedRequest) -> HttpResponse:
    """A token is part of the answer that makes it and of no other."""
    form, made = ApiTokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        at = now()
        try:
            made = api_token_create(user=request.user, at=at, **form.asked(at=at))
            form = ApiTokenForm()
        except UserError as error:
            form.add_error(None, str(error))
    context = {"made": made, "form": form, "tokens": api_tokens_of(request.user), "now": now()}
    return render(request, "curation/api_tokens.html", context)


@never_cache
@require_GET
def browser_sessions(request: AuthedRequest) -> HttpResponse:
    listed = sessions_of(request.user, request=request, at=now())
    return render(request, "curation/sessions.html", {"sessions": listed})


@require_POST
def browser_session_end(request: AuthedRequest, session_pk: int) -> HttpResponse:
    if is_here(request=request, user=request.user, pk=session_pk):
        logout(request)
        return redirect(settings.LOGOUT_REDIRECT_URL)
    if session_end(user=request.user, pk=session_pk):
        messages.success(request, _("The session was ended. That browser has to log in again."))
    return redirect("curation:sessions")


@require_POST
def browser_sessions_end(request: AuthedRequest) -> HttpResponse:
    sessions_end(user=request.user, but=request)
    messages.success(request, _("All other sessions were ended. Those browsers have to log in again."))
    return redirect("curation:sessions")


@require_POST
def api_token_revoke_view(request: AuthedRequest, token_pk: int) -> HttpResponse:
    api_token_revoke(user=request.user, pk=token_pk)
    return redirect("curation:api_tokens")
