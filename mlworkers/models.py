"""Runs and what they make.

    queued ──claim──▶ running ──▶ succeeded
      │                 │  ╰────▶ failed
      ╰────▶ cancelled ◀╯         (a stale running row is claimed again, attempt + 1)

Every move is one conditional UPDATE on (id, state, attempt), in `lifecycle.py`, so that a paused worker and
its successor cannot both write.
"""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from curation.files.json_text import json_from
from curation.models import Dataset


class Run(models.Model):
    """What somebody asked of a worker: its kind, its plan, how far it is, and its result.

    The row is the truth: messages only invite a worker to claim it. Plan and result are JSON, whose keys keep their
    names from version to version.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", _("succeeded")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    kind = models.CharField(_("kind"), max_length=40)
    dataset = models.ForeignKey(Dataset, models.CASCADE, null=True, blank=True, related_name="+")
    plan = models.JSONField(_("plan"), default=dict)
    queue = models.CharField(_("queue"), max_length=20, default="default")
    PASSED_OVER = 1  # the priority of a run that another one, which somebody put first, went before

    priority = models.PositiveIntegerField(
        default=0,
        help_text="Waiting runs of a queue start by priority, the highest first, and then by age.",
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(
        default=0, help_text="how often a worker stopped sending heartbeats while it held the run"
    )
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    message = models.TextField(blank=True)
    result = models.JSONField(default=dict, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    token = models.CharField(
        max_length=8, blank=True, help_text="the beginning of the API token that started it"
    )
    launch = models.UUIDField(
        null=True, blank=True, help_text="one per filled-in form: sent twice by a person, started once"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    invited_at = models.DateTimeField(
        null=True, blank=True, help_text="when a worker was last invited to claim it"
    )
    started_at = models.DateTimeField(null=True, blank=True)
    claimed_at = models.DateTimeField(
        null=True, blank=True, help_text="when the present count began: this attempt, or its stage"
    )
    progressed_at = models.DateTimeField(
        null=True, blank=True, help_text="when its count or its message last changed, or it was last claimed"
    )
    done_before = models.PositiveBigIntegerField(
        default=0, help_text="what stood done when the present count began"
    )
    heartbeat_at = models.DateTimeField(
        null=True, blank=True, help_text="empty in a running run: its worker left it"
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(total=0) | Q(done__lte=F("total")), name="run_does_not_exceed_its_total"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "succeeded", "failed", "cancelled"]),
                name="run_state_is_known",
            ),
            # Of each person: another person's launch neither fails nor leads to that person's run.
            models.UniqueConstraint(fields=["started_by", "launch"], name="one_run_per_person_and_launch"),
        ]
        indexes = [models.Index(fields=["state", "heartbeat_at"], name="run_by_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def judges(self) -> str:
        """Who judged the scores behind the result, in the words of files, where a program is among them; else ""."""
        return str(self.result.get("judged_by", ""))

    @property
    def ended(self) -> bool:
        return self.state not in (self.State.QUEUED, self.State.RUNNING)


class RunShard(models.Model):
    """A part of a run that any worker may do: its result is a file, the same whichever worker writes it.

    waiting ──claim──▶ running ──▶ done (a stale running shard is claimed again, attempt + 1)
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")

    run = models.ForeignKey(Run, models.CASCADE, related_name="shards")
    stage = models.CharField(max_length=40, help_text="the part of the run that is cut into shards")
    number = models.PositiveIntegerField()
    size = models.PositiveIntegerField(default=1, help_text="in the run's unit")
    done = models.PositiveIntegerField(default=0, help_text="of its size")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=200, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "stage", "number"], name="one_shard_per_run_stage_and_number"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.stage} {self.number}"


class RunLine(models.Model):
    """A line of a run's log, or of its curve, where machines share files through a store; else they are files."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="lines")
    curve = models.BooleanField(default=False)
    text = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["run", "curve", "id"], name="lines_of_a_run")]

    def __str__(self) -> str:
        return self.text


class Artifact(models.Model):
    """A file or folder a run made, with its checksum."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="artifacts")
    kind = models.CharField(max_length=40)
    path = models.CharField(max_length=500, help_text="relative to SEMBLANCE_HOME")
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    card = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(
        null=True, blank=True, help_text="when somebody removed its files to free the disk"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="one_artifact_per_run_and_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class Evaluation(models.Model):
    """One figure of one model on one test, with its interval."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="evaluations")
    artifact = models.ForeignKey(
        Artifact,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="evaluations",
        help_text="Empty for a base model.",
    )
    model = models.CharField(max_length=300, help_text="The source of the model, such as `run:7`.")
    label = models.CharField(
        max_length=40, blank=True, help_text="The row in a comparison, such as base, plain or realism."
    )
    source = models.CharField(
        max_length=100, blank=True, help_text="In a table of suites, the training dataset or “baseline”."
    )
    suite = models.CharField(
        max_length=200, help_text="Dataset, score set and split, or the name of a suite."
    )
    part = models.CharField(
        max_length=100,
        blank=True,
        help_text="The part of the suite: a source of its pairs, a mean, or a probe.",
    )
    metric = models.CharField(max_length=40)
    value = models.FloatField(
        null=True, help_text="Empty where it is undefined, such as a correlation with a constant."
    )
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    n = models.PositiveIntegerField(help_text="The number of pairs.")
    seed = models.BigIntegerField(
        null=True, blank=True, help_text="The seed of the training. Empty if no model was trained."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["run", "label"], name="evaluation_by_label")]

    def __str__(self) -> str:
        return f"{self.model} {self.suite} {self.metric}"


class Instructions(models.Model):
    """A version of the instructions that generators are given for a dataset's sentences. Rows never change."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+")
    name = models.CharField(_("name"), max_length=60)
    version = models.PositiveIntegerField()
    # Not a JSONField: PostgreSQL would not keep the order of the labels, and a run's plan holds this text.
    text = models.TextField(help_text="JSON, as `synthesis.prompts.task_named` reads it")
    note = models.CharField(_("note"), max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        verbose_name = verbose_name_plural = _("instructions")
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "name", "version"], name="one_row_per_version_of_instructions"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"

    @property
    def specification(self) -> dict[str, Any]:
        specification: dict[str, Any] = json_from(self.text)
        return specification


class RatedCandidate(models.Model):
    """A candidate of a round-trip translation that was drawn for people to rate. Rows never change."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="rated_candidates")
    place = models.PositiveIntegerField()
    setting = models.CharField(max_length=100)
    source = models.TextField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["run", "place"], name="one_candidate_per_place")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.place}"


class CandidateRating(models.Model):
    """How one person rated a candidate, blind to its setting, from 1 to 5."""

    candidate = models.ForeignKey(RatedCandidate, models.CASCADE, related_name="ratings")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    fluency = models.PositiveSmallIntegerField()
    meaning = models.PositiveSmallIntegerField()
    wording = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["candidate", "person"], name="one_rating_per_candidate_and_person"
            ),
            models.CheckConstraint(
                condition=Q(fluency__range=(1, 5), meaning__range=(1, 5), wording__range=(1, 5)),
                name="ratings_are_from_1_to_5",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.candidate} {self.fluency} {self.meaning} {self.wording}"


class WorkerHeartbeat(models.Model):
    """What a worker says of itself, and what it is asked. Pages read and write this and never ask Celery.

    A worker that is drained takes no more work and gives back the runs it has, so that it can be stopped. It reads
    `drain_at` with each heartbeat. A process that starts is not drained, whatever one of the same name was.
    """

    name = models.CharField(max_length=200, unique=True, help_text="its Celery name / its process")
    queues = models.JSONField(default=list)
    device = models.CharField(max_length=100, blank=True)
    devices = models.PositiveSmallIntegerField(
        default=0, help_text="accelerators; none: it works on a processor"
    )
    version = models.CharField(max_length=40, blank=True, help_text="of Semblance")
    started_at = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField()
    work = models.JSONField(default=list, blank=True, help_text="the tasks that it had at its last heartbeat")
    drain_at = models.DateTimeField(
        null=True, blank=True, help_text="when somebody asked it to take no more work; empty: nobody did"
    )
    is_closed = models.BooleanField(default=False, help_text="it reads no queue now")
    tasks = models.JSONField(
        default=dict, blank=True, help_text="by name: how many tasks it has carried out, and for how long"
    )

    def __str__(self) -> str:
        return self.name

    @property
    def hostname(self) -> str:
        """Its name as Celery knows it, and as runs and shards name their worker."""
        return self.name.rpartition("/")[0] or self.name


class BeatHeartbeat(models.Model):
    """When beat, which sends the messages that are due every minute and every hour, was last heard of.

    There is one row, whichever machine beat runs on: a site has one beat.
    """

    ONLY = 1

    number = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    host = models.CharField(max_length=200, help_text="the machine that it runs on")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(number=1), name="one_row_for_beat")]

    def __str__(self) -> str:
        return self.host
