"""The first half: from scene pairs to scores that simulated annotators made."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from annotation.campaigns.gold import gold_add, gold_suggest
from annotation.campaigns.services import campaign_create, campaign_open
from annotation.judging.assignment import judgement_submit, participation_join, tuple_claim
from annotation.models import Campaign, Lease, TupleItem
from annotation.results.publishing import scores_publish
from curation.exchange.exporting import snapshot_create
from curation.files.progress import Report
from curation.models import Dataset, PairScore, ScoreSet, User
from semblance.demo.accounts import members_add, simulated_users
from semblance.demo.importing import JUDGED
from semblance.demo.plan import LATENT, DemoPlan, Stages

YOUR_TURN = "Your turn"  # the campaign that is open, for people who try the site
GUIDELINE = (
    "Choose the pair whose two sentences are closest in meaning, and the pair whose sentences are furthest "
    "apart. What happens counts most, then who does it, then where and when. If two are equal, choose either."
)
# A plausible time for a screen of four pairs; these people are simulated and so is their haste.
SECONDS_EACH = 14.0
WHY = "The first tells of nearly the same scene twice; the sentences of the other share hardly anything."


def scores_from_people(
    plan: DemoPlan, dataset: Dataset, *, curator: User, annotator: User, at: datetime, stages: Stages
) -> tuple[Campaign, ScoreSet]:
    """A campaign that is judged to its end, another for people who try the site, and published scores."""
    with stages.open("Design campaign") as report:
        campaign = _campaign(plan, dataset, curator, at, name="Relatedness of scenes")
        _campaign(replace(plan, judgements_per_tuple=1), dataset, curator, at, name=YOUR_TURN)
        report(1, 1, "")
    steady = SimulatedAnnotator(noise=plan.noise)
    careless = SimulatedAnnotator(noise=plan.noise, careless=plan.careless)
    users = simulated_users("simulated", plan.annotators)
    manners = [steady] * (plan.annotators - plan.careless_annotators) + [careless] * plan.careless_annotators
    members_add(dataset=dataset, curators=[curator], annotators=[annotator, *users])
    with stages.open("Annotate (simulated annotators)") as report:
        campaign_judge(
            campaign=campaign,
            people=list(zip(users, manners, strict=True)),
            latent=values_of(dataset.score_sets.get(name=LATENT)),
            seed=plan.seed,
            start=at - _time_needed(plan, campaign),
            report=report,
        )
    with stages.open("Publish scores") as report:
        published = scores_publish(campaign=campaign, by=curator)
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
    return time_for(judgements, plan.annotators - plan.careless_annotators)


def time_for(judgements: float, annotators: int) -> timedelta:
    """How long simulated annotators need at most for so many judgements together."""
    return timedelta(seconds=1.6 * SECONDS_EACH * judgements / annotators)


def campaign_judge(
    *,
    campaign: Campaign,
    people: Sequence[tuple[User, SimulatedAnnotator]],
    latent: Mapping[int, float],
    seed: int,
    start: datetime,
    report: Report,
) -> int:
    """Let the people judge as on the judging screen until nothing is left for them. Returns the number of judgements.

    latent: the true value of each pair by its id. The person whose clock is earliest goes next, so that
    their work interleaves as real work does. Gold answers and the gate act as they do on the screen.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(people))
    workers = [
        (participation_join(campaign=campaign, user=user), annotator, np.random.default_rng(own))
        for (user, annotator), own in zip(people, seeds, strict=True)
    ]
    clock = [(start, number) for number in range(len(workers))]
    required = sum(campaign.tuples.for_scores().values_list("required", flat=True))
    given = 0
    while clock:
        at, number = heapq.heappop(clock)
        participation, annotator, rng = workers[number]
        lease = tuple_claim(participation=participation, at=at)
        if not isinstance(lease, Lease):
            continue  # nothing left for this person, or stopped by the gate
        items = TupleItem.objects.filter(tuple=lease.tuple_id).order_by("slot")
        values = np.array([[latent[item.pair_id] for item in items]])
        best, worst = simulated_choices(values, annotator, rng)
        later = at + timedelta(seconds=SECONDS_EACH * float(rng.lognormal(0, 0.4)))
        judgement_submit(
            participation=participation,
            tuple_id=lease.tuple_id,
            best_slot=int(best[0]),
            worst_slot=int(worst[0]),
            client_id=UUID(bytes=rng.bytes(16), version=4),
            at=later,
            shown_at=at,
            active_ms=int((later - at).total_seconds() * 1000),
        )
        heapq.heappush(clock, (later, number))
        given += 1
        report(min(given, required), required, "")
    return given
