"""Verdicts of curators on sentences."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.models.pairs import Pair
from curation.pairs.text import SENTENCE_MAX_CHARACTERS


class ReviewDecision(models.Model):
    """What a curator decided about a sentence in one of its pairs. Kept for good, also when undone.

    The one binding decision of a pair that was not undone is valid. An edit retires the pair: `replacement` is the new
    one, so that what was generated stays what was generated. A verdict holds for every generated pair of the sentence:
    the others have their own rows, `alongside` the decision on the pair that was shown.

    Rows that are not binding are opinions, which change nothing: second verdicts, verdicts on human sentences that were
    mixed in, and first verdicts that another decision replaced after a disagreement (`settles`).
    """

    class Verdict(models.TextChoices):
        KEEP = "keep", _("keep")
        REJECT = "reject", _("reject")
        EDIT = "edit", _("edit")

    class Reason(models.TextChoices):
        """Why a machine's sentence is rejected: the four of the RISE paper (table 2), and any other."""

        GRAMMAR = "grammar", _("Grammatical error")
        REPETITION = "repetition", _("Repetition")
        LOGIC = "logic", _("Logical flaw")
        CONTEXT = "context", _("Uncommon in context")
        OTHER = "other", _("Other")

    class Frame(models.TextChoices):
        """How the sentence came to be shown. Rates may be estimated from random and stratified samples alone."""

        LOWEST = "lowest", _("lowest p_D")
        UNCERTAIN = "uncertain", _("nearest to p_D = 0.5")
        RANDOM = "random", _("random sample")
        STRATIFIED = "stratified", _("stratified sample")
        CHOSEN = "chosen", _("chosen one by one")  # by its number, or to resolve a disagreement

    sentence = models.ForeignKey("curation.Sentence", models.CASCADE, related_name="decisions")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey("curation.User", models.SET_NULL, null=True, related_name="+")
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    reasons = models.JSONField(default=list, blank=True, help_text="Why it was rejected.")
    note = models.CharField(max_length=500, blank=True)
    replacement = models.ForeignKey(Pair, models.SET_NULL, null=True, blank=True, related_name="replaces")
    value_shown = models.FloatField(null=True, blank=True, help_text="The p_D at the time of the decision.")
    blind = models.BooleanField(default=False, help_text="Whether p_D was hidden from the reviewer.")
    decided_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    status_before = models.CharField(
        max_length=10,
        choices=Pair.Status.choices,
        default=Pair.Status.ACTIVE,
        help_text="what an undo restores",
    )
    alongside = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="companions",
        help_text="the decision on the pair that was shown, where another pair holds the same sentence",
    )
    client_id = models.UUIDField(
        unique=True, help_text="One UUID per shown sentence. A decision that is sent twice is stored once."
    )
    score_set = models.ForeignKey(
        "curation.ScoreSet",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="the p_D set whose queue showed it",
    )
    frame = models.CharField(
        max_length=10, choices=Frame.choices, help_text="The queue in which it was shown."
    )
    stratum = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="In a stratified sample, the tenth of the sentences by p_D, from 1."
    )
    binding = models.BooleanField(default=True, help_text="Whether the pair has the status of this decision.")
    second = models.BooleanField(
        default=False, help_text="Whether it is of a second reviewer, who did not see the first decision."
    )
    text = models.CharField(
        max_length=SENTENCE_MAX_CHARACTERS,
        blank=True,
        help_text="The new sentence of an edit that changed no pair.",
    )
    settles = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="settled_by",
        help_text="The decision that it replaces by adjudication.",
    )

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["pair", "undone_at"], name="decision_by_pair")]
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["keep", "reject", "edit"]), name="review_verdict_is_known"
            ),
            models.CheckConstraint(
                condition=Q(frame__in=["lowest", "uncertain", "random", "stratified", "chosen"]),
                name="review_frame_is_known",
            ),
            models.UniqueConstraint(
                fields=["pair"],
                condition=Q(undone_at=None, binding=True),
                name="one_standing_decision_per_pair",
            ),
            models.UniqueConstraint(
                fields=["sentence", "frame", "second"],
                condition=Q(undone_at=None, binding=False, alongside=None),
                name="one_opinion_per_sentence_and_frame",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.sentence}"

    @property
    def reason_labels(self) -> list[str]:
        return [str(self.Reason(reason).label) for reason in self.reasons]


class ReviewClaim(models.Model):
    """Whose screen a pair is on, for some minutes: others are offered different sentences. It decides nothing."""

    pair = models.OneToOneField(Pair, models.CASCADE, related_name="review_claim")
    reviewer = models.ForeignKey("curation.User", models.CASCADE, related_name="+")
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.reviewer}"
