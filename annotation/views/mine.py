"""An annotator's own page: campaigns to judge in, and what they judged."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.selectors import campaigns_of, judgements_of
from curation.access import AuthedRequest
from curation.numbers import page_number


@require_GET
def mine(request: AuthedRequest) -> HttpResponse:
    context = {
        "campaigns": campaigns_of(request.user),
        "judged": judgements_of(request.user, page=page_number(request)),
    }
    return render(request, "annotation/mine.html", context)
