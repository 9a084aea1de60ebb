"""A campaign, its guidelines and the questions of its quiz."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.models import Dataset

REPEATS_AT_MOST_EVERY = 5
MOST_PAIRS_IN_TUPLE = 8
# What its owners choose, in the order of the form, of the API and of copies.
CAMPAIGN_SETTINGS = (
    "question", "best_label", "worst_label", "tuple_size", "factor", "judgements_per_tuple", "gold_every",
    "gold_minimum", "gold_threshold", "repeat_every", "allows_ties", "seed",
)  # fmt: skip


class TuplePhase(models.TextChoices):
    """The phase of a campaign in which a tuple was made."""

    BALANCED = "balanced", _("design")
    BRIDGE = "bridge", _("bridge")
    ADAPTIVE = "adaptive", _("adaptive")


class Campaign(models.Model):
    """Questions about the pairs of a dataset: how many pairs make a tuple, how often each is judged, and by whom.

    A draft becomes open, then paused and open again as often as its owners wish, and closed.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="campaigns")
    name = models.CharField(_("name"), max_length=200)
    question = models.CharField(
        _("question"),
        max_length=300,
        default="Which of these sentence pairs are most and least closely related in meaning?",
    )
    best_label = models.CharField(_("label for best"), max_length=40, default="Most related")
    worst_label = models.CharField(_("label for worst"), max_length=40, default="Least related")
    tuple_size = models.PositiveSmallIntegerField(_("pairs per question"), default=4)
    factor = models.FloatField(_("tuples per pair"), default=2.0)
    judgements_per_tuple = models.PositiveSmallIntegerField(_("judgements per tuple"), default=2)
    gold_every = models.PositiveSmallIntegerField(_("one attention check in every"), default=15)
    gold_minimum = models.PositiveSmallIntegerField(
        _("attention checks before doubtful cases are stopped"), default=10
    )
    gold_threshold = models.FloatField(_("required share of right trials in attention checks"), default=0.7)
    repeat_every = models.PositiveSmallIntegerField(_("one repeated question in every"), default=0)
    allows_ties = models.BooleanField(_("offer “too close to call”"), default=False)
    seed = models.PositiveIntegerField(_("seed"), default=1234)
    pair_filter = models.JSONField(
        default=dict, blank=True, help_text="which of the dataset's pairs are annotated"
    )
    rounds = models.PositiveSmallIntegerField(default=1, help_text="how many rounds of tuples there are")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    certificate = models.JSONField(default=dict, blank=True, help_text="What is known about the design.")
    adaptive_budget = models.PositiveIntegerField(
        _("extra judgements"), default=0, help_text="judgements that the adaptive phase may ask for, in all"
    )
    estimate = models.JSONField(
        default=dict,
        blank=True,
        help_text="what the estimate assumes: seconds per judgement, pay of an hour, people",
    )
    has_quiz = models.BooleanField(default=False, help_text="whether it has questions; kept with them")
    archived = models.BooleanField(
        _("archived"), default=False, help_text="Whether lists leave it out. Nothing in it changes."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(archived=False) | Q(state__in=["draft", "closed"]),
                name="archived_campaigns_ask_nobody",
                violation_error_message=_("Close the campaign before you archive it."),
            ),
            models.CheckConstraint(
                condition=Q(tuple_size__gte=2) & Q(tuple_size__lte=MOST_PAIRS_IN_TUPLE),
                name="tuple_size_is_2_to_8",
                violation_error_message=_("A question shows between 2 and 8 pairs."),
            ),
            models.CheckConstraint(
                condition=Q(factor__gt=0),
                name="factor_is_positive",
                violation_error_message=_("The number of tuples per pair must be more than 0."),
            ),
            models.CheckConstraint(
                condition=Q(judgements_per_tuple__gte=1),
                name="tuples_are_judged_at_least_once",
                violation_error_message=_("A tuple needs at least one judgement."),
            ),
            models.CheckConstraint(
                condition=Q(gold_every__gte=2),
                name="gold_is_not_every_tuple",
                violation_error_message=_("At most every second question can be an attention check."),
            ),
            models.CheckConstraint(
                condition=Q(repeat_every=0) | Q(repeat_every__gte=REPEATS_AT_MOST_EVERY),
                name="repeats_are_off_or_seldom",
                violation_error_message=_(
                    "At most every fifth question can be a repeated one; 0 asks for none."
                ),
            ),
            models.CheckConstraint(
                condition=Q(gold_threshold__gte=0) & Q(gold_threshold__lte=1),
                name="gold_threshold_is_a_share",
                violation_error_message=_(
                    "The required share of right trials in attention checks lies between 0 and 1."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_imported(self) -> bool:
        """Whether the judgements came from a file: nobody knows then what was asked, and how people were checked."""
        return "imported" in self.certificate

    @property
    def has_grown(self) -> bool:
        """Whether pairs joined after the launch: counting then has no one scale for all pairs."""
        extensions = self.certificate.get("extensions", [])
        return any(extension["phase"] == TuplePhase.BRIDGE for extension in extensions)


class Guideline(models.Model):
    """The instructions for annotators. Each judgement keeps the version that it was made under."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(_("guidelines"))
    examples = models.JSONField(
        default=list, blank=True, help_text="worked examples: pairs of texts, best, worst and why"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="one_guideline_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.campaign} v{self.version}"


class QuizQuestion(models.Model):
    """A question about the guidelines that people answer before their first tuple."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="quiz")
    number = models.PositiveSmallIntegerField()
    text = models.TextField(_("question"))
    options = models.JSONField(help_text="texts")
    right = models.PositiveSmallIntegerField(help_text="the place of the right option, from 0")
    why = models.TextField(_("reason"), blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="one_question_per_number_and_campaign"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}/{self.number}"
