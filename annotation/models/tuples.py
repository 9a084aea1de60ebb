"""Tuples of a campaign, the pairs in them, and gold answers."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotation.models.campaigns import Campaign, TuplePhase
from curation.models import Pair


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

    Phase = TuplePhase

    campaign = models.ForeignKey(Campaign, models.CASCADE, db_index=False, related_name="tuples")
    is_gold = models.BooleanField(default=False)
    repeats = models.OneToOneField(
        "self", models.CASCADE, null=True, blank=True, related_name="repeat", help_text="what is shown again"
    )
    phase = models.CharField(max_length=10, choices=TuplePhase.choices, default=TuplePhase.BALANCED)
    number = models.PositiveIntegerField(
        help_text="The position in the design, from 1. Attention checks are numbered separately."
    )
    round = models.PositiveSmallIntegerField(default=1)
    priority = models.PositiveIntegerField(help_text="the order in which tuples are handed out")
    required = models.PositiveSmallIntegerField(help_text="The number of required judgements.")
    collected = models.PositiveSmallIntegerField(default=0, help_text="Judgements that count.")
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
    """A pair's place in a tuple. slot: from 0, as the design has it; a screen shows the slots in another order."""

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
    """What is right in a gold tuple, which answers at once whether somebody read with care."""

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
