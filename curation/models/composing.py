"""The pool of sentences, and the pairs that were composed from it."""

from django.db import models
from django.utils.timezone import now


class PooledSentence(models.Model):
    """A sentence from which pairs may be composed. It may be in pairs of the dataset, or in none yet."""

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="pool")
    sentence = models.OneToOneField("curation.Sentence", models.CASCADE, related_name="pooled")
    source = models.CharField(max_length=100, blank=True)
    labels = models.JSONField(default=dict, blank=True, help_text="by the names of their columns")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.source}: {self.sentence}"


class Composition(models.Model):
    """Pairs that a person composed from the pool: how they were drawn, and which they are."""

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="compositions")
    parameters = models.JSONField(default=dict, help_text="The strategy and its settings.")
    pairs = models.PositiveIntegerField()
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.pairs} pairs, {self.created_at:%Y-%m-%d %H:%M}"


class ComposedPair(models.Model):
    """A pair that a composition added."""

    composition = models.ForeignKey(Composition, models.CASCADE, related_name="composed")
    pair = models.OneToOneField("curation.Pair", models.CASCADE, related_name="composed")

    def __str__(self) -> str:
        return f"{self.composition_id}: {self.pair_id}"
