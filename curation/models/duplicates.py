"""Searches for duplicates, and the groups that they found."""

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.models.jobs import Job


class DuplicateSearch(Job):
    """A search for pairs that say the same, in a dataset and between it and others; what it found is kept with it.

    waiting ──claim──▶ running ──▶ done
       ╰──▶ cancelled ◀──╯ ╰─────▶ failed

    Every move is one conditional UPDATE on (id, state, attempt): see `heartbeats.py`. To ask again searches again.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="duplicate_searches")
    against = models.CharField(
        max_length=200, blank=True, help_text="numbers of the other datasets, rising, with commas"
    )
    threshold = models.FloatField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=500, blank=True, help_text="Why it failed.")
    counts = models.JSONField(
        default=dict, blank=True, help_text="The number of groups by likeness, and how many leak."
    )
    pairs_state = models.CharField(max_length=64, blank=True, help_text="of the pairs that were read")
    asked_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(default=now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-pk"]
        verbose_name_plural = "duplicate searches"
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "against", "threshold"], name="one_duplicate_search_per_question"
            )
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.threshold:g}"

    @property
    def is_underway(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def numbers_against(self) -> list[int]:
        return [int(number) for number in self.against.split(",") if number]


class DuplicateFound(models.Model):
    """A pair that a search put into a group. group: 1 for the largest; place: 0 for the pair that the others repeat.

    Each row of a group repeats the facts of the group. elsewhere: the group has pairs of another dataset.
    """

    search = models.ForeignKey(DuplicateSearch, models.CASCADE, related_name="found")
    group = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    pair = models.ForeignKey("curation.Pair", models.CASCADE, related_name="+")
    likeness = models.CharField(max_length=10)
    pairs = models.PositiveIntegerField(help_text="of the group")
    leaks = models.BooleanField(help_text="the dataset has pairs of the group in several splits")
    elsewhere = models.BooleanField()

    class Meta:
        ordering = ["group", "place"]
        constraints = [
            models.UniqueConstraint(fields=["search", "group", "place"], name="one_pair_per_place_of_a_group")
        ]
        indexes = [models.Index(fields=["search", "place", "group"], name="duplicate_groups_in_order")]

    def __str__(self) -> str:
        return f"{self.search_id}/{self.group}: {self.pair_id}"
