"""The main job on the scenes, through the services, runs and workers that the pages use."""

from datetime import datetime
from typing import Any

import scipy

from annotation.models import Campaign, Participation
from curation.models import ScoreSet
from semblance.demo.accounts import Account
from semblance.demo.importing import LATENT, scenes_import
from semblance.demo.judging import scores_from_people, values_of
from semblance.demo.machines import encoders_from_machines
from semblance.demo.plan import DemoPlan, Stages


def demonstrate(
    plan: DemoPlan, *, owner: Account, curator: Account, annotator: Account, at: datetime, stages: Stages
) -> tuple[Campaign, dict[str, Any]]:
    """Run the whole job. Returns the campaign that was judged, and the figures of all that was made."""
    dataset = scenes_import(plan, owner=owner.user, stages=stages)
    campaign, published = scores_from_people(
        plan, dataset, curator=curator.user, annotator=annotator.user, at=at, stages=stages
    )
    machines = encoders_from_machines(plan, dataset, by=owner.user, at=at, stages=stages)
    stages.run("Export", kind="export_dataset", by=curator.user, dataset=dataset.slug)
    return campaign, people_figures(campaign, published) | machines


def people_figures(campaign: Campaign, published: ScoreSet) -> dict[str, Any]:
    """The result of the judgements, and how the published scores agree with the known relatedness."""
    scores = values_of(published)
    latent = values_of(campaign.dataset.score_sets.get(name=LATENT))
    reliability = published.parameters["reliability"]
    return {
        "pairs": len(scores),
        "tuples": campaign.tuples.for_scores().count(),
        "judgements": published.parameters["judgements"],
        "annotators_stopped": campaign.participations.filter(state=Participation.State.STOPPED).count(),
        "shr_spearman": reliability["spearman_mean"],
        "latent_spearman": float(
            scipy.stats.spearmanr([latent[pair] for pair in scores], list(scores.values())).statistic
        ),
    }
