"""The main job on the scenes, through the services, runs and workers that the pages use."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Campaign, Participation
from curation.models import ScoreSet
from curation.statistics.influence import spearman_within
from mlworkers.models import Run
from semblance.demo.accounts import Account
from semblance.demo.comparing import compared, people_learned, small_initialised
from semblance.demo.importing import scenes_import
from semblance.demo.judging import scores_from_people, values_of
from semblance.demo.machines import encoders_from_machines
from semblance.demo.plan import LATENT, DemoPlan, Stages


@dataclass(frozen=True)
class Demonstrated:
    """What a demonstration made.

    campaign: the one that was judged. learned: the run whose encoders learned from its scores. figures: of all.
    """

    campaign: Campaign
    learned: Run
    figures: dict[str, Any]


def demonstrate(
    plan: DemoPlan, *, owner: Account, curator: Account, annotator: Account, at: datetime, stages: Stages
) -> Demonstrated:
    """Run the whole job.

    Of the figures, `people`, `minilm` and `small` are those of the three comparisons (`comparing.compared`).
    """
    dataset = scenes_import(plan, owner=owner.user, stages=stages)
    campaign, published = scores_from_people(
        plan, dataset, curator=curator.user, annotator=annotator.user, at=at, stages=stages
    )
    small = small_initialised(plan, dataset, by=owner.user, stages=stages)
    learned = people_learned(plan, published, small, by=owner.user, stages=stages)
    comparisons, machines = encoders_from_machines(
        plan, dataset, small=small, by=owner.user, at=at, stages=stages
    )
    stages.run("Export", kind="export_dataset", by=curator.user, dataset=dataset.slug)
    runs = {"people": learned, **comparisons}
    figures = people_figures(campaign, published) | machines
    return Demonstrated(campaign, learned, figures | {name: compared(run) for name, run in runs.items()})


def people_figures(campaign: Campaign, published: ScoreSet) -> dict[str, Any]:
    """The result of the judgements, and how the published scores agree with the known relatedness."""
    scores = values_of(published)
    latent = values_of(campaign.dataset.score_sets.get(name=LATENT))
    reliability = published.parameters["reliability"]
    agreement = spearman_within([latent[pair] for pair in scores], list(scores.values()))
    return {
        "pairs": len(scores),
        "tuples": campaign.tuples.for_scores().count(),
        "judgements": published.parameters["judgements"],
        "annotators_stopped": campaign.participations.filter(state=Participation.State.STOPPED).count(),
        "shr_spearman": reliability["spearman_mean"],
        "latent_spearman": agreement.value,
        "latent_low": agreement.low,
        "latent_high": agreement.high,
    }
