"""A campaign that a crowd has judged, written at once: what its figures, scores and files are tested on."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np

from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from annotation.campaigns.services import campaign_create, campaign_open
from annotation.judging.settling import tuples_settle
from annotation.models import Campaign, Judgement, Lease, Participation, TupleItem
from curation.models import Dataset, Pair
from tests.factories import PairFactory, UserFactory

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
STEADY = SimulatedAnnotator(noise=0.4)
CARELESS = SimulatedAnnotator(careless=1.0)


def crowd_judge(
    dataset: Dataset,
    *,
    pairs: int = 40,
    each: int = 4,
    people: dict[str, SimulatedAnnotator] | None = None,
    required: int | None = None,
    name: str = "Relatedness",
    seed: int = 5,
    given: list[Pair] | None = None,
) -> Campaign:
    """An open campaign whose tuples `each` of the people judged, all of them where there are no more.

    Pairs are best in the order in which they were made. required: judgements per tuple that count.
    """
    people = people or {"anna": STEADY, "ben": STEADY, "cleo": STEADY, "dan": STEADY}
    given = given or PairFactory.create_batch(pairs, dataset=dataset)
    campaign = campaign_open(
        campaign=campaign_create(
            dataset=dataset, name=name, guideline="Choose by meaning.", judgements_per_tuple=required or each
        ),
        at=BEGAN,
    )
    crowd_answer(campaign, given, each=each, people=people, seed=seed)
    return campaign


def crowd_answer(
    campaign: Campaign,
    given: list[Pair],
    *,
    each: int,
    people: dict[str, SimulatedAnnotator],
    seed: int = 5,
) -> None:
    """`each` of the people judge each tuple of an open campaign; the pairs are best in the order given."""
    rng = np.random.default_rng(seed)
    latent = {pair.pk: 1.0 - place / len(given) * 2 for place, pair in enumerate(given)}
    crowd = [
        (Participation.objects.create(campaign=campaign, user=UserFactory(username=name)), manner)
        for name, manner in people.items()
    ]
    guideline, rows = campaign.guidelines.first(), []
    for number, (tuple_pk, members) in enumerate(_tuples(campaign).items()):
        values = np.array([[latent[pair] for pair in members]])
        for turn in range(each):
            person, manner = crowd[(number + turn) % len(crowd)]
            rows.append(_judgement(tuple_pk, person, manner, values, rng, len(rows), guideline))
    Judgement.objects.bulk_create(rows[place] for place in rng.permutation(len(rows)))
    Lease.objects.bulk_create(_lease(row) for row in rows)
    tuples_settle(list(_tuples(campaign)))


def _tuples(campaign: Campaign) -> dict[int, list[int]]:
    """The pairs of each tuple, in the order of the design."""
    members: dict[int, list[int]] = {}
    items = TupleItem.objects.filter(tuple__campaign=campaign).order_by("tuple", "slot")
    for tuple_pk, pair in items.values_list("tuple", "pair"):
        members.setdefault(tuple_pk, []).append(pair)
    return members


def _judgement(tuple_pk, person, manner, values, rng, number, guideline) -> Judgement:
    best, worst = simulated_choices(values, manner, rng)
    return Judgement(
        tuple_id=tuple_pk,
        participation=person,
        guideline=guideline,
        best_slot=int(best[0]),
        worst_slot=int(worst[0]),
        order_shown=rng.permutation(values.shape[1]).tolist(),
        client_id=UUID(int=number),
        submitted_at=BEGAN + timedelta(seconds=number),
        active_ms=int(rng.integers(5_000, 20_000)),
    )


def _lease(judgement: Judgement) -> Lease:
    return Lease(
        tuple_id=judgement.tuple_id,
        participation=judgement.participation,
        state=Lease.State.ANSWERED,
        order_shown=judgement.order_shown,
        claimed_at=judgement.submitted_at,
        expires_at=judgement.submitted_at + timedelta(minutes=30),
    )
