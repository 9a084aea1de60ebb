"""A person's part in a campaign, sittings, and the result of the quiz."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _


class Participation(models.Model):
    """One person in one campaign. Whoever changes what the person has done or holds locks this row first."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        STOPPED = "stopped", _("stopped")

    campaign = models.ForeignKey(
        "annotation.Campaign", models.CASCADE, db_index=False, related_name="participations"
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="participations")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    excluded = models.BooleanField(default=False, help_text="none of the person's judgements count")
    reason = models.TextField(blank=True, help_text="why the person is stopped or excluded")
    handed = models.PositiveIntegerField(
        default=0, help_text="tuples handed out so far; decides where the next gold stands"
    )
    cursor = models.PositiveIntegerField(
        default=0, help_text="the priority from which the next tuple is looked for"
    )
    gold_trials = models.PositiveIntegerField(default=0, help_text="best and worst are two trials")
    gold_right = models.PositiveIntegerField(default=0)
    forgiven_trials = models.PositiveIntegerField(
        default=0, help_text="trials of attention checks before the last reinstatement"
    )
    forgiven_right = models.PositiveIntegerField(default=0)
    forgiven_until = models.PositiveBigIntegerField(
        default=0, help_text="the number of the last attention check answered before the last reinstatement"
    )
    stopped_by_gold = models.BooleanField(
        default=False, help_text="the exclusion rule stopped the person, and nobody let them go on since"
    )
    joined_at = models.DateTimeField(auto_now_add=True)
    quiz_passed_at = models.DateTimeField(null=True, blank=True)
    quota = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="tuples that the person is asked to annotate; empty: all that are open",
    )
    rates = models.BooleanField(
        default=False,
        help_text="rates pairs in the campaign's rating-scale condition, and annotates no tuples",
    )
    signs_accepted = models.JSONField(
        default=list,
        blank=True,
        help_text="kinds of signs of carelessness that a curator looked at and found harmless",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "user"], name="one_participation_per_person_and_campaign"
            ),
            models.CheckConstraint(
                condition=Q(gold_right__lte=F("gold_trials")), name="gold_right_at_most_trials"
            ),
            models.CheckConstraint(
                condition=Q(forgiven_trials__lte=F("gold_trials"), forgiven_right__lte=F("gold_right")),
                name="forgiven_trials_were_made",
            ),
            models.CheckConstraint(
                condition=Q(excluded=False) | Q(state="stopped"), name="excluded_people_are_stopped"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.campaign}"

    @property
    def trials_since(self) -> int:
        """Gold trials since the person joined or was reinstated: those that the gold gate decides by."""
        return self.gold_trials - self.forgiven_trials

    @property
    def right_since(self) -> int:
        return self.gold_right - self.forgiven_right


class QuizResult(models.Model):
    """How somebody answered the quiz the first time, and how often they tried."""

    participation = models.OneToOneField(Participation, models.CASCADE, related_name="quiz_result")
    right = models.PositiveSmallIntegerField(help_text="answers at the first try")
    asked = models.PositiveSmallIntegerField(help_text="questions at the first try")
    tries = models.PositiveIntegerField(default=1)
    answers = models.JSONField(help_text="of the first try: places of options by the numbers of questions")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(right__lte=F("asked")), name="quiz_right_at_most_asked")
        ]

    def __str__(self) -> str:
        return f"{self.participation_id}: {self.right} of {self.asked}"


class Sitting(models.Model):
    """One stretch of work of one person; a person may come back."""

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="sittings")
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.participation} from {self.started_at:%Y-%m-%d %H:%M}"
