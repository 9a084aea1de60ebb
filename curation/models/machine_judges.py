"""Machines that judge tuples of a campaign."""

from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now


class TupleBlock(models.Model):
    """Tuples of a campaign that machines judge as people do, drawn before any machine was asked.

    It holds the whole prompt's content, so that a run needs nothing of the campaign and all machines get the same.
    """

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="tuple_blocks")
    campaign_ref = models.BigIntegerField(unique=True)
    name = models.CharField(max_length=200, help_text="of the campaign")
    question = models.CharField(max_length=300)
    best_label = models.CharField(max_length=40)
    worst_label = models.CharField(max_length=40)
    guidelines = models.TextField(blank=True)
    tuples = models.JSONField(
        help_text="of each its number in the design, its pairs in the order of the design, and the slots in the "
        "order of the first of two questions, which was drawn; the second has them reversed"
    )
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.tuples)} tuples"


class MachineJudge(models.Model):
    """A model that judged a block of tuples. Nothing that is computed from what people judged reads its answers."""

    block = models.ForeignKey(TupleBlock, models.CASCADE, related_name="judges")
    run_ref = models.BigIntegerField(unique=True)
    model = models.CharField(max_length=500, help_text="as the plan of the run names it")
    parameters = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.model


class MachineJudgement(models.Model):
    """One answer of a machine. Where it gave none, both slots are empty."""

    judge = models.ForeignKey(MachineJudge, models.CASCADE, db_index=False, related_name="judgements")
    place = models.PositiveIntegerField(help_text="of the tuple in the block, from 0")
    reversed = models.BooleanField(help_text="whether the tuple was shown in the second order")
    best_slot = models.PositiveSmallIntegerField(null=True, blank=True)
    worst_slot = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["place", "reversed"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "place", "reversed"], name="one_machine_judgement_per_question"
            ),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="machine_judgement_is_whole_or_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}/{self.place}"
