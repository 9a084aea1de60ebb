"""Campaigns of Best-Worst judgements.

A campaign shows tuples of pairs to people. Which judgements of a tuple count is decided in one place,
`settling.tuples_settle`; the counters on `Tuple` follow from it in the same transaction.

A foreign key that leads a unique constraint or an index has no second index (`db_index=False`): these
rows are written many times a second.
"""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.about import LABELS, Age, Gender
from annotation.reasons import FlagReason
from curation.models import Dataset, Pair

REPEATS_AT_MOST_EVERY = 5
MOST_PAIRS_IN_TUPLE = 8


class Campaign(models.Model):
    class State(models.TextChoices):
        DRAFT = "draft", _("draft")
        OPEN = "open", _("open")
        PAUSED = "paused", _("paused")
        CLOSED = "closed", _("closed")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="campaigns")
    name = models.CharField(_("name"), max_length=200)
    question = models.CharField(
        _("question"),
        max_length=300,
        default="Which of these sentence pairs are most and least closely related in meaning?",
    )
    best_label = models.CharField(_("label for best"), max_length=40, default="Most related")
    worst_label = models.CharField(_("label for worst"), max_length=40, default="Least related")
    tuple_size = models.PositiveSmallIntegerField(_("pairs on a screen"), default=4)
    factor = models.FloatField(_("tuples per pair"), default=2.0)
    judgements_per_tuple = models.PositiveSmallIntegerField(_("judgements per tuple"), default=2)
    gold_every = models.PositiveSmallIntegerField(_("one gold tuple in every"), default=15)
    gold_minimum = models.PositiveSmallIntegerField(
        _("gold answers before doubtful cases are stopped"), default=10
    )
    gold_threshold = models.FloatField(_("share of gold trials that must be right"), default=0.7)
    repeat_every = models.PositiveSmallIntegerField(_("one hidden repeat in every"), default=0)
    allows_ties = models.BooleanField(_("offer “too close to call”"), default=False)
    seed = models.PositiveIntegerField(_("seed"), default=1234)
    pair_filter = models.JSONField(
        default=dict, blank=True, help_text="which of the dataset's pairs are judged"
    )
    rounds = models.PositiveSmallIntegerField(default=1, help_text="how many rounds of tuples there are")
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    certificate = models.JSONField(default=dict, blank=True, help_text="what is known of the design")
    adaptive_budget = models.PositiveIntegerField(
        _("extra judgements"), default=0, help_text="judgements that the adaptive phase may ask for, in all"
    )
    has_quiz = models.BooleanField(default=False, help_text="whether it has questions; kept with them")
    archived = models.BooleanField(
        _("archived"), default=False, help_text="out of the lists; nothing in it changes"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(archived=False) | Q(state__in=["draft", "closed"]),
                name="archived_campaigns_ask_nobody",
                violation_error_message=_("Close the campaign before you archive it."),
            ),
            models.CheckConstraint(
                condition=Q(tuple_size__gte=2) & Q(tuple_size__lte=MOST_PAIRS_IN_TUPLE),
                name="tuple_size_is_2_to_8",
                violation_error_message=_("A screen shows between 2 and 8 pairs."),
            ),
            models.CheckConstraint(
                condition=Q(factor__gt=0),
                name="factor_is_positive",
                violation_error_message=_("The number of tuples per pair must be more than 0."),
            ),
            models.CheckConstraint(
                condition=Q(judgements_per_tuple__gte=1),
                name="tuples_are_judged_at_least_once",
                violation_error_message=_("A tuple needs at least one judgement."),
            ),
            models.CheckConstraint(
                condition=Q(gold_every__gte=2),
                name="gold_is_not_every_tuple",
                violation_error_message=_("At most every second tuple can be a gold one."),
            ),
            models.CheckConstraint(
                condition=Q(repeat_every=0) | Q(repeat_every__gte=REPEATS_AT_MOST_EVERY),
                name="repeats_are_off_or_seldom",
                violation_error_message=_("At most every fifth tuple can be a repeat; 0 asks for none."),
            ),
            models.CheckConstraint(
                condition=Q(gold_threshold__gte=0) & Q(gold_threshold__lte=1),
                name="gold_threshold_is_a_share",
                violation_error_message=_(
                    "The share of gold trials that must be right lies between 0 and 1."
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_imported(self) -> bool:
        """Whether the judgements came from a file: nobody knows then what was asked, and how people were checked."""
        return "imported" in self.certificate

    @property
    def has_grown(self) -> bool:
        """Whether pairs joined after the launch: counting then has no one scale for all pairs."""
        extensions = self.certificate.get("extensions", [])
        return any(extension["phase"] == Tuple.Phase.BRIDGE for extension in extensions)


class Guideline(models.Model):
    """The instructions for annotators. Each judgement keeps the version that it was made under."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(_("guidelines"))
    examples = models.JSONField(
        default=list, blank=True, help_text="worked examples: pairs of texts, best, worst and why"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="one_guideline_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.campaign} v{self.version}"


class QuizQuestion(models.Model):
    """A question about the guidelines that people answer before their first tuple."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="quiz")
    number = models.PositiveSmallIntegerField()
    text = models.TextField(_("question"))
    options = models.JSONField(help_text="texts")
    right = models.PositiveSmallIntegerField(help_text="the place of the right option, from 0")
    why = models.TextField(_("reason"), blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="one_question_per_number_and_campaign"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}/{self.number}"


class TupleQuerySet(models.QuerySet["Tuple"]):
    def for_scores(self) -> "TupleQuerySet":
        """Those that are judged for scores: no gold tuple, and no repeat."""
        return self.filter(is_gold=False, repeats=None)

    def gold_in_use(self) -> "TupleQuerySet":
        """The gold tuples that are asked and weighed."""
        return self.filter(is_gold=True, gold_answer__withdrawn=False)


class Tuple(models.Model):
    """`tuple_size` pairs shown together. `settling` and `assignment` alone keep the two counters.

    A gold tuple is asked of everyone, counts for the gate and never for scores: nothing is required of it, and
    none of its counters moves, so that a crowd does not queue at its row.

    A repeat is a tuple shown again to people who judged it, under its own row: no tuple appears twice before one
    person. It has the number, the position and the pairs of what it repeats, and like gold no counters.

    Tuples of the balanced and the bridge phase are designed before anybody answers them. Those of the adaptive phase
    follow from answers, so counting and split-half reliability leave their judgements out.
    """

    class Phase(models.TextChoices):
        BALANCED = "balanced", _("design")
        BRIDGE = "bridge", _("bridge")
        ADAPTIVE = "adaptive", _("adaptive")

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="tuples")
    is_gold = models.BooleanField(default=False)
    repeats = models.OneToOneField(
        "self", models.CASCADE, null=True, blank=True, related_name="repeat", help_text="what is shown again"
    )
    phase = models.CharField(max_length=10, choices=Phase.choices, default=Phase.BALANCED)
    number = models.PositiveIntegerField(
        help_text="position in the design, from 1; gold tuples are numbered by themselves"
    )
    round = models.PositiveSmallIntegerField(default=1)
    priority = models.PositiveIntegerField(help_text="the order in which tuples are handed out")
    required = models.PositiveSmallIntegerField(help_text="judgements")
    collected = models.PositiveSmallIntegerField(default=0, help_text="judgements that count")
    leased = models.PositiveSmallIntegerField(default=0, help_text="live leases")

    objects = TupleQuerySet.as_manager()

    class Meta:
        ordering = ["is_gold", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "is_gold", "number"],
                condition=Q(repeats=None),
                name="one_tuple_per_number_and_campaign",
            ),
            models.CheckConstraint(
                condition=Q(collected__lte=F("required")), name="tuple_collects_at_most_what_is_required"
            ),
            models.CheckConstraint(
                condition=Q(is_gold=False) | Q(required=0, leased=0), name="gold_requires_no_judgements"
            ),
            models.CheckConstraint(
                condition=Q(repeats=None) | Q(is_gold=False, required=0, leased=0),
                name="repeats_require_nothing_and_are_no_gold",
            ),
            models.CheckConstraint(
                condition=Q(phase="balanced") | Q(phase__in=["bridge", "adaptive"], is_gold=False),
                name="tuple_is_of_a_known_phase",
            ),
        ]
        indexes = [
            # The constraint of these columns is blind to repeats: what is asked of all tuples cannot use its index.
            models.Index(fields=["campaign", "is_gold", "number"], name="tuple_by_number"),
            # `leased` stays out of it: a claim then changes no index, and few open tuples are fully leased.
            models.Index(
                fields=["campaign", "round", "priority"],
                condition=Q(collected__lt=F("required")),
                name="tuple_still_open",
            ),
        ]

    def __str__(self) -> str:
        kind = "gold " if self.is_gold else "" if self.repeats_id is None else "repeat of "
        return f"{self.campaign_id}/{kind}{self.number}"

    @property
    def is_for_scores(self) -> bool:
        """Whether `for_scores` holds it."""
        return not self.is_gold and self.repeats_id is None


class TupleItemQuerySet(models.QuerySet["TupleItem"]):
    def for_scores(self, campaign: Campaign) -> "TupleItemQuerySet":
        """The pairs of the campaign's tuples that are judged for scores."""
        return self.filter(tuple__campaign=campaign, tuple__is_gold=False, tuple__repeats=None)


class TupleItem(models.Model):
    tuple = models.ForeignKey(Tuple, models.CASCADE, db_index=False, related_name="items")
    slot = models.PositiveSmallIntegerField(
        help_text="position in the design, from 0; the screen's order is drawn per person"
    )
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="tuple_items")

    objects = TupleItemQuerySet.as_manager()

    class Meta:
        ordering = ["slot"]
        constraints = [
            models.UniqueConstraint(fields=["tuple", "pair"], name="no_pair_twice_in_a_tuple"),
            models.UniqueConstraint(fields=["tuple", "slot"], name="one_pair_per_slot"),
        ]

    def __str__(self) -> str:
        return f"{self.tuple_id}[{self.slot}]"


class GoldAnswer(models.Model):
    tuple = models.OneToOneField(Tuple, models.CASCADE, related_name="gold_answer")
    best_slot = models.PositiveSmallIntegerField()
    worst_slot = models.PositiveSmallIntegerField()
    why = models.TextField(_("reason shown to annotators"), blank=True)
    withdrawn = models.BooleanField(
        default=False, help_text="asked of nobody any more, and no answer to it is weighed"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(best_slot=F("worst_slot")), name="gold_best_is_not_worst")
        ]

    def __str__(self) -> str:
        return f"{self.tuple}: {self.best_slot} > {self.worst_slot}"


class Participation(models.Model):
    """One person in one campaign. Whoever changes what the person has done or holds locks this row first."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        STOPPED = "stopped", _("stopped")

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="participations")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="participations")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    excluded = models.BooleanField(default=False, help_text="none of the person's judgements count")
    reason = models.TextField(blank=True, help_text="why the person is stopped or excluded")
    handed = models.PositiveIntegerField(
        default=0, help_text="tuples handed out so far; decides where the next gold stands"
    )
    cursor = models.PositiveIntegerField(
        default=0, help_text="the priority from which the next tuple is looked for"
    )
    gold_trials = models.PositiveIntegerField(default=0, help_text="best and worst are two trials")
    gold_right = models.PositiveIntegerField(default=0)
    forgiven_trials = models.PositiveIntegerField(
        default=0, help_text="gold trials before the last reinstatement"
    )
    forgiven_right = models.PositiveIntegerField(default=0)
    forgiven_until = models.PositiveBigIntegerField(
        default=0, help_text="the number of the last gold judgement before the last reinstatement"
    )
    stopped_by_gold = models.BooleanField(
        default=False, help_text="the gold rule stopped the person, and nobody let them go on since"
    )
    joined_at = models.DateTimeField(auto_now_add=True)
    quiz_passed_at = models.DateTimeField(null=True, blank=True)
    quota = models.PositiveIntegerField(
        null=True, blank=True, help_text="tuples that the person is asked to judge; empty: all that are open"
    )
    rates = models.BooleanField(
        default=False, help_text="rates pairs in the campaign's slider arm, and judges no tuples"
    )
    signs_accepted = models.JSONField(
        default=list,
        blank=True,
        help_text="kinds of signs of carelessness that a curator looked at and found harmless",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "user"], name="one_participation_per_person_and_campaign"
            ),
            models.CheckConstraint(
                condition=Q(gold_right__lte=F("gold_trials")), name="gold_right_at_most_trials"
            ),
            models.CheckConstraint(
                condition=Q(forgiven_trials__lte=F("gold_trials"), forgiven_right__lte=F("gold_right")),
                name="forgiven_trials_were_made",
            ),
            models.CheckConstraint(
                condition=Q(excluded=False) | Q(state="stopped"), name="excluded_people_are_stopped"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.campaign}"


class QuizResult(models.Model):
    """How somebody answered the quiz the first time, and how often they tried."""

    participation = models.OneToOneField(Participation, models.CASCADE, related_name="quiz_result")
    right = models.PositiveSmallIntegerField(help_text="answers at the first try")
    asked = models.PositiveSmallIntegerField(help_text="questions at the first try")
    tries = models.PositiveIntegerField(default=1)
    answers = models.JSONField(help_text="of the first try: places of options by the numbers of questions")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(right__lte=F("asked")), name="quiz_right_at_most_asked")
        ]

    def __str__(self) -> str:
        return f"{self.participation_id}: {self.right} of {self.asked}"


class Sitting(models.Model):
    """One stretch of work of one person; a person may come back."""

    participation = models.ForeignKey(Participation, models.CASCADE, related_name="sittings")
    started_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.participation} from {self.started_at:%Y-%m-%d %H:%M}"


class Lease(models.Model):
    """One tuple shown to one person: live while on the screen or fetched ahead, kept to say how that ended.

    A released lease ran out or was taken back; its tuple may be shown to the person again, in the same order.
    """

    class State(models.TextChoices):
        LIVE = "live", _("on the screen")
        ANSWERED = "answered", _("answered")
        SKIPPED = "skipped", _("skipped")
        RELEASED = "released", _("released")

    tuple = models.ForeignKey(Tuple, models.CASCADE, db_index=False, related_name="leases")
    participation = models.ForeignKey(Participation, models.CASCADE, related_name="leases")
    state = models.CharField(max_length=10, choices=State.choices, default=State.LIVE)
    turn = models.IntegerField(
        default=0, help_text="of a person's live leases, the one of the lowest turn is on the screen"
    )
    order_shown = models.JSONField(help_text="slots in the order of the screen")
    claimed_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["tuple", "participation"], name="one_lease_per_tuple_and_person"),
            models.UniqueConstraint(
                fields=["participation", "turn"],
                condition=Q(state="live"),
                name="one_live_lease_per_person_and_turn",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(state="live"), name="live_lease_by_expiry")
        ]

    def __str__(self) -> str:
        return f"{self.tuple} to {self.participation}"


class Judgement(models.Model):
    """One answer. Arrival is the order of primary keys: one that is taken back and given again comes last.

    Where the campaign allows it, a person may find the pairs too close to call: a tie, without best and worst.
    """

    class Status(models.TextChoices):
        COLLECTED = "collected", _("collected")
        EXTRA = "extra", _("extra")
        EXCLUDED = "excluded", _("excluded")
        GOLD = "gold", _("gold")
        REPEAT = "repeat", _("repeat")

    tuple = models.ForeignKey(Tuple, models.PROTECT, db_index=False, related_name="judgements")
    participation = models.ForeignKey(
        Participation, models.PROTECT, db_index=False, related_name="judgements"
    )
    sitting = models.ForeignKey(Sitting, models.SET_NULL, null=True, related_name="judgements")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    best_slot = models.PositiveSmallIntegerField(null=True)
    worst_slot = models.PositiveSmallIntegerField(null=True)
    order_shown = models.JSONField(help_text="slots in the order of the screen")
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    shown_at = models.DateTimeField(null=True)
    first_input_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.EXTRA)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation"], name="one_judgement_per_tuple_and_person"
            ),
            models.UniqueConstraint(
                fields=["participation", "client_id"], name="one_judgement_per_client_id"
            ),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="best_is_not_worst",
            ),
        ]
        indexes = [models.Index(fields=["participation", "-id"], name="judgement_by_person")]

    def __str__(self) -> str:
        return f"{self.tuple} by {self.participation.user}"

    @property
    def is_tie(self) -> bool:
        return self.best_slot is None


class JudgementRevision(models.Model):
    """An answer that was taken back."""

    tuple = models.ForeignKey(Tuple, models.PROTECT, related_name="revisions")
    participation = models.ForeignKey(Participation, models.PROTECT, db_index=False, related_name="revisions")
    client_id = models.UUIDField()
    answer = models.JSONField(
        encoder=DjangoJSONEncoder, help_text="the judgement's other fields as they were"
    )
    revised_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["participation", "client_id"], name="one_revision_per_client_id")
        ]

    def __str__(self) -> str:
        return f"{self.tuple} revised {self.revised_at:%Y-%m-%d %H:%M}"


class Flag(models.Model):
    """A tuple somebody skipped, or flagged while judging it, and why."""

    class Kind(models.TextChoices):
        SKIP = "skip", _("skipped")
        FLAG = "flag", _("flagged")

    tuple = models.ForeignKey(Tuple, models.CASCADE, db_index=False, related_name="flags")
    participation = models.ForeignKey(Participation, models.CASCADE, related_name="flags")
    kind = models.CharField(max_length=4, choices=Kind.choices)
    reason = models.CharField(_("reason"), max_length=12, choices=FlagReason.choices)
    slot = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="of the pair that is meant; empty where it is about all of them"
    )
    note = models.CharField(_("note"), max_length=500, blank=True)
    created_at = models.DateTimeField()
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation", "kind"], name="one_flag_of_a_kind_per_tuple_and_person"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tuple} {self.kind}"

    @property
    def is_comment(self) -> bool:
        return self.reason == FlagReason.COMMENT


class NormingSession(models.Model):
    """Some tuples that everybody judges alone, then discusses, and may judge again. Nothing of it counts for scores.

    judging -> discussing -> closed. The discussion begins when as many `people` have judged all tuples, or when a
    curator begins it.
    """

    class State(models.TextChoices):
        JUDGING = "judging", _("judging")
        DISCUSSING = "discussing", _("discussing")
        CLOSED = "closed", _("closed")

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="norming")
    number = models.PositiveIntegerField()
    people = models.PositiveSmallIntegerField(_("people who take part"))
    state = models.CharField(max_length=10, choices=State.choices, default=State.JUDGING)
    created_at = models.DateTimeField(auto_now_add=True)
    discussed_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="one_norming_per_number_and_campaign"
            ),
            models.UniqueConstraint(
                fields=["campaign"], condition=~Q(state="closed"), name="one_norming_at_a_time"
            ),
            models.CheckConstraint(condition=Q(people__gte=2), name="norming_is_for_two_people_or_more"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}/norming {self.number}"


class NormingTuple(models.Model):
    """Pairs that are shown together in a norming session: no `Tuple`, so nothing hands it out or counts it."""

    session = models.ForeignKey(NormingSession, models.CASCADE, db_index=False, related_name="tuples")
    number = models.PositiveSmallIntegerField(help_text="from 1")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "number"], name="one_norming_tuple_per_number_and_session"
            )
        ]

    def __str__(self) -> str:
        return f"{self.session_id}/{self.number}"


class NormingItem(models.Model):
    tuple = models.ForeignKey(NormingTuple, models.CASCADE, db_index=False, related_name="items")
    slot = models.PositiveSmallIntegerField(help_text="from 0; the screen's order is drawn per person")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["slot"]
        constraints = [
            models.UniqueConstraint(fields=["tuple", "slot"], name="one_norming_pair_per_slot"),
            models.UniqueConstraint(fields=["tuple", "pair"], name="no_pair_twice_in_a_norming_tuple"),
        ]

    def __str__(self) -> str:
        return f"{self.tuple_id}[{self.slot}]"


class NormingJudgement(models.Model):
    """An answer in a norming session, before the discussion (round 1) or after it (round 2); a tie has no slots."""

    tuple = models.ForeignKey(NormingTuple, models.CASCADE, db_index=False, related_name="judgements")
    participation = models.ForeignKey(Participation, models.CASCADE, related_name="norming_judgements")
    round = models.PositiveSmallIntegerField()
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    best_slot = models.PositiveSmallIntegerField(null=True)
    worst_slot = models.PositiveSmallIntegerField(null=True)
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["tuple", "participation", "round"], name="one_norming_judgement_per_round"
            ),
            models.CheckConstraint(condition=Q(round__in=[1, 2]), name="norming_has_two_rounds"),
            models.CheckConstraint(
                condition=Q(best_slot=None, worst_slot=None)
                | (Q(best_slot__isnull=False, worst_slot__isnull=False) & ~Q(best_slot=F("worst_slot"))),
                name="norming_best_is_not_worst",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tuple} by {self.participation_id}, round {self.round}"


class NormingComment(models.Model):
    """What somebody wrote about a tuple of a norming session; others read it under a pseudonym."""

    tuple = models.ForeignKey(NormingTuple, models.CASCADE, related_name="comments")
    participation = models.ForeignKey(Participation, models.CASCADE, related_name="norming_comments")
    text = models.CharField(_("comment"), max_length=1000)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.tuple}: {self.text[:40]}"


class SliderArm(models.Model):
    """Pairs of a campaign that some people rate one by one on a scale from 0 to 100, to compare the two methods.

    The people are the campaign's participations that rate. None of their ratings counts for the campaign's scores.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="slider_arm")
    question = models.CharField(_("question"), max_length=300)
    low_label = models.CharField(_("words at 0"), max_length=40)
    high_label = models.CharField(_("words at 100"), max_length=40)
    ratings_per_pair = models.PositiveSmallIntegerField(_("ratings per pair"), default=4)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(ratings_per_pair__gte=2), name="reliability_needs_two_ratings_per_pair"
            )
        ]

    def __str__(self) -> str:
        return f"slider arm of {self.campaign_id}"


class SliderPair(models.Model):
    arm = models.ForeignKey(SliderArm, models.CASCADE, db_index=False, related_name="pairs")
    number = models.PositiveIntegerField(
        help_text="from 1, as drawn; each person rates in an order of their own"
    )
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="+")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["arm", "number"], name="one_slider_pair_per_number"),
            models.UniqueConstraint(fields=["arm", "pair"], name="no_pair_twice_in_a_slider_arm"),
        ]

    def __str__(self) -> str:
        return f"{self.arm_id}/{self.number}"


class PairRating(models.Model):
    """One person's rating of one pair, from 0 to 100; a pair that was skipped has no value and is not asked again."""

    rated = models.ForeignKey(SliderPair, models.CASCADE, db_index=False, related_name="ratings")
    participation = models.ForeignKey(
        Participation, models.PROTECT, db_index=False, related_name="pair_ratings"
    )
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    value = models.PositiveSmallIntegerField(
        null=True, help_text="0 to 100; empty where the pair was skipped"
    )
    client_id = models.UUIDField(help_text="made by the page: sent twice, stored once")
    shown_at = models.DateTimeField(null=True)
    first_input_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(null=True, help_text="milliseconds the page was visible")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["rated", "participation"], name="one_rating_per_pair_and_person"),
            models.UniqueConstraint(
                fields=["participation", "client_id"], name="one_rating_per_person_and_client_id"
            ),
            models.CheckConstraint(
                condition=Q(value=None) | Q(value__gte=0, value__lte=100), name="ratings_are_0_to_100"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rated} by {self.participation_id}: {self.value}"


class CampaignDesign(models.Model):
    """What a worker is to design for a campaign, and how far it is; or the first tuples of a draft's design.

    waiting -> running -> done | failed; running -> running, where the worker sends no heartbeat and another takes over.
    The row is the truth, and a message only invites a worker to claim it. What the campaign asks for instead resets the
    row or deletes it, and the worker that held it writes nothing more.
    """

    class Purpose(models.TextChoices):
        PREVIEW = "preview", _("work out the design")
        OPEN = "open", _("open the campaign")
        GROW = "grow", _("add pairs")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="design_work")
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.PREVIEW)
    number = models.PositiveIntegerField(
        null=True, blank=True, help_text="of pairs to add; empty: all that fit"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DONE)
    attempt = models.PositiveIntegerField(default=0, help_text="goes up with every claim and every wish")
    lost = models.PositiveSmallIntegerField(default=0, help_text="workers that stopped sending heartbeats")
    asked_at = models.DateTimeField(null=True, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    first = models.JSONField(default=list, blank=True, help_text="pairs of the first tuples, for the preview")

    def __str__(self) -> str:
        return f"design of {self.campaign_id}: {self.purpose}, {self.state}"

    @property
    def is_underway(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def is_long(self) -> bool:
        """Whether a worker was asked for this design, because a request had tried and found it too long."""
        return self.attempt > 0


class CampaignStudy(models.Model):
    """The study last computed from a campaign's judgements, and of which state of it.

    A row and no cache: it is made by a worker (a `CampaignWork`), and shown by web processes that share no memory with
    it.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="study")
    mark = models.CharField(max_length=64, blank=True, help_text="of the state that was studied")
    figures = models.JSONField(default=dict, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True, help_text="that it took")

    def __str__(self) -> str:
        return f"study of {self.campaign_id}"


class CampaignWork(models.Model):
    """What somebody asked of a campaign's judgements, and what became of it: scores that are published, a study, a
    comparison, a bundle.

    waiting -> running -> done | failed; running -> running, where a process sends no heartbeat and another takes over.
    The row is the truth, and a message only invites a worker to claim it. Whoever withdraws the work deletes the row,
    and the process that held it writes nothing more.
    """

    class Kind(models.TextChoices):
        PUBLISH = "publish", _("publish scores")
        STUDY = "study", _("compute the figures")
        METHODS = "methods", _("compare with the slider arm")
        BUNDLE = "bundle", _("make the bundle")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="works")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    asked = models.JSONField(default=dict, blank=True, help_text="the choices")
    key = models.CharField(
        max_length=64, help_text="the same for what is asked twice: two clicks, a page loaded again"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt = models.PositiveIntegerField(default=0, help_text="goes up with every claim and every wish")
    lost = models.PositiveSmallIntegerField(default=0, help_text="processes that stopped sending heartbeats")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    message = models.TextField(blank=True, help_text="why it failed")
    result = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "key"], name="one_work_per_campaign_and_wish"),
        ]
        indexes = [
            models.Index(
                fields=["state"], condition=Q(state__in=["waiting", "running"]), name="work_still_to_do"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.campaign_id}: {self.state}"

    @property
    def is_underway(self) -> bool:
        return self.state in {self.State.WAITING, self.State.RUNNING}

    @property
    def has_bundle(self) -> bool:
        """Whether it made a bundle, which is kept as a file."""
        return self.kind == self.Kind.BUNDLE and self.state == self.State.DONE


class Crowd(models.Model):
    """How people whom a platform sends enter a campaign, and with which code each of them leaves it.

    The names of the parameters, the address and the codes are settings: every platform that sends people by a link and
    takes them back by a link is the same to the code.
    """

    campaign = models.OneToOneField(Campaign, models.CASCADE, related_name="crowd")
    token = models.CharField(max_length=43, unique=True, help_text="the part of the entry link that is drawn")
    is_open = models.BooleanField(_("people may enter"), default=False)
    external_id_parameter = models.CharField(_("parameter with the person's id"), max_length=50)
    study_parameter = models.CharField(_("parameter with the study"), max_length=50, blank=True)
    submission_parameter = models.CharField(_("parameter with the submission"), max_length=50, blank=True)
    completion_address = models.CharField(_("completion address"), max_length=500, blank=True)
    code_completed = models.CharField(_("code: completed"), max_length=60)
    code_stopped = models.CharField(_("code: stopped by the gold gate"), max_length=60)
    code_left = models.CharField(_("code: left early, or no tuples left"), max_length=60)
    screens = models.PositiveIntegerField(_("tuples per person"), default=40)
    places = models.PositiveIntegerField(_("people at most"), default=50)
    hours = models.PositiveSmallIntegerField(_("hours without an answer"), default=24)
    leavers_judged_again = models.BooleanField(
        _("ask others for what people judged who left early"), default=True
    )
    asks_about_person = models.BooleanField(_("ask about the person"), default=False)

    def __str__(self) -> str:
        return f"crowd of {self.campaign_id}"


class CrowdConsent(models.Model):
    """A version of what people agree to. Each person keeps the version that they agreed to."""

    crowd = models.ForeignKey(Crowd, models.CASCADE, db_index=False, related_name="consents")
    version = models.PositiveIntegerField()
    text = models.TextField(_("consent text"))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["crowd", "version"], name="one_consent_per_version_and_crowd")
        ]

    def __str__(self) -> str:
        return f"{self.crowd} v{self.version}"


class CrowdPerson(models.Model):
    """Somebody whom a platform sent: the link between the platform's id and the account that judges.

    The account has no password, belongs to no dataset and judges in this campaign alone. `external_id` is personal
    data: nothing but the crowd's own pages reads it, and it is empty once it was erased.
    """

    crowd = models.ForeignKey(Crowd, models.CASCADE, db_index=False, related_name="people")
    participation = models.OneToOneField(Participation, models.CASCADE, related_name="crowd_person")
    external_id = models.CharField(max_length=200, blank=True)
    consent = models.ForeignKey(CrowdConsent, models.PROTECT, related_name="+")
    consented_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["crowd", "external_id"],
                condition=~Q(external_id=""),
                name="one_person_per_external_id_and_crowd",
            )
        ]
        indexes = [models.Index(fields=["crowd"], name="person_by_crowd")]

    def __str__(self) -> str:
        return f"{self.participation_id} of {self.crowd}"


class CrowdAnswers(models.Model):
    """What a person said about themself, if they wished. No file has it, and they can delete it."""

    person = models.OneToOneField(CrowdPerson, models.CASCADE, related_name="answers")
    age = models.CharField(LABELS["age"], max_length=10, choices=Age.choices, blank=True)
    gender = models.CharField(LABELS["gender"], max_length=10, choices=Gender.choices, blank=True)
    first_language = models.CharField(LABELS["first_language"], max_length=60, blank=True)
    country = models.CharField(LABELS["country"], max_length=60, blank=True)

    def __str__(self) -> str:
        return f"answers of {self.person_id}"


class CrowdSubmission(models.Model):
    """One time that the platform sent the person; the last one is the one underway."""

    class Outcome(models.TextChoices):
        COMPLETED = "completed", _("completed")
        STOPPED = "stopped", _("stopped")
        LEFT = "left", _("left early, or no tuples left")

    person = models.ForeignKey(CrowdPerson, models.CASCADE, db_index=False, related_name="submissions")
    study = models.CharField(max_length=200, blank=True)
    submission = models.CharField(max_length=200, blank=True)
    entered_at = models.DateTimeField()
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    code = models.CharField(max_length=60, blank=True, help_text="that the person was shown")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["person", "submission"],
                condition=~Q(submission=""),
                name="one_row_per_person_and_submission",
            ),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at=None) | (~Q(outcome="") & Q(ended_at__isnull=False)),
                name="ended_submissions_have_an_outcome",
            ),
        ]
        indexes = [models.Index(fields=["person", "-id"], name="submission_by_person")]

    def __str__(self) -> str:
        return f"{self.person_id} from {self.entered_at:%Y-%m-%d %H:%M}"
