"""The human sentences that a run translates or paraphrases."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.pipelines.human_sentences import EVERY, sources_drawn
from mlworkers.science.paraphrasing.paraphraser import SourceError
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.paraphrasing.sources import sources_filtered
from mlworkers.science.paraphrasing.writing_plan import WritingPlan


def sources_fitting(
    plan: RoundTripPlan | WritingPlan,
    dataset: Dataset,
    *,
    language: str,
    check: Callable[[str], object],
    refusal: str,
    words: Mapping[str, object],
    report: Report,
) -> dict[str, Any]:
    """As many sentences of the plan's split as it asks for, at random, and how many were left out for which reason.

    language: its code; "" for any.
    check: raises SourceError for a text that the model cannot take.
    refusal: the sentence of the UserError that is raised where none fits. words: what it names besides.
    """

    def fits(text: str) -> bool:
        try:
            check(text)
        except SourceError:
            return False
        return True

    sources, left_out = sources_filtered(
        sources_drawn(dataset, plan.split, most=EVERY, seed=plan.seed),
        lambda source: source.text,
        least=plan.least_tokens,
        most=plan.most_tokens,
        language=language,
        fits=fits,
        enough=plan.sources,
        report=report,
    )
    if not sources:
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(left_out.items()))
        about = {"split": plan.split, "dataset": dataset.slug, "reasons": reasons or _("none there")}
        raise UserError(refusal, **about, **words)
    return {"sources": [(source.id, source.text) for source in sources], "left_out": dict(left_out)}
