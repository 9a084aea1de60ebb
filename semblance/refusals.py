"""The page for somebody whose role does not allow what they asked for: it says whom to ask."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token

from curation.foundation.roles import Role
from curation.people.access import RoleRefusedError
from curation.people.members import members_of

OWNERS_NAMED = 3


@requires_csrf_token
def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403. Owners are named to members of the dataset and to staff alone: to others it does not exist (404)."""
    context = {}
    if isinstance(exception, RoleRefusedError):
        owners = members_of(exception.dataset).filter(role=Role.OWNER, user__is_active=True)[:OWNERS_NAMED]
        context = {"dataset": exception.dataset, "owners": [owner.user for owner in owners]}
    return render(request, "403.html", context, status=403)
