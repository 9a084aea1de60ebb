"""Shared by the tests of annotation's pages."""

import re
from html import unescape
from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.urls import reverse

from annotation.models import Campaign


def address(name: str, campaign: Campaign, *more: Any) -> str:
    return reverse(f"annotation:{name}", args=[campaign.pk, *more])


def text_of(answer: HttpResponse) -> str:
    """What a person reads: without tags, white space as one space."""
    page = re.sub(r"(?s)<(script|style|head|template).*?</\1>|<[^>]*>", " ", answer.content.decode())
    return " ".join(unescape(page).split())


def hidden(answer: HttpResponse, name: str) -> str:
    """The value of a hidden field of the page."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)">', answer.content.decode())
    assert found, name
    return found[1]


def answer_on(page: HttpResponse, *, best: int = 0, worst: int = 1, client_id: str = "") -> dict[str, Any]:
    """What the form of a judging page sends."""
    return {
        "lease": hidden(page, "lease"),
        "client_id": client_id or hidden(page, "client_id"),
        "best": best,
        "worst": worst,
    }


def new_id() -> str:
    return str(uuid4())
