"""Simulated annotators, marked as such, who judge through the same verbs as the judging screen."""

import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import numpy as np

from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from annotation.judging.assignment import judgement_submit, participation_join, tuple_claim
from annotation.models import Campaign, Lease, Participation, TupleItem
from curation.files.progress import Report
from curation.models import User

# A plausible time for a screen of four pairs; these people are simulated and so is their haste.
SECONDS_EACH = 14.0


class Worker(NamedTuple):
    """One simulated annotator at work."""

    participation: Participation
    annotator: SimulatedAnnotator
    rng: np.random.Generator


def campaign_judge(
    *,
    campaign: Campaign,
    people: Sequence[tuple[User, SimulatedAnnotator]],
    latent: Mapping[int, float],
    seed: int,
    start: datetime,
    report: Report,
) -> int:
    """Let the people judge until nothing is left for any of them. Returns the number of judgements given.

    latent: the true value of each pair by its id. The person whose clock is earliest goes next, so that
    their work interleaves as real work does. Gold answers and the gate act as they do on the screen.
    """
    seeds = np.random.SeedSequence(seed).spawn(len(people))
    workers = [
        Worker(participation_join(campaign=campaign, user=user), annotator, np.random.default_rng(own))
        for (user, annotator), own in zip(people, seeds, strict=True)
    ]
    clock = [(start, number) for number in range(len(workers))]
    required = sum(campaign.tuples.for_scores().values_list("required", flat=True))
    given = 0
    while clock:
        at, number = heapq.heappop(clock)
        lease = tuple_claim(participation=workers[number].participation, at=at)
        if not isinstance(lease, Lease):
            continue  # nothing left for this person, or stopped by the gate
        later = _answer(workers[number], lease, latent, at)
        heapq.heappush(clock, (later, number))
        given += 1
        report(min(given, required), required, "")
    return given


def _answer(worker: Worker, lease: Lease, latent: Mapping[int, float], at: datetime) -> datetime:
    """Judge one tuple; returns when the person is done with it."""
    items = TupleItem.objects.filter(tuple=lease.tuple_id).order_by("slot")
    values = np.array([[latent[item.pair_id] for item in items]])
    best, worst = simulated_choices(values, worker.annotator, worker.rng)
    later = at + timedelta(seconds=SECONDS_EACH * float(worker.rng.lognormal(0, 0.4)))
    judgement_submit(
        participation=worker.participation,
        tuple_id=lease.tuple_id,
        best_slot=int(best[0]),
        worst_slot=int(worst[0]),
        client_id=UUID(bytes=worker.rng.bytes(16), version=4),
        at=later,
        shown_at=at,
        active_ms=int((later - at).total_seconds() * 1000),
    )
    return later
