"""Score sets: a score keeps the scale that it was given on."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from curation.pairs.judged_by import BOTH, SIMULATED, judged_by


def mark_shown(judges: str) -> str:
    """The mark of scores of these judges in the reader's language; "" of people alone. judges: as files say it."""
    words = {SIMULATED: _("simulated annotators"), BOTH: _("people and simulated annotators")}
    return str(words.get(judges, ""))


class ScoreSets(models.QuerySet["ScoreSet"]):
    def offered(self) -> "ScoreSets":
        """Those that lists, forms and files take; a withdrawn one is there for those who name it."""
        return self.filter(withdrawn_at=None)


class ScoreSet(models.Model):
    """Scores of a dataset's pairs on one scale, from one maker. Values are kept raw; 0..1 is derived.

    name: by which files, plans and snapshots call it, so that it never changes. title: what pages say instead; "" for
    the name. withdrawn_at, withdrawn_by, withdrawn_why: since when nothing offers it; None where everything does.
    """

    class Kind(models.TextChoices):
        REFERENCE = "reference", _("reference")  # imported
        HUMAN = "human", _("human")  # from a campaign
        MODEL = "model", _("model")
        TARGET = "target", _("target")  # the similarity that a generated pair was asked for
        REALISM = "realism", _("realism")
        CONSISTENCY = "consistency", _("label consistency")

    dataset = models.ForeignKey("curation.Dataset", models.CASCADE, related_name="score_sets")
    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    low = models.FloatField(_("lowest score"))
    high = models.FloatField(_("highest score"))
    method = models.CharField(_("method"), max_length=100, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    campaign_ref = models.BigIntegerField(null=True, blank=True)
    run_ref = models.BigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    title = models.CharField(_("name on pages"), max_length=100, blank=True)
    description = models.TextField(_("description"), blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        "curation.User", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    withdrawn_why = models.CharField(_("reason"), max_length=300, blank=True)

    objects = ScoreSets.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "name"], name="one_score_set_per_name_and_dataset"),
            models.CheckConstraint(condition=Q(low__lt=F("high")), name="score_scale_goes_up"),
        ]

    def __str__(self) -> str:
        """The name as people read it, with its mark. Files and plans have `name`."""
        return f"{self.shown_name} ({mark})" if (mark := self.mark) else self.shown_name

    @property
    def shown_name(self) -> str:
        return self.title or self.name

    @property
    def judged_by(self) -> str:
        """Who gave the judgements behind the scores, in the words of files; "" where nobody judged."""
        annotators, simulated = (self.parameters.get(each) for each in ("annotators", "simulated_annotators"))
        return judged_by(self.kind, annotators=annotators, simulated=simulated or 0)

    @property
    def mark(self) -> str:
        """What is said beside the name wherever the scores are shown: who judged, but for people alone, and that it was
        withdrawn; "" where there is nothing to say.
        """
        marks = [mark_shown(self.judged_by), str(_("withdrawn")) if self.withdrawn_at else ""]
        return ", ".join(filter(None, marks))


class PairScore(models.Model):
    """The score of a pair in a score set, on the set's own scale, with its standard error where there is one."""

    score_set = models.ForeignKey(ScoreSet, models.CASCADE, related_name="scores")
    pair = models.ForeignKey("curation.Pair", models.CASCADE, related_name="scores")
    value = models.FloatField()
    standard_error = models.FloatField(null=True, blank=True)
    judgements = models.PositiveIntegerField(null=True, blank=True)
    contexts = models.PositiveIntegerField(
        null=True, blank=True, help_text="The number of contexts of a corpus behind the score."
    )
    interval_low = models.FloatField(
        null=True, blank=True, help_text="The end of the 95 % interval, over contexts."
    )
    interval_high = models.FloatField(
        null=True, blank=True, help_text="The end of the 95 % interval, over contexts."
    )
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
    sentence = models.ForeignKey("curation.Sentence", models.CASCADE, related_name="scores")
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
