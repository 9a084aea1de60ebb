"""Designs, studies and other work on a campaign that workers do."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.models import Job


class CampaignDesign(Job):
    """What a worker is to design for a campaign, and how far it is; or the first tuples of a draft's design.

    waiting -> running -> done | failed; running -> running, where the worker sends no heartbeat and another takes over.
    The row is the truth, and a message only invites a worker to claim it. What the campaign asks for instead resets the
    row or deletes it, and the worker that held it writes nothing more.
    """

    class Purpose(models.TextChoices):
        PREVIEW = "preview", _("work out the design")
        OPEN = "open", _("open the campaign")
        GROW = "grow", _("add pairs")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="design_work")
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.PREVIEW)
    number = models.PositiveIntegerField(
        null=True, blank=True, help_text="The number of pairs to add. Empty: all that fit."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DONE)
    asked_at = models.DateTimeField(null=True, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    first = models.JSONField(default=list, blank=True, help_text="pairs of the first tuples, for the preview")

    def __str__(self) -> str:
        return f"design of {self.campaign_id}: {self.purpose}, {self.state}"

    @property
    def is_underway(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def is_long(self) -> bool:
        """Whether a worker was asked for this design, because a request had tried and found it too long."""
        return self.attempt > 0


class CampaignStudy(models.Model):
    """The study last computed from a campaign's judgements, and of which state of it.

    A row and no cache: it is made by a worker (a `CampaignWork`) or, of a small campaign, by a page, and shown by web
    processes that share no memory with either.
    """

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="study")
    mark = models.CharField(max_length=64, blank=True, help_text="of the state that was studied")
    figures = models.JSONField(default=dict, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="that it took")

    def __str__(self) -> str:
        return f"study of {self.campaign_id}"


class CampaignWork(Job):
    """What somebody asked of a campaign's judgements, and what became of it: scores that are published, a study, a
    comparison, a bundle.

    waiting -> running -> done | failed; running -> running, where a process sends no heartbeat and another takes over.
    The row is the truth, and a message only invites a worker to claim it. Whoever withdraws the work deletes the row,
    and the process that held it writes nothing more.
    """

    class Kind(models.TextChoices):
        PUBLISH = "publish", _("publish scores")
        STUDY = "study", _("compute the figures")
        METHODS = "methods", _("compare with the rating-scale condition")
        BUNDLE = "bundle", _("make the bundle")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, db_index=False, related_name="works")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    asked = models.JSONField(default=dict, blank=True, help_text="The choices.")
    key = models.CharField(
        max_length=64, help_text="the same for what is asked twice: two clicks, a page loaded again"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True, help_text="Why it failed.")
    result = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "key"], name="one_work_per_campaign_and_wish"),
        ]
        indexes = [
            models.Index(
                fields=["state"], condition=Q(state__in=["waiting", "running"]), name="work_still_to_do"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.campaign_id}: {self.state}"

    @property
    def is_underway(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def has_bundle(self) -> bool:
        """Whether it made a bundle, which is kept as a file."""
        return self.kind == self.Kind.BUNDLE and self.state == self.State.DONE
