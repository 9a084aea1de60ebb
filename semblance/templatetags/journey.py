"""Where a dataset stands, for the head of its pages."""

from collections.abc import Set
from typing import Any

from django import template
from django.template.context import Context

from curation.models import Dataset
from semblance.journey import stages_of

register = template.Library()


@register.inclusion_tag("semblance/_journey.html", takes_context=True)
def journey(context: Context, dataset: Dataset, pairs: int, rights: Set[str]) -> dict[str, Any]:
    """The steps; no button leads to the page that is open."""
    return {
        "stages": stages_of(dataset, pairs=pairs, rights=rights),
        "page": context["request"].get_full_path(),
    }
