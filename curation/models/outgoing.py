"""The columns that webhook deliveries and mails share."""

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _


class Outgoing(models.Model):
    """What a worker sends to another program until it is accepted, with growing pauses. `people.outgoing` moves it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("given up")

    made_at = models.DateTimeField(default=now)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=now)
    tried_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        abstract = True
