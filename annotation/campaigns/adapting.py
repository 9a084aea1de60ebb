"""The adaptive phase: extra judgements, asked where scores are least sure.

The owner gives a number of judgements. They are asked for block by block, each a round of tuples that want one
judgement, chosen from all judgements before it. A block is computed in no transaction and written under the
campaign's lock, if no other round was written in the meantime: of two workers, one writes. Scores that are expected
beforehand have no part in it: they made the choice no better (docs/experiments/adaptive_prior.py).
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.designs.adaptive import SHARE, adaptive_block
from annotation.bws.designs.design import DesignError
from annotation.bws.judgements import IntArray
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import fit_utilities, posterior_errors
from annotation.campaigns.rounds import (
    campaign_lock,
    campaign_record,
    campaign_require,
    extension_note,
    round_write,
    tuples_lock,
)
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.campaigns.selectors import pairs_active
from annotation.models import Campaign, Judgement, Tuple
from annotation.results.record import campaign_judgements
from annotation.results.selectors import PhaseSums, phase_sums
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.access import dataset_require_active
from curation.people.audit import Action

NEARLY = 0.9  # of the design, and of a block, are judged before the next block is chosen
# Above, choosing takes more than a second or two, and is left to the worker that looks every minute.
MOST_AT_ONCE = 4_000
MOST_PAIRS_AT_ONCE = 2_000  # the errors of all scores come from a table of pairs by pairs
ATTEMPTS = 5
PRIOR_PRECISION = 1.0

logger = logging.getLogger(__name__)


@transaction.atomic
def adaptive_spend(*, campaign: Campaign, judgements: int, by: User | None = None) -> Campaign:
    """Let the adaptive phase ask for so many judgements more."""
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.OPEN, Campaign.State.PAUSED)
    if judgements < 1:
        raise UserError(_("Give a number of judgements above 0."))
    # Each extra judgement is on a different tuple.
    tuples = campaign.tuples.for_scores().count()
    possible = math.comb(pairs_active(campaign).count(), campaign.tuple_size) - tuples
    if judgements > possible:
        sentence = _(
            "The pairs of “%(name)s” make only %(possible)d more different tuples. "
            "Ask for at most that many judgements."
        )
        raise UserError(sentence, name=campaign.name, possible=max(0, possible))
    before = campaign.adaptive_budget
    campaign.adaptive_budget += judgements
    campaign.certificate.pop("adaptive_ended", None)
    campaign.save(update_fields=["adaptive_budget", "certificate"])
    _record(campaign, before, by=by)
    return campaign


@transaction.atomic
def adaptive_withdraw(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Ask for nothing more: no further block, and no tuple of this one that nobody has judged or holds."""
    campaign = campaign_lock(campaign)
    dataset_require_active(campaign.dataset)
    untouched = campaign.tuples.filter(phase=Tuple.Phase.ADAPTIVE, collected=0, leased=0, required__gt=0)
    locked = tuples_lock(list(untouched.values_list("pk", flat=True)))
    # Read again under the locks. One that an excluded person judged stays: it may count again.
    judged = Judgement.objects.filter(tuple__campaign=campaign, tuple__phase=Tuple.Phase.ADAPTIVE)
    untouched.filter(pk__in=list(locked)).exclude(pk__in=judged.values("tuple")).update(required=0)
    return _end(campaign, by=by)


def _end(campaign: Campaign, *, by: User | None, rule: bool = False, reason: str = "") -> Campaign:
    """The caller holds the campaign's lock."""
    before = campaign.adaptive_budget
    campaign.adaptive_budget = phase_sums(campaign)[Tuple.Phase.ADAPTIVE].required
    campaign.save(update_fields=["adaptive_budget"])
    _record(campaign, before, by=by, rule=rule, reason=reason)
    return campaign


def _record(
    campaign: Campaign, before: int, *, by: User | None, rule: bool = False, reason: str = ""
) -> None:
    if before != campaign.adaptive_budget:
        changed = {"adaptive_budget": [before, campaign.adaptive_budget]}
        action = Action.CAMPAIGN_CHANGED
        campaign_record(campaign, action, by=by, rule=rule, settings=changed, reason=reason)


@dataclass(frozen=True)
class AdaptivePhase:
    """A campaign with judgements to spend, as it was when it was looked at.

    ready: whether the design and the last block are nearly judged. designed: whether the design is. quick: whether
    a page can choose a block while somebody waits.
    """

    campaign: Campaign
    left: int
    designed: bool
    ready: bool
    quick: bool


def adaptive_phase(campaign_pk: int) -> AdaptivePhase | None:
    """Whether the campaign is open and has judgements to spend; None where not. Three queries, else one."""
    open_now = Campaign.objects.filter(
        pk=campaign_pk, state=Campaign.State.OPEN, adaptive_budget__gt=0, dataset__archived=False
    )
    campaign = open_now.first()
    if campaign is None:
        return None
    sums = phase_sums(campaign)
    adaptive = sums.pop(Tuple.Phase.ADAPTIVE.value)
    left = campaign.adaptive_budget - adaptive.required
    if left < 1:
        return None
    tuples, required, judged = map(sum, zip(*sums.values(), strict=True))
    designed = judged >= NEARLY * required
    extensions = campaign.certificate.get("extensions", [])
    blocks = [row["tuples"] for row in extensions if row["phase"] == Tuple.Phase.ADAPTIVE]
    last = int(blocks[-1]) if blocks else 0
    ready = designed and adaptive.required - adaptive.collected <= (1 - NEARLY) * last
    quick = (
        max(tuples + adaptive.tuples, judged + adaptive.collected) <= MOST_AT_ONCE
        and pairs_active(campaign).count() <= MOST_PAIRS_AT_ONCE
    )
    return AdaptivePhase(campaign, left, designed, ready, quick)


def blocks_make() -> int:
    """Make the next block wherever one is due; how many were made."""
    spending = Campaign.objects.filter(state=Campaign.State.OPEN, adaptive_budget__gt=0).order_by("pk")
    looked = [adaptive_phase(pk) for pk in spending.values_list("pk", flat=True)]
    made = 0
    for phase in looked:
        if phase and phase.ready:
            try:
                made += block_make(phase) > 0
            except Exception:  # what goes wrong in one campaign must not keep the others waiting
                logger.exception("Campaign %s: no block could be made", phase.campaign.pk)
    return made


def block_make(phase: AdaptivePhase) -> int:
    """Choose the next block and write it; how many tuples it has, 0 where a round came in between.

    Where no new tuple can be chosen, the phase ends.
    """
    looked_at = phase.campaign
    try:
        pairs, seed, judgements = _block_chosen(looked_at)
    except ValueError as error:
        logger.warning("Campaign %s: the adaptive phase ends: %s", looked_at.pk, error)
        # Spend nothing more, and keep why for the owner's page.
        with transaction.atomic():
            campaign = campaign_lock(looked_at)
            asked = campaign.adaptive_budget
            _end(campaign, by=None, rule=True, reason=str(error))
            ended = {"asked": asked, "spent": campaign.adaptive_budget, "reason": str(error)}
            campaign.certificate = {**campaign.certificate, "adaptive_ended": ended}
            campaign.save(update_fields=["certificate"])
        return 0
    with transaction.atomic():
        campaign = campaign_lock(looked_at)
        left = campaign.adaptive_budget - phase_sums(campaign)[Tuple.Phase.ADAPTIVE].required
        if (
            campaign.dataset.archived
            or campaign.rounds != looked_at.rounds
            or campaign.state != Campaign.State.OPEN
            or left < 1
        ):
            return 0
        pairs = pairs[:left]
        number = round_write(campaign, pairs, phase=Tuple.Phase.ADAPTIVE, required=1)
        extension_note(
            campaign,
            phase=Tuple.Phase.ADAPTIVE,
            round=number,
            seed=seed,
            tuples=len(pairs),
            judgements=judgements,
        )
        campaign.save(update_fields=["rounds", "certificate"])
        return len(pairs)


def _block_chosen(campaign: Campaign) -> tuple[IntArray, int, int]:
    """Tuples of pairs (T, k) that no earlier tuple equals, the seed that they were chosen with, and from how many
    judgements. Raises ValueError where there are none.
    """
    judged = campaign_judgements(campaign)
    numbered = judged.as_asked(judged.feeding("maxdiff"))
    known = pairs_active(campaign).values_list("pk", "a", "b")
    rows = np.array(list(known), dtype=np.int64).reshape(-1, 3)
    active = np.searchsorted(numbered.pairs, rows[:, 0])  # (a,) the items whose pairs are still active
    likelihood = MaxDiffLikelihood(numbered.judgements)
    fit = fit_utilities(likelihood, prior_precision=PRIOR_PRECISION)
    errors = posterior_errors(fit.precision)[0]
    asked = {tuple(row) for row in np.sort(judged.asked, axis=1).tolist()}
    for attempt in range(ATTEMPTS):
        rng = campaign_rng(campaign, Stream.ADAPTIVE, campaign.rounds, attempt)
        seed = int(rng.integers(2**31))
        block = active[
            adaptive_block(
                fit.utilities[active],
                errors[active],
                size=campaign.tuple_size,
                share=SHARE,
                seed=seed,
                sentences=rows[:, 1:],
            )
        ]
        new = np.array([tuple(row) not in asked for row in np.sort(numbered.pairs[block], axis=1).tolist()])
        if new.any():
            # Shuffled: neighbours stand in the order of their scores, and what is left may be less than a block.
            return numbered.pairs[rng.permutation(block[new])], seed, len(numbered.judgements)
    raise DesignError(f"No new tuple was found in {ATTEMPTS} attempts.")


def phase_note(campaign: Campaign, phases: Mapping[str, PhaseSums]) -> str:
    """How far the adaptive phase is, in a sentence; empty where there is none."""
    adaptive = phases[Tuple.Phase.ADAPTIVE]
    if ended := campaign.certificate.get("adaptive_ended"):
        return _(
            "It stopped after %(spent)d of the %(asked)d judgements that were asked "
            "for, because no further tuple could "
            "be chosen: %(reason)s You can ask for more judgements again."
        ) % {**ended, "reason": f"{ended['reason'].rstrip('.')}."}
    if not campaign.adaptive_budget:
        return ""
    if adaptive.collected >= campaign.adaptive_budget:
        return _("All extra judgements are collected.")
    if not adaptive.tuples:
        designed = [phases[Tuple.Phase.BALANCED], phases[Tuple.Phase.BRIDGE]]
        share = sum(phase.collected for phase in designed) / max(1, sum(phase.required for phase in designed))
        if share < NEARLY:
            return _(
                "It begins when %(nearly)d %% of the designed judgements are collected. Now it is %(now)d %%."
            ) % {"nearly": 100 * NEARLY, "now": 100 * share}
    left = campaign.adaptive_budget - adaptive.required
    if not left:
        return _("The tuples for all of them are chosen.")
    return ngettext(
        "The tuple for %(n)d of them is still to be chosen.",
        "The tuples for %(n)d of them are still to be chosen.",
        left,
    ) % {"n": left}
