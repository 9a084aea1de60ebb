"""Webhooks of a dataset, and the messages to them."""

from uuid import uuid4

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.models.outgoing import Outgoing


def message_id_new() -> str:
    return f"msg_{uuid4().hex}"


class Webhook(models.Model):
    """An address that receives events of a dataset. Its secret signs what is sent, so it is kept as it is."""

    class Event(models.TextChoices):
        CAMPAIGN_FINISHED = "campaign.finished", _("A campaign has all its judgements")
        CAMPAIGN_CLOSED = "campaign.closed", _("A campaign was closed")
        ANNOTATOR_STOPPED = "annotator.stopped", _("An annotator was stopped")
        RUN_FINISHED = "run.finished", _("A run succeeded or failed")
        REVIEW_FINISHED = "review.finished", _("A review has a decision on each of its sentences")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="webhooks")
    url = models.URLField(_("address"), max_length=500)
    events = models.JSONField(_("events"), default=list)
    secret = models.CharField(max_length=100)
    active = models.BooleanField(_("turned on"), default=True)
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.url}"


class WebhookDelivery(Outgoing):
    """One message to one webhook, and what became of it."""

    TEST = "test"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    message_id = models.CharField(max_length=40, default=message_id_new, unique=True)
    event = models.CharField(max_length=30)
    key = models.CharField(max_length=200, help_text="what happened; told once")
    data = models.JSONField(default=dict)
    status = models.PositiveSmallIntegerField(null=True, help_text="of the last answer")

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "key"], name="webhook_told_once"),
        ]
        indexes = [models.Index(fields=["state", "next_at"], name="webhook_deliveries_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook.url}"

    @property
    def event_shown(self) -> str:
        labels = dict(Webhook.Event.choices)
        return str(labels.get(self.event, _("A test")))
