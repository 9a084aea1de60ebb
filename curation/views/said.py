"""What was done, said on the next page with a link to what comes after it."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _


def success_say(request: HttpRequest, sentence: str, *, then: str, address: str) -> None:
    """then: what comes next, as the words of the link."""
    messages.success(request, format_html('{} <a href="{}">{}</a>', sentence, address, then))


def pairs_say(request: HttpRequest, slug: str, sentence: str) -> None:
    """What was done to pairs of a dataset, with a link to its pairs."""
    success_say(request, sentence, then=_("View the pairs"), address=reverse("curation:dataset", args=[slug]))
