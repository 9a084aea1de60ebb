"""Leases, judgements and flags of tuples."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.reasons import FlagReason


class Lease(models.Model):
    """One tuple shown to one person: live while on the screen or fetched ahead, kept to say how that ended.

    A released lease ran out or was taken back; its tuple may be shown to the person again, in the same order.
    """

    class State(models.TextChoices):
        LIVE = "live", _("on the screen")
        ANSWERED = "answered", _("answered")
        SKIPPED = "skipped", _("skipped")
        RELEASED = "released", _("released")

    tuple = models.ForeignKey("annotation.Tuple", models.CASCADE, db_index=False, related_name="leases")
    participation = models.ForeignKey("annotation.Participation", models.CASCADE, related_name="leases")
    state = models.CharField(max_length=10, choices=State.choices, default=State.LIVE)
    turn = models.IntegerField(
        default=0, help_text="of a person's live leases, the one of the lowest turn is on the screen"
    )
    order_shown = models.JSONField(help_text="slots in the order of the screen")
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["tuple", "participation"], name="one_lease_per_tuple_and_person"),
            models.UniqueConstraint(
                fields=["participation", "turn"],
                condition=Q(state="live"),
                name="one_live_lease_per_person_and_turn",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="live"), name="live_lease_by_expiry")
        ]

    def __str__(self) -> str:
        return f"{self.tuple} to {self.participation}"


class Judgement(models.Model):
    """One answer. Arrival is the order of primary keys: one that is taken back and given again comes last.

    Where the campaign allows it, a person may find the pairs too close to call: a tie, without best and worst.
    """

    class Status(models.TextChoices):
        COLLECTED = "collected", _("collected")
        EXTRA = "extra", _("extra")
        EXCLUDED = "excluded", _("excluded")
        GOLD = "gold", _("gold")
        REPEAT = "repeat", _("repeat")

    tuple = models.ForeignKey("annotation.Tuple", models.PROTECT, db_index=False, related_name="judgements")
    participation = models.ForeignKey(
        "annotation.Participation", models.PROTECT, db_index=False, related_name="judgements"
    )
    sitting = models.ForeignKey("annotation.Sitting", models.SET_NULL, null=True, related_name="judgements")
    guideline = models.ForeignKey("annotation.Guideline", models.PROTECT, null=True, related_name="+")
    best_slot = models.PositiveSmallIntegerField(null=True)
    worst_slot = models.PositiveSmallIntegerField(null=True)
    order_shown = models.JSONField(help_text="slots in the order of the screen")
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    shown_at = models.DateTimeField(null=True)
    first_input_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.EXTRA)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation"], name="one_judgement_per_tuple_and_person"
            ),
            models.UniqueConstraint(
                fields=["participation", "client_id"], name="one_judgement_per_client_id"
            ),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="best_is_not_worst",
            ),
        ]
        indexes = [models.Index(fields=["participation", "-id"], name="judgement_by_person")]

    def __str__(self) -> str:
        return f"{self.tuple} by {self.participation.user}"

    @property
    def is_tie(self) -> bool:
        return self.best_slot is None


class JudgementRevision(models.Model):
    """An answer that was taken back."""

    tuple = models.ForeignKey("annotation.Tuple", models.PROTECT, related_name="revisions")
    participation = models.ForeignKey(
        "annotation.Participation", models.PROTECT, db_index=False, related_name="revisions"
    )
    client_id = models.UUIDField()
    answer = models.JSONField(
        encoder=DjangoJSONEncoder, help_text="the judgement's other fields as they were"
    )
    revised_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["participation", "client_id"], name="one_revision_per_client_id")
        ]

    def __str__(self) -> str:
        return f"{self.tuple} revised {self.revised_at:%Y-%m-%d %H:%M}"


class Flag(models.Model):
    """A tuple somebody skipped, or flagged while judging it, and why."""

    class Kind(models.TextChoices):
        SKIP = "skip", _("skipped")
        FLAG = "flag", _("flagged")

    tuple = models.ForeignKey("annotation.Tuple", models.CASCADE, db_index=False, related_name="flags")
    participation = models.ForeignKey("annotation.Participation", models.CASCADE, related_name="flags")
    kind = models.CharField(max_length=4, choices=Kind.choices)
    reason = models.CharField(_("reason"), max_length=12, choices=FlagReason.choices)
    slot = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="of the pair that is meant; empty where it is about all of them"
    )
    note = models.CharField(_("note"), max_length=500, blank=True)
    created_at = models.DateTimeField()
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation", "kind"], name="one_flag_of_a_kind_per_tuple_and_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tuple} {self.kind}"

    @property
    def is_comment(self) -> bool:
        return self.reason == FlagReason.COMMENT
