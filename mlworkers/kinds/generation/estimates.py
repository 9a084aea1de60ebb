"""The work, the amount in words and the room of runs that train a generator or write pairs."""

from math import ceil

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.models import Dataset
from mlworkers.pipelines import paces
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.science.synthesis.estimates import Requests, estimate_of, longest_sources
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan


def training(plan: BootstrapPlan, _dataset: Dataset) -> int:
    return plan.steps


def training_seconds(plan: BootstrapPlan) -> float:
    return plan.minutes * 60


def weights(plan: BootstrapPlan) -> int:
    """Bytes: about 12 · width² numbers a layer, and a vector for each token and each place."""
    numbers = plan.layers * 12 * plan.width**2 + (plan.vocabulary + plan.context) * plan.width
    return paces.FLOAT * numbers


def training_room(plan: BootstrapPlan, _work: int, _scaled: int) -> tuple[int, int]:
    size = weights(plan)
    return size, size * paces.OPTIMIZER


def generation(plan: GenerationPlan, dataset: Dataset) -> int:
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    return len(sources) * len(plan.label_list) * plan.samples


def generation_in_words(plan: GenerationPlan, dataset: Dataset) -> str:
    """One sentence on requests, tokens and cost; for a model that is loaded by the worker, on its rows alone."""
    if plan.writes_first_sentences:
        sources = longest_sources(plan)
    else:
        drawn = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
        sources = [source.text for source in drawn]
    if plan.endpoint_model:
        return requests_in_words(estimate_of(sources, plan))
    words = {"sources": len(sources), "rows": len(sources) * len(plan.label_list) * plan.samples}
    sentence = _("The run writes %(rows)s rows for %(sources)s sentences, and sends nothing to an endpoint.")
    return sentence % {name: intcomma(number) for name, number in words.items()}


def requests_in_words(estimate: Requests) -> str:
    words = {
        "requests": intcomma(estimate.requests),
        "read": intcomma(estimate.tokens_read),
        "written": intcomma(estimate.most_tokens_written),
    }
    sentence = _(
        "%(requests)s requests, about %(read)s tokens to be read and at most %(written)s to be written"
    )
    if estimate.most_cost is None:
        return f"{sentence % words}."
    cents_up = ceil(estimate.most_cost * 100) / 100  # a small cost is not 0.00
    costs = _("which costs up to about %(cost)s at the given prices") % {"cost": f"{cents_up:,.2f}"}
    return f"{sentence % words}, {costs}."
