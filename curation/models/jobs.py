"""What every job has in its row, beside its state and its message."""

from django.db import models


class Job(models.Model):
    """A row that a page leaves to a worker. Its moves are those of `curation.foundation.jobs`."""

    attempt = models.PositiveIntegerField(default=0, help_text="goes up with every claim and every wish")
    lost = models.PositiveSmallIntegerField(
        default=0, help_text="processes that stopped sending heartbeats since somebody asked for it"
    )
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    progressed_at = models.DateTimeField(
        null=True, blank=True, help_text="when what it reports last changed, or it was last claimed"
    )

    class Meta:
        abstract = True
