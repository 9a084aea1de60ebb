"""Datasets, pairs and scores: the ground that annotation and mlworkers share.

A sentence's text never changes, a score keeps the scale it was given on, and whatever a higher app owns is a plain
reference (`campaign_ref`, `run_ref`), never a foreign key. Rules about data are named constraints.
"""

import hashlib
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import AbstractUser
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.addresses import site_of
from curation.files.judged_by import BOTH, SIMULATED, judged_by
from curation.pairs.text import LANGUAGE_TAG, SENTENCE_MAX_CHARACTERS
from curation.roles import Role, TokenScope


def message_id_new() -> str:
    return f"msg_{uuid4().hex}"


class User(AbstractUser):
    """A person, or an annotator or curator that a program simulates, which every page marks as such."""

    simulated = models.BooleanField(_("simulated"), default=False)

    token_used = ""  # the beginning of the API token with which this request came; no column

    def __str__(self) -> str:
        return self.get_full_name() or self.username

    def password_digest(self) -> str:
        """Changes with every password, however it was set. What belongs to a password is kept beside this."""
        return hashlib.sha256(self.password.encode()).hexdigest()

    def check_password(self, raw_password: str | None) -> bool:
        """Django's, which may hash the right password again, more slowly: that is not a new password."""
        before = self.password_digest()
        is_right = super().check_password(raw_password)
        if is_right and self.password_digest() != before:
            tokens = ApiToken.objects.filter(user=self, password_digest=before)
            tokens.update(password_digest=self.password_digest())
        return is_right


class Dataset(models.Model):
    slug = models.SlugField(
        _("short name"), unique=True, max_length=60, help_text=_("Stands in addresses and commands.")
    )
    name = models.CharField(_("name"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    language = models.CharField(
        _("language"),
        max_length=35,
        default="en",
        validators=[RegexValidator(LANGUAGE_TAG, _("Give a BCP-47 tag such as en or pt-BR."))],
        help_text=_("A BCP-47 tag such as en or pt-BR."),
    )
    licence = models.CharField(_("licence"), max_length=100, blank=True)
    source_address = models.URLField(_("source address"), blank=True)
    archived = models.BooleanField(_("archived"), default=False)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "user"], name="one_membership_per_person_and_dataset"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"


class Invitation(models.Model):
    """A link that makes the person who opens it a member. Only a digest of its token is kept."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="invitations")
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    token_digest = models.CharField(max_length=64, unique=True)
    note = models.CharField(_("for whom"), max_length=100, blank=True)
    uses_left = models.PositiveIntegerField(_("people it admits"), default=1)
    admitted = models.PositiveIntegerField(default=0, help_text="people who came by it")
    created_by = models.ForeignKey(User, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=now)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_is_known")
        ]

    def __str__(self) -> str:
        return f"{self.dataset} · {self.get_role_display()}"


class InvitationBar(models.Model):
    """Somebody was removed from a dataset or lost rights in it: invitations made until then admit this person no more.

    One row for each removal or demotion, so that an undo takes back its own bar and leaves an earlier one.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["dataset", "user", "until"], name="invitation_bar_by_person")]

    def __str__(self) -> str:
        return f"{self.dataset} · {self.user} · {self.until:%Y-%m-%d %H:%M}"


class PasswordTries(models.Model):
    """How often a password was tried in a quarter of an hour: for a name, from an address, or both. No name is kept."""

    key = models.CharField(max_length=64, unique=True)
    tries = models.PositiveIntegerField(default=0)
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.tries} until {self.ends_at:%Y-%m-%d %H:%M}"


class ApiToken(models.Model):
    """A person's token for a program. Only a digest of it is kept; another password ends it, and so does its time."""

    Scope = TokenScope

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=60)
    scope = models.CharField(_("scope"), max_length=5, choices=TokenScope.choices)
    digest = models.CharField(max_length=64, unique=True)
    beginning = models.CharField(max_length=8, help_text="by which its owner recognises it")
    password_digest = models.CharField(max_length=64, help_text="of the password's hash when it was made")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="one_token_per_person_and_name"),
            models.CheckConstraint(condition=Q(scope__in=TokenScope.values), name="token_scope_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.name} · {self.beginning}…"


class BrowserSession(models.Model):
    """A browser in which a person is logged in. It goes with its session.

    browser, system: names from short lists, "" for others. password_digest: of the password's hash at the login.
    """

    session = models.OneToOneField("sessions.Session", models.CASCADE, related_name="+")
    user = models.ForeignKey(User, models.CASCADE, related_name="browser_sessions")
    browser = models.CharField(max_length=20, blank=True)
    system = models.CharField(max_length=20, blank=True)
    password_digest = models.CharField(max_length=64)
    started_at = models.DateTimeField()
    last_used_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} · {self.browser} · {self.system}"


class SecondFactor(models.Model):
    """What an account asks for after the password.

    secret: of the app, base32. last_step: the step of 30 seconds whose code was used last. recovery: SHA-256 of each
    unused recovery code, in hexadecimal.
    """

    user = models.OneToOneField(User, models.CASCADE, related_name="second_factor")
    secret = models.CharField(max_length=64)
    last_step = models.BigIntegerField()
    recovery = models.JSONField(default=list)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.user)


class UploadDay(models.Model):
    """How many bytes a person uploaded on a day of UTC. Only the newest day of each person is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    day = models.DateField()
    size = models.PositiveBigIntegerField(default=0, help_text="bytes")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "day"], name="one_row_of_uploads_per_person_and_day")
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.day} · {self.size}"


class Sentence(models.Model):
    class Origin(models.TextChoices):
        HUMAN = "human", _("human")
        MACHINE = "machine", _("machine")
        # A machine's sentence that a curator rewrote: neither what people write nor what machines do.
        EDITED = "edited", _("edited")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="sentences")
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
    class Origin(models.TextChoices):
        IMPORTED = "imported", _("imported")
        SAMPLED = "sampled", _("sampled")
        GENERATED = "generated", _("generated")

    class Status(models.TextChoices):
        ACTIVE = "active", _("active")
        PENDING = "pending", _("pending review")
        REJECTED = "rejected", _("rejected")
        RETIRED = "retired", _("retired")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="pairs")
    external_id = models.CharField(
        max_length=200, help_text="the file's, or made from content and occurrence"
    )
    # Its own index would be the beginning of that of both sentences, which every import asks.
    a = models.ForeignKey(Sentence, models.PROTECT, related_name="pairs_as_a", db_index=False)
    b = models.ForeignKey(Sentence, models.PROTECT, related_name="pairs_as_b")
    source = models.CharField(max_length=100, blank=True)
    subset = models.CharField(max_length=100, blank=True)
    split = models.CharField(max_length=20, blank=True, help_text="what the file said")
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


def mark_shown(judges: str) -> str:
    """The mark of scores of these judges in the reader's language; "" of people alone. judges: as files say it."""
    words = {SIMULATED: _("simulated annotators"), BOTH: _("people and simulated annotators")}
    return str(words.get(judges, ""))


class ScoreSet(models.Model):
    """Scores of a dataset's pairs on one scale, from one maker. Values are kept raw; 0..1 is derived."""

    class Kind(models.TextChoices):
        REFERENCE = "reference", _("reference")  # imported
        HUMAN = "human", _("human")  # from a campaign
        MODEL = "model", _("model")
        TARGET = "target", _("target")  # the similarity that a generated pair was asked for
        REALISM = "realism", _("realism")
        CONSISTENCY = "consistency", _("label consistency")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="score_sets")
    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    low = models.FloatField(_("lowest score"))
    high = models.FloatField(_("highest score"))
    method = models.CharField(_("method"), max_length=100, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    campaign_ref = models.BigIntegerField(null=True, blank=True)
    run_ref = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="one_score_set_per_name_and_dataset"),
            models.CheckConstraint(condition=Q(low__lt=F("high")), name="score_scale_goes_up"),
        ]

    def __str__(self) -> str:
        """The name as people read it, with the mark of simulated annotators. Files and plans have `name`."""
        return f"{self.name} ({mark})" if (mark := self.mark) else self.name

    @property
    def judged_by(self) -> str:
        """Who gave the judgements behind the scores, in the words of files; "" where nobody judged."""
        annotators, simulated = (self.parameters.get(each) for each in ("annotators", "simulated_annotators"))
        return judged_by(self.kind, annotators=annotators, simulated=simulated or 0)

    @property
    def mark(self) -> str:
        """What is said beside the name wherever the scores are shown; "" where people alone judged, or nobody."""
        return mark_shown(self.judged_by)


class PairScore(models.Model):
    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="scores")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="scores")
    value = models.FloatField()
    standard_error = models.FloatField(null=True, blank=True)
    judgements = models.PositiveIntegerField(null=True, blank=True)
    contexts = models.PositiveIntegerField(
        null=True, blank=True, help_text="by how many contexts of a corpus the score was computed"
    )
    interval_low = models.FloatField(null=True, blank=True, help_text="95 %, over contexts")
    interval_high = models.FloatField(null=True, blank=True, help_text="95 %, over contexts")
    imported = models.BigIntegerField(
        null=True, blank=True, help_text="the import and the line that gave it (curation.datasets.lineage)"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["score_set", "pair"], name="one_score_per_pair_and_score_set")
        ]
        # With the pair, so that pages in the order of scores need no sorting of equal ones.
        indexes = [models.Index(fields=["score_set", "value", "pair"], name="score_by_value_and_pair")]

    def __str__(self) -> str:
        return f"{self.value:g}"


class SentenceScore(models.Model):
    """What a score set says of single sentences: how real each sounds (p_D), and what that came from.

    A sentence is scored by a model that never saw it: `fold` names the one that did (RISE, and methods of ours).
    """

    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="sentence_scores")
    sentence = models.ForeignKey(Sentence, models.CASCADE, related_name="scores")
    value = models.FloatField()
    logit_machine = models.FloatField(null=True, blank=True)
    logit_human = models.FloatField(null=True, blank=True)
    fold = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["score_set", "sentence"], name="one_score_per_sentence_and_score_set"
            )
        ]
        indexes = [models.Index(fields=["score_set", "value"], name="sentence_score_by_value")]

    def __str__(self) -> str:
        return f"{self.value:g}"


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

    sentence = models.ForeignKey(Sentence, models.CASCADE, related_name="decisions")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    reasons = models.JSONField(default=list, blank=True, help_text="why it was rejected (curation.review)")
    note = models.CharField(max_length=500, blank=True)
    replacement = models.ForeignKey(Pair, models.SET_NULL, null=True, blank=True, related_name="replaces")
    value_shown = models.FloatField(null=True, blank=True, help_text="p_D at the time of the decision")
    blind = models.BooleanField(default=False, help_text="whether p_D was hidden from the reviewer")
    decided_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
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
    client_id = models.UUIDField(unique=True, help_text="one per shown sentence: sent twice, decided once")
    score_set = models.ForeignKey(
        ScoreSet,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="the p_D set whose queue showed it",
    )
    frame = models.CharField(
        max_length=10, choices=Frame.choices, help_text="the queue in which it was shown"
    )
    stratum = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="tenth of the sentences by p_D, from 1, of a stratified sample"
    )
    binding = models.BooleanField(default=True, help_text="whether the pair has the status that this says")
    second = models.BooleanField(
        default=False, help_text="asked of a second reviewer, who did not see the first"
    )
    text = models.CharField(
        max_length=SENTENCE_MAX_CHARACTERS, blank=True, help_text="of an edit that changed no pair"
    )
    settles = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="settled_by",
        help_text="the decision that it replaces after a disagreement",
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
    reviewer = models.ForeignKey(User, models.CASCADE, related_name="+")
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.reviewer}"


class Snapshot(models.Model):
    """An immutable Parquet file of pairs and scores: what training and evaluation read."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    filter = models.JSONField(default=dict, blank=True)
    rows = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    path = models.CharField(max_length=500, help_text="relative to SEMBLANCE_HOME")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
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


class ImportBatch(models.Model):
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

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="imports")
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
    report = models.JSONField(default=dict, blank=True, help_text="duplicates, scale, first errors")
    attempt = models.PositiveIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(
        default=0, help_text="processes that fell silent over it since somebody asked for it"
    )
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    written = models.JSONField(
        default=dict, blank=True, help_text="what this import's attempts have added so far"
    )
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.file_name

    @property
    def checked(self) -> bool:
        """Whether the columns were tried, so that it is known what an import will do."""
        return bool(self.mapping) and "rows" in self.report


class SplitChange(models.Model):
    """Splits that a person drew, and how to go back: `before` holds what the changed pairs had."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="split_changes")
    parameters = models.JSONField(default=dict, help_text="shares, seed, and which pairs were divided")
    pairs = models.PositiveIntegerField(help_text="whose split changed")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.pairs} pairs, {self.created_at:%Y-%m-%d %H:%M}"


class SplitBefore(models.Model):
    """The split that a pair had before a change, and the one that it got."""

    change = models.ForeignKey(SplitChange, models.CASCADE, related_name="before")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="+")
    split = models.CharField(max_length=20, blank=True)
    given = models.CharField(max_length=20)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["change", "pair"], name="one_split_before_per_pair_and_change")
        ]

    def __str__(self) -> str:
        return f"{self.pair_id}: {self.split} → {self.given}"


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
        PAIRS_COMPOSED = "pairs_composed", _("composed pairs")
        COMPOSED_UNDONE = "composed_undone", _("took composed pairs back")
        SENTENCES_ADDED = "sentences_added", _("added sentences to the pool")
        POOL_EMPTIED = "pool_emptied", _("emptied the pool of sentences")
        SPLITS_DRAWN = "splits_drawn", _("drew splits")
        SPLITS_UNDONE = "splits_undone", _("undid drawn splits")
        SCORES_PUBLISHED = "scores_published", _("published a score set")
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
        TUPLES_RESERVED = "tuples_reserved", _("drew the tuples of a campaign that machines judge")
        MACHINE_JUDGED = "machine_judged", _("had a machine judge tuples of a campaign")
        GUIDELINES_SAVED = "guidelines_saved", _("changed the guidelines of a campaign")
        NORMING_STARTED = "norming_started", _("started a norming session of a campaign")
        NORMING_MOVED = "norming_moved", _("moved a norming session of a campaign on")
        SLIDER_STARTED = "slider_started", _("added a slider arm to a campaign")
        SLIDER_CHANGED = "slider_changed", _("changed the slider arm of a campaign")
        GOLD_ADDED = "gold_added", _("added a gold tuple to a campaign")
        GOLD_CHANGED = "gold_changed", _("changed the reason of a gold tuple of a campaign")
        GOLD_REMOVED = "gold_removed", _("removed a gold tuple from a campaign")
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

    dataset = models.ForeignKey(Dataset, models.CASCADE, null=True, blank=True, related_name="audit_entries")
    at = models.DateTimeField(default=now)
    by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    via = models.CharField(max_length=10, choices=Via.choices)
    token = models.CharField(max_length=8, blank=True, help_text="the beginning of the API token")
    action = models.CharField(max_length=20, choices=Action.choices)
    subject = models.CharField(
        max_length=255,
        blank=True,
        help_text="the file, person, score set, snapshot or campaign that it was about",
    )
    pair = models.ForeignKey(Pair, models.CASCADE, null=True, blank=True, related_name="audit_entries")
    pairs = models.PositiveIntegerField(null=True, blank=True, help_text="that were added or changed")
    batch = models.ForeignKey(
        ImportBatch, models.SET_NULL, null=True, blank=True, related_name="audit_entries"
    )
    details = models.JSONField(default=dict, blank=True)
    undoes = models.OneToOneField(
        "self", models.CASCADE, null=True, blank=True, related_name="undone_by", help_text="the edit"
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
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="changes")
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


class PooledSentence(models.Model):
    """A sentence from which pairs may be composed. It may be in pairs of the dataset, or in none yet."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="pool")
    sentence = models.OneToOneField(Sentence, models.CASCADE, related_name="pooled")
    source = models.CharField(max_length=100, blank=True)
    labels = models.JSONField(default=dict, blank=True, help_text="by the names of their columns")

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.source}: {self.sentence}"


class Composition(models.Model):
    """Pairs that a person composed from the pool: how they were drawn, and which they are."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="compositions")
    parameters = models.JSONField(default=dict, help_text="the strategy and its settings")
    pairs = models.PositiveIntegerField()
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.pairs} pairs, {self.created_at:%Y-%m-%d %H:%M}"


class ComposedPair(models.Model):
    """A pair that a composition added."""

    composition = models.ForeignKey(Composition, models.CASCADE, related_name="composed")
    pair = models.OneToOneField(Pair, models.CASCADE, related_name="composed")

    def __str__(self) -> str:
        return f"{self.composition_id}: {self.pair_id}"


class DuplicateSearch(models.Model):
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

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="duplicate_searches")
    against = models.CharField(
        max_length=200, blank=True, help_text="numbers of the other datasets, rising, with commas"
    )
    threshold = models.FloatField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(default=0)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.CharField(max_length=500, blank=True, help_text="why it failed")
    counts = models.JSONField(default=dict, blank=True, help_text="groups by likeness, and how many leak")
    pairs_state = models.CharField(max_length=64, blank=True, help_text="of the pairs that were read")
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
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
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="+")
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


class TupleBlock(models.Model):
    """Tuples of a campaign that machines judge as people do, drawn before any machine was asked.

    It holds the whole prompt's content, so that a run needs nothing of the campaign and all machines get the same.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="tuple_blocks")
    campaign_ref = models.BigIntegerField(unique=True)
    name = models.CharField(max_length=200, help_text="of the campaign")
    question = models.CharField(max_length=300)
    best_label = models.CharField(max_length=40)
    worst_label = models.CharField(max_length=40)
    guidelines = models.TextField(blank=True)
    tuples = models.JSONField(
        help_text="of each its number in the design, its pairs in the order of the design, and the slots in the "
        "order of the first of two questions, which was drawn; the second has them reversed"
    )
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name}: {len(self.tuples)} tuples"


class MachineJudge(models.Model):
    """A model that judged a block of tuples. Nothing that is computed from what people judged reads its answers."""

    block = models.ForeignKey(TupleBlock, models.CASCADE, related_name="judges")
    run_ref = models.BigIntegerField(unique=True)
    model = models.CharField(max_length=500, help_text="as the plan of the run names it")
    parameters = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=now)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.model


class MachineJudgement(models.Model):
    """One answer of a machine. Where it gave none, both slots are empty."""

    judge = models.ForeignKey(MachineJudge, models.CASCADE, db_index=False, related_name="judgements")
    place = models.PositiveIntegerField(help_text="of the tuple in the block, from 0")
    reversed = models.BooleanField(help_text="whether the tuple was shown in the second order")
    best_slot = models.PositiveSmallIntegerField(null=True, blank=True)
    worst_slot = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["place", "reversed"]
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "place", "reversed"], name="one_machine_judgement_per_question"
            ),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="machine_judgement_is_whole_or_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id}/{self.place}"


class Webhook(models.Model):
    """An address that receives events of a dataset. Its secret signs what is sent, so it is kept as it is."""

    class Event(models.TextChoices):
        CAMPAIGN_FINISHED = "campaign.finished", _("A campaign has all its judgements")
        CAMPAIGN_CLOSED = "campaign.closed", _("A campaign was closed")
        ANNOTATOR_STOPPED = "annotator.stopped", _("An annotator was stopped")
        RUN_FINISHED = "run.finished", _("A run succeeded or failed")
        REVIEW_FINISHED = "review.finished", _("A review has a verdict on each of its sentences")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="webhooks")
    url = models.URLField(_("address"), max_length=500)
    events = models.JSONField(_("events"), default=list)
    secret = models.CharField(max_length=100)
    active = models.BooleanField(_("turned on"), default=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=now)

    def __str__(self) -> str:
        return f"{self.dataset.slug}: {self.url}"


class Outgoing(models.Model):
    """What a worker sends to another program until it is accepted, with growing pauses. `people.outgoing` moves it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("given up")

    made_at = models.DateTimeField(default=now)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=now)
    tried_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, blank=True)

    class Meta:
        abstract = True


class WebhookDelivery(Outgoing):
    """One message to one webhook, and what became of it."""

    TEST = "test"

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    message_id = models.CharField(max_length=40, default=message_id_new, unique=True)
    event = models.CharField(max_length=30)
    key = models.CharField(max_length=200, help_text="what happened; told once")
    data = models.JSONField(default=dict)
    status = models.PositiveSmallIntegerField(null=True, help_text="of the last answer")

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "key"], name="webhook_told_once"),
        ]
        indexes = [models.Index(fields=["state", "next_at"], name="webhook_deliveries_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook.url}"

    @property
    def event_shown(self) -> str:
        labels = dict(Webhook.Event.choices)
        return str(labels.get(self.event, _("A test")))


class Mail(Outgoing):
    """One e-mail, and what became of it. Its text is written when it is sent: no secret is kept here.

    address: of the site, with its path, for the link. nonce: with SECRET_KEY, the secret of an invitation's link; empty
    once that is not needed. user: whose address it becomes, or who is told of a change; a new password is for whoever
    has the address then.
    """

    class Kind(models.TextChoices):
        INVITATION = "invitation", _("invitation")
        PASSWORD = "password", _("new password")
        ADDRESS = "address", _("confirmation of an address")
        CHANGED = "changed", _("notice of a new password")
        MOVED = "moved", _("notice of another address")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    to = models.EmailField()
    language = models.CharField(max_length=15)
    address = models.CharField(max_length=500)
    invitation = models.OneToOneField(Invitation, models.CASCADE, null=True, related_name="mail")
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="+")
    nonce = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="invitation", invitation__isnull=False)
                | Q(kind="password", invitation__isnull=True)
                | Q(kind__in=["address", "changed", "moved"], user__isnull=False),
                name="mail_has_what_it_is_about",
            )
        ]
        indexes = [
            models.Index(fields=["state", "next_at"], name="mails_due"),
            models.Index(fields=["to", "kind", "made_at"], name="mails_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} · {self.to}"
