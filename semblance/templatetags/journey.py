"""Where a dataset stands, for the head of its pages."""

from collections.abc import Set
from typing import Any

from django import template

from curation.models import Dataset
from semblance.journey import stages_of

register = template.Library()


@register.inclusion_tag("semblance/_journey.html")
def journey(dataset: Dataset, pairs: int, rights: Set[str]) -> dict[str, Any]:
    return {"stages": stages_of(dataset, pairs=pairs, rights=rights)}
