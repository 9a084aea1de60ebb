"""What was done, said on the next page with a link to what comes after it."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.html import format_html


def success_say(request: HttpRequest, sentence: str, *, then: str, address: str) -> None:
    """then: what comes next, as the words of the link."""
    messages.success(request, format_html('{} <a href="{}">{}</a>', sentence, address, then))
