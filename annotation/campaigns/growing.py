"""Pairs that join a campaign after its launch, by bridge tuples that hold pairs already scored beside them."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.bws.designs.bridging import bridge_design
from annotation.bws.designs.design import tuple_count
from annotation.bws.judgements import FloatArray, IntArray
from annotation.campaigns.designing import design_places, pairs_sample
from annotation.campaigns.rounds import (
    campaign_lock,
    campaign_record,
    campaign_require,
    design_forget,
    extension_note,
    round_write,
)
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import pairs_active, pairs_new
from annotation.campaigns.watching import NOBODY, Watch
from annotation.models import Campaign, Tuple
from annotation.results.figures import scores_now
from curation.foundation.errors import UserError, errors_shown
from curation.models import User
from curation.people.audit import Action

MOST_AT_ONCE = 10_000  # new pairs: a design of them takes some seconds


@dataclass(frozen=True)
class Growth:
    """What joining would add. fitting: pairs that could join. anchors: pairs already scored that they meet."""

    fitting: int
    pairs: int
    anchors: int
    tuples: int
    judgements: int


def growth_preview(*, campaign: Campaign, number: int | None = None) -> Growth:
    """What `campaign_grow` would add; nothing is stored. Raises UserError where nothing can be added."""
    return _newcomers(campaign, number)[0]


def campaign_grow(
    *, campaign: Campaign, number: int | None = None, by: User | None = None, watch: Watch = NOBODY
) -> Growth:
    """Ask for the dataset's pairs that fit the campaign and are not in it, or for a number of them drawn.

    Anchors are drawn evenly over the ranks of the scores as they stand. The tuples form a round, and
    the campaign's certificate keeps theirs with its seed.
    """
    growth, rows, scores = _newcomers(campaign, number)
    watch.begins(design_places(campaign, growth.pairs + growth.anchors, fewest=0))
    seed = int(campaign_rng(campaign, Stream.BRIDGES, campaign.rounds).integers(2**31))
    with errors_shown():
        items, design = bridge_design(
            scores,
            growth.pairs,
            size=campaign.tuple_size,
            factor=campaign.factor,
            seed=seed,
            sentences=rows[:, 1:],
            report=watch.searched,
        )
    with transaction.atomic():
        locked = campaign_lock(campaign)
        campaign_require(locked, Campaign.State.OPEN, Campaign.State.PAUSED)
        # Extra judgements that were chosen in the meantime do not matter: a large design takes longer than a block.
        if locked.tuples.filter(phase=Tuple.Phase.BRIDGE, round__gt=campaign.rounds).exists():
            raise UserError(
                _("“%(name)s” got other tuples in the meantime. Load the page again."), name=locked.name
            )
        number = round_write(
            locked,
            rows[items, 0][design.tuples],
            phase=Tuple.Phase.BRIDGE,
            required=locked.judgements_per_tuple,
            watch=watch,
        )
        extension_note(
            locked,
            phase=Tuple.Phase.BRIDGE,
            round=number,
            seed=design.certificate.seed,
            tuples=growth.tuples,
            pairs=growth.pairs,
            anchors=growth.anchors,
            certificate=design.certificate.as_dict(),
        )
        locked.save(update_fields=["rounds", "certificate"])
        campaign_record(locked, Action.CAMPAIGN_GROWN, by=by, pairs=growth.pairs)
        design_forget(locked)
    return growth


def _newcomers(campaign: Campaign, number: int | None) -> tuple[Growth, IntArray, FloatArray]:
    """What would join, and what it would be joined to. Raises UserError where nothing can join.

    Returns pairs with their two sentences (m + n, 3), m that have a score and then n new ones, and the m scores.
    """
    campaign_require(campaign, Campaign.State.OPEN, Campaign.State.PAUSED)
    new = _rows(pairs_new(campaign).values_list("pk", "a", "b"))
    fitting = len(new)
    if not fitting:
        raise UserError(
            _("All active pairs that fit this campaign are in it already. Import more pairs first.")
        )
    if number is not None:
        new = pairs_sample(new, number, campaign_rng(campaign, Stream.BRIDGES, campaign.rounds, number))
    if not campaign.tuple_size <= len(new) <= MOST_AT_ONCE:
        sentence = _("You can add between %(fewest)d and %(most)d pairs at a time, and there are %(pairs)d.")
        raise UserError(sentence, fewest=campaign.tuple_size, most=MOST_AT_ONCE, pairs=len(new))

    # The campaign's active pairs that have a score, with their sentences (m, 3), and the scores (m,).
    present = scores_now(campaign)
    rows = _rows(pairs_active(campaign).values_list("pk", "a", "b"))
    rows = rows[np.isin(rows[:, 0], present.pairs)]
    if not len(rows):
        raise UserError(
            _("No pair has a score yet that new pairs could be compared with. Wait for the first judgements.")
        )
    scored, scores = rows, present.values[np.searchsorted(present.pairs, rows[:, 0])]

    anchors = min(len(scored), len(new))
    tuples = tuple_count(anchors + len(new), campaign.factor)
    growth = Growth(fitting, len(new), anchors, tuples, tuples * campaign.judgements_per_tuple)
    return growth, np.concatenate([scored, new]), scores


def _rows(rows: Iterable[tuple[int, int, int]]) -> IntArray:
    return np.array(list(rows), dtype=np.int64).reshape(-1, 3)
