"""The answer to a request that failed for no fault of its sender: a bug, or a database that is away."""

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.csrf import requires_csrf_token

from curation.foundation.heartbeats import connection_lost
from semblance.middleware import json_refusal

RETRY_AFTER = 5  # seconds


@requires_csrf_token
def failed(request: HttpRequest) -> HttpResponse:
    """503 while the database cannot be reached, else 500: JSON for programs and the page's scripts, a page for people.

    Django calls this while it handles the exception. Nothing here may ask the database.
    """
    status = 503 if connection_lost(sys.exc_info()[1]) else 500
    sentence = (
        _(
            "The database does not answer. What you sent may not have been saved; look before you send it again."
        )
        if status == 503
        else _(
            "The error is on our side and has been logged. Everything that was saved before is still there."
        )
    )
    response: HttpResponse = json_refusal(request, sentence, status=status) or HttpResponse(
        render_to_string(f"{status}.html"), status=status
    )
    if status == 503:
        response.headers["Retry-After"] = str(RETRY_AFTER)
    return response
