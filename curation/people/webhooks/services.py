"""Webhooks of a dataset: made, changed, tried and removed by its owners."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from curation.foundation.addresses import site_of
from curation.foundation.errors import UserError
from curation.models import Dataset, User, Webhook, WebhookDelivery
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record
from curation.people.webhooks.signing import secret_new
from curation.people.webhooks.waiting import State, deliver_soon

MOST = 10  # of a dataset


def webhooks_of(dataset: Dataset) -> QuerySet[Webhook]:
    return dataset.webhooks.order_by("pk")


@transaction.atomic
def webhook_create(*, dataset: Dataset, url: str, events: Sequence[str], by: User | None) -> Webhook:
    """A webhook with a new secret. Raises UserError where the dataset has as many as it may."""
    dataset_lock(dataset)  # two requests at once count one after the other
    if dataset.webhooks.count() >= MOST:
        raise UserError(_("A dataset has at most %(most)s webhooks. Remove one first."), most=MOST)
    made = Webhook.objects.create(
        dataset=dataset, url=url, events=list(events), secret=secret_new(), created_by=by
    )
    audit_record(dataset=dataset, action=Action.WEBHOOK_ADDED, by=by, subject=site_of(url))
    return made


@transaction.atomic
def webhook_change(
    *, webhook: Webhook, url: str, events: Sequence[str], active: bool, by: User | None
) -> Webhook:
    """What waits for a webhook that is turned off is sent when it is turned on again."""
    webhook.url, webhook.events, webhook.active = url, list(events), active
    webhook.save(update_fields=["url", "events", "active"])
    audit_record(dataset=webhook.dataset, action=Action.WEBHOOK_CHANGED, by=by, subject=site_of(url))
    if active:
        transaction.on_commit(deliver_soon)
    return webhook


@transaction.atomic
def webhook_secret_renew(*, webhook: Webhook, by: User | None) -> Webhook:
    """Another secret; the one before signs nothing any more."""
    webhook.secret = secret_new()
    webhook.save(update_fields=["secret"])
    audit_record(dataset=webhook.dataset, action=Action.WEBHOOK_CHANGED, by=by, subject=site_of(webhook.url))
    return webhook


@transaction.atomic
def webhook_remove(*, webhook: Webhook, by: User | None) -> None:
    """Its log goes too, and what was not delivered is not sent."""
    audit_record(dataset=webhook.dataset, action=Action.WEBHOOK_REMOVED, by=by, subject=site_of(webhook.url))
    webhook.delete()


@transaction.atomic
def webhook_try(*, webhook: Webhook, at: datetime) -> WebhookDelivery:
    """Send a message that says it is a test, whatever events were chosen."""
    _require_active(webhook)
    made = WebhookDelivery.objects.create(
        webhook=webhook, event=WebhookDelivery.TEST, key=f"test {at.isoformat()}"
    )
    transaction.on_commit(deliver_soon)
    return made


@transaction.atomic
def delivery_again(*, delivery: WebhookDelivery, at: datetime) -> None:
    """Send it once more, now, and again with growing pauses where that fails."""
    _require_active(delivery.webhook)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(state=State.WAITING, tries=0, next_at=at)
    transaction.on_commit(deliver_soon)


def _require_active(webhook: Webhook) -> None:
    if not webhook.active:
        raise UserError(_("This webhook is turned off, so nothing is sent. Turn it on first."))
