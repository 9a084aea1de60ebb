"""Messages that wait to be sent to webhooks. `sending` sends them; only workers load it."""

from datetime import timedelta

from django.db.models import QuerySet

from curation.foundation.heartbeats import database_now, worker_invite
from curation.models import WebhookDelivery
from curation.people.outgoing import outgoing_due

DELIVER = "curation.webhooks_deliver"  # the task that takes the invitation
KEPT_FOR = timedelta(days=90)
State = WebhookDelivery.State


def deliver_soon() -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    worker_invite(DELIVER)


def deliveries_open() -> QuerySet[WebhookDelivery]:
    """Those of webhooks that are turned on."""
    return WebhookDelivery.objects.filter(webhook__active=True).select_related("webhook__dataset")


def deliveries_sweep() -> None:
    """Invite a worker for what is due, and forget what ended long ago."""
    at = database_now()
    WebhookDelivery.objects.filter(made_at__lt=at - KEPT_FOR).exclude(state=State.WAITING).delete()
    if outgoing_due(deliveries_open(), at).exists():
        deliver_soon()
