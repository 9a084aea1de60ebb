"""The first half: from scene pairs to scores that simulated annotators made."""

from dataclasses import replace
from datetime import datetime, timedelta

from annotation.bws.studies.simulation import SimulatedAnnotator
from annotation.campaigns.gold import gold_add, gold_suggest
from annotation.campaigns.services import campaign_create, campaign_open
from annotation.models import Campaign
from annotation.results.publishing import scores_publish
from curation.exchange.exporting import snapshot_create
from curation.models import Dataset, PairScore, ScoreSet, User
from semblance.demo.accounts import members_add, simulated_users
from semblance.demo.importing import JUDGED, LATENT
from semblance.demo.people import SECONDS_EACH, campaign_judge
from semblance.demo.plan import DemoPlan
from semblance.demo.stages import Stages

GUIDELINE = (
    "Choose the pair whose two sentences are closest in meaning, and the pair whose sentences are furthest "
    "apart. What happens counts most, then who does it, then where and when. If two are equal, choose either."
)
WHY = "The first tells of nearly the same scene twice; the sentences of the other share hardly anything."


def scores_from_people(
    plan: DemoPlan, dataset: Dataset, *, curator: User, annotator: User, at: datetime, stages: Stages
) -> tuple[Campaign, ScoreSet]:
    """A campaign that is judged to its end, another for people who try the site, and published scores."""
    with stages.open("Design campaign") as report:
        campaign = _campaign(plan, dataset, curator, at, name="Relatedness of scenes")
        _campaign(replace(plan, judgements_per_tuple=1), dataset, curator, at, name="Your turn")
        report(1, 1, "")
    steady = SimulatedAnnotator(noise=plan.noise)
    careless = SimulatedAnnotator(noise=plan.noise, careless=plan.careless)
    users = simulated_users("simulated", plan.annotators)
    manners = [steady] * (plan.annotators - plan.careless_annotators) + [careless] * plan.careless_annotators
    members_add(dataset=dataset, curators=[curator], annotators=[annotator, *users])
    with stages.open("Judge (simulated annotators)") as report:
        campaign_judge(
            campaign=campaign,
            people=list(zip(users, manners, strict=True)),
            latent=values_of(dataset.score_sets.get(name=LATENT)),
            seed=plan.seed,
            start=at - _time_needed(plan, campaign),
            report=report,
        )
    with stages.open("Publish scores") as report:
        published = scores_publish(campaign=campaign)
        snapshot_create(dataset=dataset, by=curator)
        report(1, 1, "")
    return campaign, published


def values_of(score_set: ScoreSet) -> dict[int, float]:
    """The score of each pair by its number."""
    return dict(PairScore.objects.filter(score_set=score_set).order_by("pair").values_list("pair", "value"))


def _campaign(plan: DemoPlan, dataset: Dataset, by: User, at: datetime, *, name: str) -> Campaign:
    campaign = campaign_create(
        dataset=dataset,
        name=name,
        by=by,
        seed=plan.seed,
        judgements_per_tuple=plan.judgements_per_tuple,
        gold_every=plan.gold_every,
        gold_minimum=plan.gold_minimum,
        repeat_every=plan.repeat_every,
        guideline=GUIDELINE,
        source=JUDGED,
    )
    latent = dataset.score_sets.get(name=LATENT)
    for gold in gold_suggest(campaign=campaign, score_set=latent, number=plan.golds, seed=plan.seed):
        gold_add(campaign=campaign, pairs=gold.pairs, best=gold.best, worst=gold.worst, why=WHY)
    return campaign_open(campaign=campaign, at=at - _time_needed(plan, campaign))


def _time_needed(plan: DemoPlan, campaign: Campaign) -> timedelta:
    """How long ago the simulated annotators must have begun in order to end about now."""
    judgements = plan.pairs * campaign.factor * plan.judgements_per_tuple
    return timedelta(seconds=1.6 * SECONDS_EACH * judgements / (plan.annotators - plan.careless_annotators))
