"""Telling webhooks that a campaign has all its judgements."""

from django.db.models import Exists, F, OuterRef, Q, Sum

from annotation.models import Campaign, Tuple
from curation.people.webhooks.events import Event, event_happened, webhooks_for


def finished_tell() -> int:
    """Notify webhooks about complete open campaigns. Returns the number of notifications.

    Looked at once a minute, after adaptive phases have chosen what they ask for next, so that no judgement waits for
    it. A campaign that grows and is complete again is notified again.
    """
    datasets = {hook.dataset_id for hook in webhooks_for([Event.CAMPAIGN_FINISHED])}
    if not datasets:
        return 0
    waiting = Tuple.objects.for_scores().filter(campaign=OuterRef("pk"), collected__lt=F("required"))
    scored = Q(tuples__is_gold=False, tuples__repeats=None)
    finished = (
        Campaign.objects.filter(~Exists(waiting), state=Campaign.State.OPEN, dataset__in=datasets)
        .annotate(judgements=Sum("tuples__required", filter=scored))
        .filter(judgements__gt=0)
        .order_by("pk")
    )
    return sum(
        event_happened(
            dataset=campaign.dataset_id,
            event=Event.CAMPAIGN_FINISHED,
            key=f"campaign {campaign.pk} with {campaign.judgements} judgements",
            data={"campaign": campaign.pk, "name": campaign.name, "judgements": campaign.judgements},
        )
        for campaign in finished
    )
