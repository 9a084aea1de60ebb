"""Events of a dataset for other programs, stored in the transaction of the change."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from curation.models import Webhook, WebhookDelivery
from curation.people.webhooks.waiting import deliver_soon

Event = Webhook.Event


def event_happened(*, dataset: int, event: Event, key: str, data: dict[str, Any]) -> int:
    """Tell those who want to know; to how many that is.

    It is written in the transaction of the change, so that nobody is told of what did not happen, and nothing is
    forgotten where a worker or the broker is down. key: what happened, for instance “run 7”; a webhook is told once of
    one event and key, however often this is called. data: no sentence and no name of a person, because it leaves the
    site.
    """
    hooks = webhooks_for([event], dataset=dataset)
    told = [WebhookDelivery(webhook=hook, event=event, key=key, data=data) for hook in hooks]
    if told:
        WebhookDelivery.objects.bulk_create(told, ignore_conflicts=True)
        transaction.on_commit(deliver_soon)
    return len(told)


def webhooks_for(events: Iterable[Event], **of: Any) -> list[Webhook]:
    """The webhooks that want to know of one of the events; of every dataset, or as `of` says."""
    wanted = set(events)
    hooks = Webhook.objects.filter(active=True, dataset__archived=False, **of).order_by("pk")
    return [hook for hook in hooks if wanted & set(hook.events)]
