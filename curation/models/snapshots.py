"""Snapshots of a dataset."""

from django.db import models


class Snapshot(models.Model):
    """An immutable Parquet file of pairs and scores: what training and evaluation read."""

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    filter = models.JSONField(default=dict, blank=True)
    rows = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    path = models.CharField(max_length=500, help_text="relative to SEMBLANCE_HOME")
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    run_ref = models.BigIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="one_snapshot_per_number_and_dataset"),
            models.UniqueConstraint(fields=["dataset", "run_ref"], name="one_snapshot_per_run_and_dataset"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug} #{self.number}"
