"""A new draft with the settings of another campaign."""

from itertools import count

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.campaigns.gold import gold_add
from annotation.campaigns.quiz import quiz_copy
from annotation.campaigns.services import campaign_create, guideline_save
from annotation.models import CAMPAIGN_SETTINGS, Campaign
from curation.foundation.errors import UserError
from curation.models import Pair, User


@transaction.atomic
def campaign_clone(
    *, campaign: Campaign, name: str = "", gold: bool = True, by: User | None = None
) -> Campaign:
    """A draft with the same question, pairs and design, the newest guidelines with their examples, the quiz and, with
    `gold`, the gold tuples.

    Nobody's answers are copied, and no crowd: its codes and its link belong to one campaign. Gold tuples with a pair
    that is no longer active are left out. Raises UserError where the campaign was imported: nobody knows what it asked.
    """
    if not campaign.question:
        raise UserError(
            _("“%(name)s” was imported from a file without its question; make a new campaign instead."),
            name=campaign.name,
        )
    if not (name := name.strip()):
        # The campaign's name with a number that no other campaign of the dataset has, within the length of a name.
        longest = Campaign._meta.get_field("name").max_length or 200
        taken = set(campaign.dataset.campaigns.values_list("name", flat=True))
        endings = (f" ({number})" for number in count(2))
        names = (campaign.name[: longest - len(ending)] + ending for ending in endings)
        name = next(each for each in names if each not in taken)
    newest = campaign.guidelines.first()
    chosen = {key: value for key, value in campaign.pair_filter.items() if value not in (None, "")}
    clone = campaign_create(
        dataset=campaign.dataset,
        name=name,
        by=by,
        estimate=campaign.estimate,
        **{field: getattr(campaign, field) for field in CAMPAIGN_SETTINGS},
        **chosen,
    )
    if newest:
        guideline_save(campaign=clone, text=newest.text, examples=newest.examples, by=by)
    quiz_copy(campaign, clone, by=by)
    if gold:
        for each in campaign.tuples.filter(is_gold=True).select_related("gold_answer").order_by("number"):
            pairs = [item.pair for item in each.items.select_related("pair").order_by("slot")]
            if all(pair.status == Pair.Status.ACTIVE for pair in pairs):
                answer = each.gold_answer
                best, worst = pairs[answer.best_slot], pairs[answer.worst_slot]
                gold_add(campaign=clone, pairs=pairs, best=best, worst=worst, why=answer.why, by=by)
    return clone
