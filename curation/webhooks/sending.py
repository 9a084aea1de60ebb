"""Deliveries to webhooks: each until it is answered with success, with growing pauses, and a log of what became of it.

A receiver may get a message twice, where a worker is killed after it was sent and before that was written down. The
header `webhook-id` is the same then.
"""

import json
from datetime import timedelta
from typing import Any

import httpx2
from django.conf import settings
from django.db.models import F
from django.utils.translation import gettext as _

from curation.addresses import PublicTransport
from curation.heartbeats import database_now
from curation.models import WebhookDelivery
from curation.webhooks.signing import signature
from curation.webhooks.waiting import State, deliveries_due

# How long after the first, second, … failure the next try comes. After the last one it is given up: three days in all.
PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
    timedelta(hours=24),
    timedelta(hours=34),
)
SECONDS = 10.0  # that a receiver has to answer
# Longer than a try takes: a worker that is killed in one leaves the delivery to another one after it.
CLAIMED_FOR = timedelta(seconds=60)
AT_ONCE = 100  # deliveries of one task; what is left is for the next


def deliveries_carry_out() -> int:
    """Send what is due; how many receivers answered with success."""
    done = 0
    for delivery in deliveries_due(database_now())[:AT_ONCE]:
        at = database_now()
        free = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING, next_at__lte=at)
        if free.update(next_at=at + CLAIMED_FOR):  # of two workers one gets it
            done += delivery_try(delivery)
    return done


def delivery_try(delivery: WebhookDelivery) -> bool:
    """Send it once and keep the status or the problem; whether the receiver answered with success."""
    status, problem = _posted(delivery)
    at, tries = database_now(), delivery.tries + 1
    kept = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING)
    told = {"tries": F("tries") + 1, "status": status, "problem": problem[:300], "tried_at": at}
    if not problem:
        kept.update(state=State.DELIVERED, **told)
    elif tries > len(PAUSES):
        kept.update(state=State.FAILED, **told)
    else:
        kept.update(next_at=at + PAUSES[tries - 1], **told)
    return not problem


def message_of(delivery: WebhookDelivery) -> bytes:
    """The body: its type, when it happened, and the data."""
    message = {
        "type": delivery.event,
        "timestamp": delivery.made_at.isoformat(),
        "data": {"dataset": delivery.webhook.dataset.slug, **delivery.data},
    }
    return json.dumps(message, ensure_ascii=False).encode()


def _posted(delivery: WebhookDelivery) -> tuple[int | None, str]:
    """The status of the answer, and a sentence where that is no success. Redirects are not followed."""
    body, timestamp = message_of(delivery), int(database_now().timestamp())
    headers = {
        "content-type": "application/json",
        "user-agent": "Semblance",
        "webhook-id": delivery.message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(
            delivery.webhook.secret, message_id=delivery.message_id, timestamp=timestamp, body=body
        ),
    }
    ways: dict[str, Any] = {} if settings.PRIVATE_ADDRESSES else {"transport": PublicTransport()}
    try:
        with (
            httpx2.Client(timeout=SECONDS, follow_redirects=False, trust_env=False, **ways) as client,
            client.stream("POST", delivery.webhook.url, content=body, headers=headers) as answer,
        ):
            status = int(answer.status_code)  # what the body says is not read: it may have no end
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return None, str(error) or type(error).__name__
    if 200 <= status < 300:
        return status, ""
    return status, _("The receiver answered with the status %(status)s.") % {"status": status}
