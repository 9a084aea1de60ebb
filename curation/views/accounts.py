"""A person's own account: the password, and the tokens for programs."""

from typing import Any

from django.contrib.auth.views import PasswordChangeView
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from curation.access import AuthedRequest
from curation.accounts.tokens import api_token_create, api_token_revoke, api_tokens_of
from curation.errors import UserError
from curation.forms.people import PasswordForm
from curation.forms.tokens import ApiTokenForm


class PasswordChange(PasswordChangeView):
    form_class = PasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}


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


@require_POST
def api_token_revoke_view(request: AuthedRequest, token_pk: int) -> HttpResponse:
    api_token_revoke(user=request.user, pk=token_pk)
    return redirect("curation:api_tokens")
