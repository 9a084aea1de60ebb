"""What a run will ask of an endpoint or of the device, in words, before it starts.

Pages show it, so that nothing here imports a machine-learning library.
"""

from math import ceil
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.models import Dataset
from mlworkers.encoders.plan import ComparisonPlan
from mlworkers.pipelines.human_sentences import sources_drawn
from mlworkers.synthesis.estimates import Estimate, estimate_of, longest_sources
from mlworkers.synthesis.plan import GenerationPlan


def generation_estimate(plan: GenerationPlan, dataset: Dataset) -> str:
    """One sentence on requests, tokens and cost; for a model that is loaded by the worker, on its rows alone."""
    if plan.writes_first_sentences:
        sources = longest_sources(plan)
    else:
        drawn = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
        sources = [source.text for source in drawn]
    if plan.endpoint_model:
        return estimate_in_words(estimate_of(sources, plan))
    words = {"sources": len(sources), "rows": len(sources) * len(plan.label_list) * plan.samples}
    sentence = _("The run writes %(rows)s rows for %(sources)s sentences, and sends nothing to an endpoint.")
    return sentence % {name: intcomma(number) for name, number in words.items()}


def comparison_estimate(plan: ComparisonPlan) -> str:
    """How many encoders a comparison trains, and on how many tests each encoder is evaluated."""
    words = {
        "trainings": intcomma(plan.trainings),
        "sources": len(plan.all_sources),
        "weightings": len(plan.chosen),
        "seeds": plan.seeds,
        "tests": 1 + len(plan.suite_names),
        "rows": 1 + len(plan.baseline_names),
    }
    return (
        _(
            "%(trainings)s trainings (source datasets: %(sources)s, weightings with controls: %(weightings)s, seeds: "
            "%(seeds)s). Each encoder and %(rows)s not trained here will be evaluated on %(tests)s tests."
        )
        % words
    )


def run_estimate(plan: Any, dataset: Dataset) -> str:
    """What a run of an estimated kind will ask for, in words."""
    return (
        comparison_estimate(plan) if isinstance(plan, ComparisonPlan) else generation_estimate(plan, dataset)
    )


def estimate_in_words(estimate: Estimate) -> str:
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
