"""A person's token for the API."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from curation.access import AuthedRequest
from curation.people import api_token_renew, api_token_revoke


@never_cache
@require_http_methods(["GET", "POST"])
def api_token(request: AuthedRequest) -> HttpResponse:
    """The token is part of the answer that makes it and of no other."""
    made = api_token_renew(user=request.user) if request.method == "POST" else ""
    kept = Token.objects.filter(user=request.user).first()
    return render(request, "curation/api_token.html", {"made": made, "kept": kept})


@require_POST
def api_token_revoke_view(request: AuthedRequest) -> HttpResponse:
    api_token_revoke(user=request.user)
    return redirect("curation:api_token")
