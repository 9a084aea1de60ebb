"""Where a dataset stands, for the head of its pages."""

from collections.abc import Set
from typing import Any

from django import template
from django.template.context import Context
from django.urls import reverse

from annotation.models import Campaign
from curation.models import Dataset
from semblance.journey import steps_shown

register = template.Library()


@register.inclusion_tag("semblance/_journey.html", takes_context=True)
def journey(context: Context, dataset: Dataset, pairs: int, rights: Set[str]) -> dict[str, Any]:
    """The steps, on a page about a campaign those of the campaign. No button leads to the page that is open. The page
    of an upload and the campaign's own page have the button of the next step themselves.
    """
    campaign, page = context.get("campaign"), context["request"].get_full_path()
    of_page = campaign if isinstance(campaign, Campaign) and campaign.dataset_id == dataset.pk else None
    on_its_page = of_page is not None and page == reverse("annotation:campaign", args=[of_page.pk])
    uploads = ("curation:import", "annotation:judgement_imports")
    importing = any(page.startswith(reverse(name, args=[dataset.slug])) for name in uploads)
    return {
        "steps": steps_shown(dataset, pairs=pairs, rights=rights, campaign=of_page),
        "page": page,
        "without_button": on_its_page or (importing and not pairs),
    }
