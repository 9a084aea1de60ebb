"""The tuples of a campaign that are kept for machines to judge, so that they can be compared with people."""

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock, campaign_require
from annotation.campaigns.seeds import Stream, campaign_rng
from annotation.models import Campaign, Tuple, TupleItem
from curation.datasets.machine_judges import BlockTuple, block_create
from curation.foundation.errors import UserError
from curation.models import TupleBlock, User

PROPOSED = 100
MOST_TUPLES = 1_000


@transaction.atomic
def tuples_reserve(*, campaign: Campaign, number: int, by: User | None = None) -> TupleBlock:
    """Draw tuples of the design at random, and of each the order in which machines see it first.

    They stay the same for every machine. Those of the adaptive phase are left out, because they were chosen for being
    hard, as are gold tuples and repeats. Raises UserError where the campaign has too few, or its block already.
    """
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.OPEN, Campaign.State.PAUSED, Campaign.State.CLOSED)
    if not campaign.question:
        raise UserError(_("The campaign was imported without its question, so no model can be asked it."))
    designed = campaign.tuples.for_scores().exclude(phase=Tuple.Phase.ADAPTIVE).order_by("number")
    known = list(designed.values_list("pk", "number"))
    if not 1 <= number <= min(MOST_TUPLES, len(known)):
        sentence = _("Sample between 1 and %(most)d tuples; %(number)d was given.")
        raise UserError(sentence, most=min(MOST_TUPLES, len(known)), number=number)
    rng = campaign_rng(campaign, Stream.MACHINE_BLOCK)
    chosen = [known[place] for place in sorted(rng.choice(len(known), size=number, replace=False).tolist())]
    pairs: dict[int, list[int]] = {}
    members = TupleItem.objects.filter(tuple__in=[pk for pk, _number in chosen]).order_by("tuple", "slot")
    for tuple_pk, pair in members.values_list("tuple", "pair"):
        pairs.setdefault(tuple_pk, []).append(pair)
    tuples = [
        BlockTuple(number_, pairs[pk], rng.permutation(len(pairs[pk])).tolist()) for pk, number_ in chosen
    ]
    guideline = campaign.guidelines.first()
    return block_create(
        dataset=campaign.dataset,
        campaign_ref=campaign.pk,
        name=campaign.name,
        question=campaign.question,
        best_label=campaign.best_label,
        worst_label=campaign.worst_label,
        guidelines=guideline.text if guideline else "",
        tuples=tuples,
        by=by,
    )
