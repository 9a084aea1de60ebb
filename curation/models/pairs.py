"""Sentences and pairs. A sentence's text never changes."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from curation.pairs.text import SENTENCE_MAX_CHARACTERS


class Sentence(models.Model):
    """A text of a dataset, stored once however many pairs have it.

    run_ref: the run that wrote it, by its number, because the apps of datasets and of runs do not import each other.
    """

    class Origin(models.TextChoices):
        HUMAN = "human", _("human")
        MACHINE = "machine", _("machine")
        # A machine's sentence that a curator rewrote: neither what people write nor what machines do.
        EDITED = "edited", _("edited")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="sentences")
    text = models.CharField(max_length=SENTENCE_MAX_CHARACTERS)
    key = models.CharField(max_length=64, help_text="SHA-256 of the normalised text; keeps case")
    language = models.CharField(max_length=35, blank=True)
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.HUMAN)
    run_ref = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "key"], name="one_sentence_per_text_and_dataset"),
            models.CheckConstraint(condition=~Q(text=""), name="sentence_is_not_empty"),
        ]

    def __str__(self) -> str:
        return self.text


class Pair(models.Model):
    """Two sentences of a dataset in an order. Scores, judgements and decisions say what others think."""

    class Origin(models.TextChoices):
        IMPORTED = "imported", _("imported")
        SAMPLED = "sampled", _("sampled")
        GENERATED = "generated", _("generated")

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        PENDING = "pending", _("pending review")
        REJECTED = "rejected", _("rejected")
        RETIRED = "retired", _("retired")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="pairs")
    external_id = models.CharField(
        max_length=200, help_text="The id in the file, or one made from content and occurrence."
    )
    # Its own index would be the beginning of that of both sentences, which every import asks.
    a = models.ForeignKey(Sentence, models.PROTECT, related_name="pairs_as_a", db_index=False)
    b = models.ForeignKey(Sentence, models.PROTECT, related_name="pairs_as_b")
    source = models.CharField(max_length=100, blank=True)
    subset = models.CharField(max_length=100, blank=True)
    split = models.CharField(max_length=20, blank=True, help_text="The split that the file said.")
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.IMPORTED)
    run_ref = models.BigIntegerField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                # Files count from 1 again, and so do their splits: an id says which pair only within these.
                fields=["dataset", "external_id", "source", "split"],
                name="one_pair_per_id_in_source_and_split",
            )
        ]
        indexes = [
            models.Index(fields=["dataset", "status", "id"], name="pair_by_status"),
            models.Index(fields=["dataset", "source", "id"], name="pair_by_source"),
            models.Index(fields=["dataset", "split", "id"], name="pair_by_split"),
            models.Index(fields=["a", "b"], name="pair_by_sentences"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id}: {self.a} | {self.b}"
