"""Norming sessions: people judge the same tuples, and then discuss them."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from curation.models import Pair


class NormingSession(models.Model):
    """Some tuples that everybody judges alone, then discusses, and may judge again. Nothing of it counts for scores.

    judging -> discussing -> closed. The discussion begins when as many `people` have judged all tuples, or when a
    curator begins it.
    """

    class State(models.TextChoices):
        JUDGING = "judging", _("judging")
        DISCUSSING = "discussing", _("discussing")
        CLOSED = "closed", _("closed")

    campaign = models.ForeignKey(
        "annotation.Campaign", models.CASCADE, db_index=False, related_name="norming"
    )
    number = models.PositiveIntegerField()
    people = models.PositiveSmallIntegerField(_("people who take part"))
    state = models.CharField(max_length=10, choices=State.choices, default=State.JUDGING)
    created_at = models.DateTimeField(auto_now_add=True)
    discussed_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="one_norming_per_number_and_campaign"
            ),
            models.UniqueConstraint(
                fields=["campaign"], condition=~Q(state="closed"), name="one_norming_at_a_time"
            ),
            models.CheckConstraint(condition=Q(people__gte=2), name="norming_is_for_two_people_or_more"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}/norming {self.number}"


class NormingTuple(models.Model):
    """Pairs that are shown together in a norming session: no `Tuple`, so nothing hands it out or counts it."""

    session = models.ForeignKey(NormingSession, models.CASCADE, db_index=False, related_name="tuples")
    number = models.PositiveSmallIntegerField(help_text="From 1.")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_norming_tuple_per_number_and_session"
            )
        ]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"


class NormingItem(models.Model):
    tuple = models.ForeignKey(NormingTuple, models.CASCADE, db_index=False, related_name="items")
    slot = models.PositiveSmallIntegerField(help_text="from 0; the screen's order is drawn per person")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["slot"]
        constraints = [
            models.UniqueConstraint(fields=["tuple", "slot"], name="one_norming_pair_per_slot"),
            models.UniqueConstraint(fields=["tuple", "pair"], name="no_pair_twice_in_a_norming_tuple"),
        ]

    def __str__(self) -> str:
        return f"{self.tuple_id}[{self.slot}]"


class NormingJudgement(models.Model):
    """An answer in a norming session, before the discussion (round 1) or after it (round 2); a tie has no slots."""

    tuple = models.ForeignKey(NormingTuple, models.CASCADE, db_index=False, related_name="judgements")
    participation = models.ForeignKey(
        "annotation.Participation", models.CASCADE, related_name="norming_judgements"
    )
    round = models.PositiveSmallIntegerField()
    guideline = models.ForeignKey("annotation.Guideline", models.PROTECT, null=True, related_name="+")
    best_slot = models.PositiveSmallIntegerField(null=True)
    worst_slot = models.PositiveSmallIntegerField(null=True)
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation", "round"], name="one_norming_judgement_per_round"
            ),
            models.CheckConstraint(condition=Q(round__in=[1, 2]), name="norming_has_two_rounds"),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="norming_best_is_not_worst",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tuple} by {self.participation_id}, round {self.round}"


class NormingComment(models.Model):
    """What somebody wrote about a tuple of a norming session; others read it under a pseudonym."""

    tuple = models.ForeignKey(NormingTuple, models.CASCADE, related_name="comments")
    participation = models.ForeignKey(
        "annotation.Participation", models.CASCADE, related_name="norming_comments"
    )
    text = models.CharField(_("comment"), max_length=1000)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.tuple}: {self.text[:40]}"
