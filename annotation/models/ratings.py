"""The slider arm of a campaign, and ratings of single pairs."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.models import Pair


class SliderArm(models.Model):
    """Pairs of a campaign that some people rate one by one on a scale from 0 to 100, to compare the two methods.

    The people are the campaign's participations that rate. None of their ratings counts for the campaign's scores.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    campaign = models.OneToOneField("annotation.Campaign", models.CASCADE, related_name="slider_arm")
    question = models.CharField(_("question"), max_length=300)
    low_label = models.CharField(_("words at 0"), max_length=40)
    high_label = models.CharField(_("words at 100"), max_length=40)
    ratings_per_pair = models.PositiveSmallIntegerField(_("ratings per pair"), default=4)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ratings_per_pair__gte=2), name="reliability_needs_two_ratings_per_pair"
            )
        ]

    def __str__(self) -> str:
        return f"rating-scale condition of {self.campaign_id}"


class SliderPair(models.Model):
    arm = models.ForeignKey(SliderArm, models.CASCADE, db_index=False, related_name="pairs")
    number = models.PositiveIntegerField(help_text="From 1, as drawn. Each person rates in another order.")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["arm", "number"], name="one_slider_pair_per_number"),
            models.UniqueConstraint(fields=["arm", "pair"], name="no_pair_twice_in_a_slider_arm"),
        ]

    def __str__(self) -> str:
        return f"{self.arm_id}/{self.number}"


class PairRating(models.Model):
    """One person's rating of one pair, from 0 to 100; a pair that was skipped has no value and is not asked again."""

    rated = models.ForeignKey(SliderPair, models.CASCADE, db_index=False, related_name="ratings")
    participation = models.ForeignKey(
        "annotation.Participation", models.PROTECT, db_index=False, related_name="pair_ratings"
    )
    guideline = models.ForeignKey("annotation.Guideline", models.PROTECT, null=True, related_name="+")
    value = models.PositiveSmallIntegerField(
        null=True, help_text="0 to 100; empty where the pair was skipped"
    )
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    shown_at = models.DateTimeField(null=True)
    first_input_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["rated", "participation"], name="one_rating_per_pair_and_person"),
            models.UniqueConstraint(
                fields=["participation", "client_id"], name="one_rating_per_person_and_client_id"
            ),
            models.CheckConstraint(
                condition=Q(value=None) | Q(value__gte=0, value__lte=100), name="ratings_are_0_to_100"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rated} by {self.participation_id}: {self.value}"
