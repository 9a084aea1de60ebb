"""Drawn splits, and the splits before."""

from django.db import models
from django.utils.timezone import now


class SplitChange(models.Model):
    """Splits that a person drew, and how to go back: `before` holds what the changed pairs had."""

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="split_changes")
    parameters = models.JSONField(default=dict, help_text="Shares, seed, and which pairs were divided.")
    pairs = models.PositiveIntegerField(help_text="The number of pairs whose split changed.")
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.pairs} pairs, {self.created_at:%Y-%m-%d %H:%M}"


class SplitBefore(models.Model):
    """The split that a pair had before a change, and the one that it got."""

    change = models.ForeignKey(SplitChange, models.CASCADE, related_name="before")
    pair = models.ForeignKey("curation.Pair", models.CASCADE, related_name="+")
    split = models.CharField(max_length=20, blank=True)
    given = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["change", "pair"], name="one_split_before_per_pair_and_change")
        ]

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.split} → {self.given}"
