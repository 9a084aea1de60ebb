"""Candidates of paraphrases that somebody can rate, for the page where annotators find their work."""

from typing import Any

from django import template

from curation.models import User
from mlworkers.kinds.paraphrases.access import ratings_open
from mlworkers.kinds.paraphrases.ratings import ratings_waiting

register = template.Library()


@register.inclusion_tag("semblance/_ratings_waiting.html")
def candidates_to_rate(user: User) -> dict[str, Any]:
    return {"waiting": ratings_waiting(user, ratings_open(user))}
