"""A person's own account: the password, and the token for the API."""

from typing import Any

from django.contrib.auth.views import PasswordChangeView
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from curation.access import AuthedRequest
from curation.accounts.tokens import api_token_of, api_token_renew, api_token_revoke
from curation.forms.people import PasswordForm


class PasswordChange(PasswordChangeView):
    form_class = PasswordForm

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "request": self.request}


@never_cache
@require_http_methods(["GET", "POST"])
def api_token(request: AuthedRequest) -> HttpResponse:
    """The token is part of the answer that makes it and of no other."""
    made = api_token_renew(user=request.user, at=now()) if request.method == "POST" else ""
    return render(request, "curation/api_token.html", {"made": made, "kept": api_token_of(request.user)})


@require_POST
def api_token_revoke_view(request: AuthedRequest) -> HttpResponse:
    api_token_revoke(user=request.user)
    return redirect("curation:api_token")
