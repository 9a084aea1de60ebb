"""The audit log. Its rows are added, and never changed or deleted."""

from typing import Any

from django.db import models
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.foundation.addresses import site_of


class Appended(models.QuerySet[Any]):
    """Rows that are added and never changed, but for the name of a person whose personal data is erased."""

    def person_renamed(self, before: str, after: str) -> int:
        """Write another name of a person wherever the rows name them; in how many rows that was."""
        renamed = super().filter(subject=before, action__startswith="member_")
        number = super(Appended, renamed).update(subject=after)
        for row in super().filter(details__annotator=before):
            own = super().filter(pk=row.pk)
            super(Appended, own).update(details={**row.details, "annotator": after})
            number += 1
        return number

    def update(self, **changes: Any) -> int:
        raise TypeError("what is recorded is never changed")

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError("what is recorded is never deleted")


class AuditEntry(models.Model):
    """A change of a dataset: who made it, when, and what it was. Written with the change, by `people.audit` alone.

    dataset: none for what is done to the site itself, such as draining a worker.
    by: nobody for a command, a rule of the site, a person whose account is gone, and a review that hides who decides.
    batch: whose counts say what an import did. undoes: the edit of pairs that this one takes back.
    """

    class Action(models.TextChoices):
        DATASET_CREATED = "dataset_created", _("created the dataset")
        DATASET_CHANGED = "dataset_changed", _("changed the settings")
        DATASET_ARCHIVED = "dataset_archived", _("archived the dataset")
        DATASET_RESTORED = "dataset_restored", _("restored the dataset")
        INVITATION_CREATED = "invitation_created", _("made an invitation")
        INVITATION_REVOKED = "invitation_revoked", _("revoked an invitation")
        MEMBER_JOINED = "member_joined", _("became a member")
        MEMBER_CHANGED = "member_changed", _("changed the role of a member")
        MEMBER_REMOVED = "member_removed", _("removed a member")
        MEMBER_RESTORED = "member_restored", _("restored a member")
        PAIRS_IMPORTED = "pairs_imported", _("imported pairs")
        PAIRS_GENERATED = "pairs_generated", _("added generated pairs")
        PAIRS_EDITED = "pairs_edited", _("edited pairs")
        EDIT_UNDONE = "edit_undone", _("undid an edit of pairs")
        PAIRS_COMPOSED = "pairs_composed", _("sampled pairs")
        COMPOSED_UNDONE = "composed_undone", _("undid sampled pairs")
        SENTENCES_ADDED = "sentences_added", _("added single sentences")
        POOL_EMPTIED = "pool_emptied", _("removed the single sentences")
        SPLITS_DRAWN = "splits_drawn", _("drew splits")
        SPLITS_UNDONE = "splits_undone", _("undid drawn splits")
        SCORES_PUBLISHED = "scores_published", _("published a score set")
        SCORES_DESCRIBED = "scores_described", _("renamed or described a score set")
        SCORES_WITHDRAWN = "scores_withdrawn", _("withdrew a score set")
        SCORES_RESTORED = "scores_restored", _("restored a score set")
        SNAPSHOT_CREATED = "snapshot_created", _("created a snapshot")
        CAMPAIGN_CREATED = "campaign_created", _("created a campaign")
        CAMPAIGN_IMPORTED = "campaign_imported", _("imported judgements as a campaign")
        CAMPAIGN_CHANGED = "campaign_changed", _("changed the settings of a campaign")
        CAMPAIGN_OPENED = "campaign_opened", _("opened a campaign")
        CAMPAIGN_PAUSED = "campaign_paused", _("paused a campaign")
        CAMPAIGN_RESUMED = "campaign_resumed", _("resumed a campaign")
        CAMPAIGN_CLOSED = "campaign_closed", _("closed a campaign")
        CAMPAIGN_ARCHIVED = "campaign_archived", _("archived a campaign")
        CAMPAIGN_RESTORED = "campaign_restored", _("restored a campaign")
        CAMPAIGN_GROWN = "campaign_grown", _("added pairs to a campaign")
        TUPLES_RESERVED = "tuples_reserved", _("sampled the tuples of a campaign for model annotators")
        MACHINE_JUDGED = "machine_judged", _("had a model annotate tuples of a campaign")
        GUIDELINES_SAVED = "guidelines_saved", _("changed the guidelines of a campaign")
        NORMING_STARTED = "norming_started", _("started a calibration session of a campaign")
        NORMING_MOVED = "norming_moved", _("moved a calibration session of a campaign on")
        SLIDER_STARTED = "slider_started", _("added a rating-scale condition to a campaign")
        SLIDER_CHANGED = "slider_changed", _("changed the rating-scale condition of a campaign")
        GOLD_ADDED = "gold_added", _("added an attention check to a campaign")
        GOLD_CHANGED = "gold_changed", _("changed the reason of an attention check of a campaign")
        GOLD_REMOVED = "gold_removed", _("removed an attention check from a campaign")
        ANNOTATOR_STOPPED = "annotator_stopped", _("stopped an annotator of a campaign")
        ANNOTATOR_EXCLUDED = (
            "annotator_excluded",
            _("stopped an annotator and excluded their judgements from a campaign"),
        )
        ANNOTATOR_REINSTATED = "annotator_reinstated", _("reinstated an annotator of a campaign")
        CROWD_CHANGED = "crowd_changed", _("changed how a crowd enters a campaign")
        PERSON_ERASED = "person_erased", _("erased the personal data of an annotator")
        RUN_STARTED = "run_started", _("started a run")
        RUN_CANCELLED = "run_cancelled", _("cancelled a run")
        RUN_PUT_FIRST = "run_put_first", _("put a waiting run before others")
        WORKER_DRAINED = "worker_drained", _("drained a worker")
        WORKER_UNDRAINED = "worker_undrained", _("ended the draining of a worker")
        FACTOR_REMOVED = "factor_removed", _("removed the second factor of an account")
        WEBHOOK_ADDED = "webhook_added", _("added a webhook")
        WEBHOOK_CHANGED = "webhook_changed", _("changed a webhook")
        WEBHOOK_REMOVED = "webhook_removed", _("removed a webhook")
        LOG_EXPORTED = "log_exported", _("downloaded the log")
        REVIEW_DECIDED = "review_decided", _("decided about a sentence")
        REVIEW_UNDONE = "review_undone", _("undid a decision about a sentence")

    class Via(models.TextChoices):
        SITE = "site", _("on the site")
        TOKEN = "token", _("with a token")
        COMMAND = "command", _("by command")
        BLIND = "blind", _("in a blind review")
        RULE = "rule", _("by a rule of the site")

    dataset = models.ForeignKey(
        "curation.Dataset", models.CASCADE, null=True, blank=True, related_name="audit_entries"
    )
    at = models.DateTimeField(default=now)
    by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    via = models.CharField(max_length=10, choices=Via.choices)
    token = models.CharField(max_length=8, blank=True, help_text="The beginning of the API token.")
    action = models.CharField(max_length=20, choices=Action.choices)
    subject = models.CharField(
        max_length=255,
        blank=True,
        help_text="The file, person, score set, snapshot or campaign that it was about.",
    )
    pair = models.ForeignKey(
        "curation.Pair", models.CASCADE, null=True, blank=True, related_name="audit_entries"
    )
    pairs = models.PositiveIntegerField(
        null=True, blank=True, help_text="The number of pairs that were added or changed."
    )
    batch = models.ForeignKey(
        "curation.ImportBatch", models.SET_NULL, null=True, blank=True, related_name="audit_entries"
    )
    details = models.JSONField(default=dict, blank=True)
    undoes = models.OneToOneField(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="undone_by",
        help_text="The edit that it undoes.",
    )

    objects = Appended.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["dataset", "id"], name="audit_by_dataset"),
            models.Index(fields=["dataset", "action", "id"], name="audit_by_action"),
        ]

    def __str__(self) -> str:
        return f"{self.dataset.slug if self.dataset else '–'}: {self.get_action_display()}"

    def save(self, **options: Any) -> None:
        if not self._state.adding:
            raise TypeError("what is recorded is never changed")
        super().save(**options)

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        raise TypeError("what is recorded is never deleted")

    @property
    def about(self) -> str:
        """The subject as it is shown. Of a webhook that an earlier version wrote down, its site alone."""
        of_webhook = self.action in {
            self.Action.WEBHOOK_ADDED,
            self.Action.WEBHOOK_CHANGED,
            self.Action.WEBHOOK_REMOVED,
        }
        return site_of(self.subject) if of_webhook else self.subject


class PairChange(models.Model):
    """What a pair had before an import or an edit changed it, and what it got. Drawn splits have `SplitBefore`."""

    class Field(models.TextChoices):
        SPLIT = "split", _("split")
        SOURCE = "source", _("source")
        SUBSET = "subset", _("subset")
        STATUS = "status", _("status")
        SCORE = "score", _("score")

    entry = models.ForeignKey(AuditEntry, models.CASCADE, related_name="changes")
    pair = models.ForeignKey("curation.Pair", models.CASCADE, related_name="changes")
    field = models.CharField(max_length=10, choices=Field.choices)
    before = models.CharField(max_length=100, blank=True)
    after = models.CharField(max_length=100, blank=True)

    objects = Appended.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["entry", "pair", "field"], name="one_change_per_pair_and_field_of_an_entry"
            )
        ]

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.field} {self.before} → {self.after}"
