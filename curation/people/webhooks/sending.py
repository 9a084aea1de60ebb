"""Deliveries to webhooks: each until it is answered with success, with growing pauses, and a log of what became of it.

A receiver may get a message twice, where a worker is killed after it was sent and before that was written down. The
header `webhook-id` is the same then.
"""

import json
from datetime import timedelta

import httpx2
from django.conf import settings
from django.utils.translation import gettext as _

from curation.foundation.connections import BoundedTransport
from curation.foundation.heartbeats import database_now
from curation.models import WebhookDelivery
from curation.people.outgoing import Outcome, outgoing_carry_out
from curation.people.webhooks.signing import signature
from curation.people.webhooks.waiting import deliveries_open

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
SECONDS = 10.0  # for a whole delivery, from looking the name up: well below `CLAIMED_FOR`


def deliveries_carry_out() -> int:
    """Send what is due; how many receivers answered with success."""
    return outgoing_carry_out(
        deliveries_open(), send=delivery_try, now=database_now, pauses=lambda _row: PAUSES
    )


def message_of(delivery: WebhookDelivery) -> bytes:
    """The body: its type, when it happened, and the data."""
    message = {
        "type": delivery.event,
        "timestamp": delivery.made_at.isoformat(),
        "data": {"dataset": delivery.webhook.dataset.slug, **delivery.data},
    }
    return json.dumps(message, ensure_ascii=False).encode()


def delivery_try(delivery: WebhookDelivery) -> Outcome:
    """Send it once. Redirects are not followed."""
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
    transport = BoundedTransport(private=settings.PRIVATE_ADDRESSES, seconds=SECONDS)
    try:
        with (
            httpx2.Client(
                transport=transport, timeout=SECONDS, follow_redirects=False, trust_env=False
            ) as client,
            client.stream("POST", delivery.webhook.url, content=body, headers=headers) as answer,
        ):
            status = int(answer.status_code)  # what the body says is not read: it may have no end
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        return Outcome(str(error) or type(error).__name__, changes={"status": None})
    refused = _("The receiver answered with the status %(status)s.") % {"status": status}
    return Outcome("" if 200 <= status < 300 else refused, changes={"status": status})
