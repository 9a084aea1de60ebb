"""Campaigns as programs read them, and what a program that judges gets and sends.

As on the page, a tuple is named by its lease and a pair by its screen position, from 0. Nothing distinguishes a gold
tuple from another before it is answered.
"""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from annotation.models import (
    CAMPAIGN_SETTINGS,
    Campaign,
    CampaignDesign,
    CampaignWork,
    Crowd,
    Flag,
    Guideline,
    Tuple,
)
from annotation.reasons import FlagReason
from annotation.results.kept_bundles import KeptBundle, bundle_kept
from annotation.results.stages import Stage, stage_of_row
from annotation.results.works import score_sets_made
from curation.models import ScoreSet
from curation.serializers import NumberInBody


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    dataset = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    next_step = serializers.SerializerMethodField(
        help_text="The next step on the campaign's page: open, annotate, publish or export."
    )

    class Meta:
        model = Campaign
        fields = [
            "id",
            "dataset",
            "name",
            *CAMPAIGN_SETTINGS,
            "state",
            "archived",
            "certificate",
            "created_at",
            "opened_at",
            "next_step",
        ]

    @extend_schema_field(serializers.ChoiceField(choices=[stage.value for stage in Stage]))
    def get_next_step(self, campaign: Campaign) -> str:
        return stage_of_row(campaign).value


class DatasetSerializer(serializers.Serializer[Any]):
    dataset = serializers.CharField(help_text="The dataset's short name.")


class CopySerializer(serializers.Serializer[Any]):
    name = serializers.CharField(default="", allow_blank=True, max_length=200)
    gold = serializers.BooleanField(default=True, help_text="Whether attention checks are copied.")


class TupleSerializer(serializers.ModelSerializer[Tuple]):
    pairs = serializers.SerializerMethodField(help_text="The numbers of the pairs.")

    class Meta:
        model = Tuple
        fields = ["id", "number", "round", "phase", "required", "collected", "pairs"]

    def get_pairs(self, row: Tuple) -> list[int]:
        return [item.pair_id for item in row.items.all()]


class ResultSerializer(serializers.ModelSerializer[ScoreSet]):
    """Published scores. judgements_collected: those of the campaign that counted when the scores were published, of
    judgements_required; both null in sets of earlier versions.
    """

    dataset = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    judgements_collected = serializers.IntegerField(
        source="parameters.judgements_collected", default=None, read_only=True
    )
    judgements_required = serializers.IntegerField(
        source="parameters.judgements_required", default=None, read_only=True
    )

    class Meta:
        model = ScoreSet
        fields = [
            "id",
            "dataset",
            "name",
            "kind",
            "method",
            "low",
            "high",
            "created_at",
            "judgements_collected",
            "judgements_required",
        ]


class KeptBundleSerializer(serializers.Serializer[Any]):
    """A bundle that was made. address: of the file. read_at: from when on judgements may be missing in it."""

    address = serializers.SerializerMethodField()
    size = serializers.IntegerField(help_text="In bytes.")
    sha256 = serializers.CharField()
    judgements = serializers.IntegerField()
    read_at = serializers.DateTimeField()

    def get_address(self, kept: KeptBundle) -> str:
        place = [kept.work.campaign_id, kept.work.pk]
        return reverse("api_work_bundle", args=place, request=self.context.get("request"))


class WorkSerializer(serializers.ModelSerializer[CampaignWork]):
    """What was asked of a campaign's judgements. message: why it failed. results: the score sets that it published.
    bundle: the one that it made, null where it made none.
    """

    results = serializers.SerializerMethodField()
    bundle = serializers.SerializerMethodField()

    class Meta:
        model = CampaignWork
        fields = ["id", "kind", "asked", "state", "message", "asked_at", "finished_at", "results", "bundle"]

    @extend_schema_field(ResultSerializer(many=True))
    def get_results(self, work: CampaignWork) -> Any:
        return ResultSerializer(score_sets_made(work), many=True).data

    @extend_schema_field(KeptBundleSerializer(allow_null=True))
    def get_bundle(self, work: CampaignWork) -> Any:
        kept = bundle_kept(work)
        return None if kept is None else KeptBundleSerializer(kept, context=self.context).data


class BundleChoicesSerializer(serializers.Serializer[Any]):
    spreadsheet = serializers.BooleanField(
        default=False, help_text="Whether an apostrophe is put before text that a spreadsheet would run."
    )


class DesignSerializer(serializers.ModelSerializer[CampaignDesign]):
    """What a worker designs for a campaign. state: empty where none was asked; message: why it failed."""

    state = serializers.ChoiceField(choices=CampaignDesign.State.choices, allow_blank=True)

    class Meta:
        model = CampaignDesign
        fields = ["purpose", "number", "state", "done", "total", "message", "asked_at"]


class ReliabilitySerializer(serializers.Serializer[Any]):
    """Split-half reliability: Spearman, with a 95 % interval from resampled annotators and tuples."""

    spearman = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    people = serializers.BooleanField(
        default=False, help_text="Whether annotators were resampled, or only tuples."
    )
    spearman_brown = serializers.FloatField()
    trials = serializers.IntegerField()
    judgements = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    collected = serializers.IntegerField(help_text="Judgements that count.")
    required = serializers.IntegerField()  # type: ignore[assignment]  # a field, not whether it is required
    extra = serializers.IntegerField()
    excluded = serializers.IntegerField()
    pace = serializers.FloatField(allow_null=True, help_text="Judgements per hour, over the last day.")
    hours_left = serializers.FloatField(
        allow_null=True, help_text="Hours of work that are left, of all people together."
    )
    reliability = ReliabilitySerializer(allow_null=True)
    reliability_note = serializers.CharField(help_text="Why there is no reliability yet.")


class CardSerializer(serializers.Serializer[Any]):
    place = serializers.IntegerField(source="position", help_text="The screen position, from 0.")
    a = serializers.CharField(source="a.text")
    b = serializers.CharField(source="b.text")


class ClaimSerializer(serializers.Serializer[Any]):
    """A tuple to annotate, or the reason why there is none."""

    lease = serializers.IntegerField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    pairs = CardSerializer(many=True)
    nothing = serializers.CharField(allow_blank=True, help_text="Why there is no tuple, in one word.")
    sentence = serializers.CharField(allow_blank=True, help_text="The same as a sentence.")


class AnswerSerializer(serializers.Serializer[Any]):
    lease = NumberInBody()
    best = NumberInBody(help_text="A screen position.", required=False, allow_null=True, default=None)
    worst = NumberInBody(required=False, allow_null=True, default=None)
    tie = serializers.BooleanField(
        default=False, help_text="Too close to call: without best and worst, where the campaign allows it."
    )
    client_id = serializers.UUIDField(
        help_text="A UUID of your making. An answer that is sent twice is kept once."
    )
    claim = serializers.BooleanField(
        default=False, help_text="Whether the answer should contain the next tuple."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        chosen = [attrs["best"] is not None, attrs["worst"] is not None]
        if attrs.pop("tie"):
            if any(chosen):
                raise serializers.ValidationError({"tie": _("A tie has neither best nor worst.")})
        elif not all(chosen):
            raise serializers.ValidationError(
                {"best": _("Give a screen position for best and for worst, or a tie.")}
            )
        return attrs


class WorkedExampleSerializer(serializers.Serializer[Any]):
    pairs = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2),
        help_text="The two sentences of each pair.",
    )
    best = serializers.IntegerField(help_text="The place of a pair, from 0.")
    worst = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class GuidelineSerializer(serializers.ModelSerializer[Guideline]):
    examples = WorkedExampleSerializer(many=True)

    class Meta:
        model = Guideline
        fields = ["version", "text", "examples", "created_at"]


class QuestionSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    text = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())


class QuizSerializer(serializers.Serializer[Any]):
    due = serializers.BooleanField(help_text="Whether you have to answer it before your first tuple.")
    questions = QuestionSerializer(many=True)


class QuizAnswersSerializer(serializers.Serializer[Any]):
    answers = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=100),
        help_text="The place of an option, from 0, for each number of a question.",
    )


class GradedSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="question.number")
    right = serializers.BooleanField(source="is_right")
    why = serializers.CharField(source="question.why", allow_blank=True)


class UndoSerializer(serializers.Serializer[Any]):
    client_id = serializers.UUIDField(
        default=None, allow_null=True, help_text="The client_id of the judgement to undo."
    )


class SkipSerializer(serializers.Serializer[Any]):
    lease = NumberInBody()
    reason = serializers.ChoiceField(choices=FlagReason.choices)
    note = serializers.CharField(default="", allow_blank=True, max_length=500)


class FlagSerializer(SkipSerializer):
    pair = NumberInBody(
        required=False,
        allow_null=True,
        default=None,
        help_text="The screen position of the pair in question.",
    )


class FlaggedSerializer(serializers.ModelSerializer[Flag]):
    class Meta:
        model = Flag
        fields = ["id", "reason", "note", "created_at"]


class GoldSerializer(serializers.Serializer[Any]):
    """The expected answer of an attention check, and whether yours was right."""

    best_right = serializers.BooleanField()
    worst_right = serializers.BooleanField()
    best = serializers.IntegerField(help_text="The expected screen position.")
    worst = serializers.IntegerField()
    why = serializers.CharField(allow_blank=True)


class SubmittedSerializer(serializers.Serializer[Any]):
    client_id = serializers.UUIDField()
    submitted_at = serializers.DateTimeField()
    repeated = serializers.BooleanField()
    stopped = serializers.BooleanField(help_text="Whether the person gets no more tuples in this campaign.")
    gold = GoldSerializer(allow_null=True)
    next = ClaimSerializer(allow_null=True, help_text="The next tuple, if `claim` asked for it.")


class BlockRequestSerializer(serializers.Serializer[Any]):
    tuples = NumberInBody(help_text="The number of tuples to sample.")


class EstimateSerializer(serializers.Serializer[Any]):
    """A figure with its 95 % interval."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class NormingAgreementSerializer(serializers.Serializer[Any]):
    """Shares of best and worst choices that two people have in common."""

    people = serializers.IntegerField()
    alone = EstimateSerializer(allow_null=True, help_text="Agreement of all people before the discussion.")
    again = serializers.IntegerField(help_text="People who annotated again.")
    before = EstimateSerializer(
        allow_null=True, help_text="Agreement before the discussion of the people who annotated again."
    )
    after = EstimateSerializer(allow_null=True)
    change = EstimateSerializer(allow_null=True)


class NormingSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="session.number")
    state = serializers.CharField(source="session.state")
    people = serializers.IntegerField(
        source="session.people", help_text="The number of people who are asked to take part."
    )
    tuples = serializers.IntegerField()
    finished = serializers.IntegerField(
        help_text="The number of people who annotated every tuple before the discussion."
    )
    agreement = NormingAgreementSerializer(allow_null=True, help_text="Null before the discussion.")


class PositionsSerializer(serializers.Serializer[Any]):
    counts = serializers.ListField(
        child=serializers.IntegerField(), help_text="How often each screen position was chosen."
    )
    chi_square = serializers.FloatField()
    p = serializers.FloatField()


class AlternativeSerializer(serializers.Serializer[Any]):
    """The alternative annotator test (Calderon and others 2025)."""

    tested = serializers.IntegerField(help_text="Annotators who share 30 tuples or more with others.")
    cost_benefit = serializers.FloatField()
    winning_rate = EstimateSerializer(allow_null=True)
    advantage = EstimateSerializer(allow_null=True)
    passed = serializers.BooleanField()


class ComparisonSerializer(serializers.Serializer[Any]):
    """A model annotator beside the people who annotated the same tuples."""

    tuples = serializers.IntegerField()
    judgements = serializers.IntegerField(help_text="Judgements of people.")
    unanswered = serializers.IntegerField(
        help_text="Questions without an answer. Each tuple has two questions."
    )
    agreement = EstimateSerializer(allow_null=True)
    among_people = EstimateSerializer(allow_null=True)
    difference = EstimateSerializer(allow_null=True)
    consistency = EstimateSerializer(
        allow_null=True, help_text="The share of choices that are the same in both orders."
    )
    best_positions = PositionsSerializer()
    worst_positions = PositionsSerializer()
    alternative = AlternativeSerializer()


class MachineSerializer(serializers.Serializer[Any]):
    model = serializers.CharField(source="judge.model")
    run = serializers.IntegerField(source="judge.run_ref")
    comparison = ComparisonSerializer()


class MachinesSerializer(serializers.Serializer[Any]):
    """The model annotators of a campaign."""

    block = serializers.IntegerField(
        allow_null=True,
        help_text="The number of the block, for the run judge_tuples. Null before it is sampled.",
    )
    tuples = serializers.IntegerField()
    machines = MachineSerializer(many=True)


class CrowdSerializer(serializers.ModelSerializer[Crowd]):
    """How people come to a campaign by a link, and leave it with a code."""

    consent = serializers.CharField(
        allow_blank=True, help_text="The text of the consent. Another text is a new version."
    )

    class Meta:
        model = Crowd
        fields = [
            "is_open",
            "external_id_parameter",
            "study_parameter",
            "submission_parameter",
            "completion_address",
            "code_completed",
            "code_stopped",
            "code_left",
            "screens",
            "places",
            "hours",
            "leavers_judged_again",
            "asks_about_person",
            "consent",
        ]


class CrowdShownSerializer(serializers.Serializer[Any]):
    settings = CrowdSerializer()
    consent_version = serializers.IntegerField(allow_null=True)
    entry = serializers.CharField(
        help_text="The address of the entry link, without parameters. Empty before it is saved."
    )
    outcomes = serializers.DictField(
        child=serializers.IntegerField(), help_text="The number of people with each outcome."
    )


class HoursSerializer(serializers.Serializer[Any]):
    """How long somebody worked, whether their judgements count or not."""

    annotator = serializers.CharField(source="participation.user.username")
    external_id = serializers.CharField()
    study = serializers.CharField()
    submissions = serializers.ListField(child=serializers.CharField())
    began = serializers.DateTimeField(allow_null=True)
    ended = serializers.DateTimeField(allow_null=True)
    sittings = serializers.IntegerField()
    judgements = serializers.IntegerField()
    hours = serializers.FloatField()
