"""Simulated annotators for a campaign of somebody who tries Semblance alone."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.studies.simulation import SimulatedAnnotator
from annotation.models import Campaign, Judgement, TupleItem
from curation.files.progress import silent
from curation.foundation.errors import UserError
from curation.models import ScoreSet
from semblance.demo.accounts import members_add, simulated_users
from semblance.demo.judging import campaign_judge, time_for, values_of


class Crowd(NamedTuple):
    """annotators: how many answer. noise: in standard deviations of the values, new in each tuple."""

    annotators: int = 4
    noise: float = 0.3
    seed: int = 13


def crowd_answer(campaign: Campaign, crowd: Crowd, *, at: datetime, beside_people: bool = False) -> int:
    """Let simulated annotators answer what is left of an open campaign; the number of their judgements.

    at: when they end. beside_people: whether people may have answered questions of the campaign. Raises UserError where
    it is not open, or people answered and that is not allowed.
    """
    if campaign.state != Campaign.State.OPEN:
        sentence = _("Campaign %(number)s is %(state)s; simulated annotators answer an open one.")
        raise UserError(sentence, number=campaign.pk, state=campaign.get_state_display())
    given = Judgement.objects.filter(participation__campaign=campaign)
    people = given.filter(participation__user__simulated=False).values("participation").distinct().count()
    if people and not beside_people:
        sentence = _(
            "%(people)s people have answered questions of campaign %(number)s, and simulated answers would stand "
            "beside theirs. Add --beside-people to allow this, or simulate a copy of the campaign."
        )
        raise UserError(sentence, people=people, number=campaign.pk)
    values = _values(campaign, crowd)
    users = simulated_users("simulated", crowd.annotators)
    members_add(dataset=campaign.dataset, curators=[], annotators=users)
    missing = sum(campaign.tuples.for_scores().values_list("required", flat=True)) - given.count()
    steady = SimulatedAnnotator(noise=crowd.noise)
    return campaign_judge(
        campaign=campaign,
        people=[(user, steady) for user in users],
        latent=values,
        seed=crowd.seed,
        start=at - time_for(max(missing, 0), crowd.annotators),
        report=silent,
    )


def _values(campaign: Campaign, crowd: Crowd) -> Mapping[int, float]:
    """A value of each pair of the campaign, with the mean 0 and the standard deviation 1 where values differ: its
    oldest reference score, or a random number where not all pairs have one.
    """
    pairs = sorted(set(TupleItem.objects.filter(tuple__campaign=campaign).values_list("pair", flat=True)))
    values = np.random.default_rng([crowd.seed, 1]).normal(size=len(pairs))
    reference = ScoreSet.objects.filter(dataset=campaign.dataset, kind=ScoreSet.Kind.REFERENCE)
    score_set = reference.order_by("pk").first()
    if score_set is not None:
        scores = values_of(score_set)
        if all(pair in scores for pair in pairs):
            values = np.array([scores[pair] for pair in pairs])
    spread = values.std()
    scaled = (values - values.mean()) / (spread or 1.0)
    return dict(zip(pairs, scaled.tolist(), strict=True))
