"""Imports, and the bytes that a person uploads in a day."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from curation.models.jobs import Job


class UploadDay(models.Model):
    """How many bytes a person uploaded on a day of UTC. Only the newest day of each person is kept."""

    user = models.ForeignKey("curation.User", models.CASCADE, related_name="+")
    day = models.DateField()
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "day"], name="one_row_of_uploads_per_person_and_day")
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.day} · {self.size}"


class ImportBatch(Job):
    """One import, of a file of pairs or of one or several files of judgements: its options and its result.

    uploaded ──claim──▶ running ──▶ done
       ╰───▶ waiting ─▶   │ ╰─────▶ failed (may be claimed again; so may a running one whose heartbeat is stale)

    What waits is left to a worker: files of judgements that are large. Where the worker was to check them, they are
    uploaded again afterwards. Runs check and import large files of pairs, and add large files of sentences, so these
    never wait.
    Every move is one conditional UPDATE on (id, state, attempt): see `heartbeats.py`.
    """

    class Kind(models.TextChoices):
        PAIRS = "pairs", _("pairs")
        JUDGEMENTS = "judgements", _("judgements")
        SENTENCES = "sentences", _("sentences")
        CORPUS = "corpus", _("running text")

    class State(models.TextChoices):
        UPLOADED = "uploaded", _("uploaded")
        WAITING = "waiting", _("waiting for a worker")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="imports")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.PAIRS)
    file_name = models.CharField(max_length=255)
    path = models.CharField(
        max_length=500, blank=True, help_text="the first uploaded file, relative to SEMBLANCE_HOME"
    )
    sha256 = models.CharField(max_length=64, blank=True)
    mapping = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.UPLOADED)
    rows = models.PositiveIntegerField(default=0)
    added = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    report = models.JSONField(default=dict, blank=True, help_text="Duplicates, scale, first errors.")
    written = models.JSONField(
        default=dict, blank=True, help_text="what this import's attempts have added so far"
    )
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.file_name

    @property
    def checked(self) -> bool:
        """Whether the columns were tried, so that it is known what an import will do."""
        return bool(self.mapping) and "rows" in self.report
