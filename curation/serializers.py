"""Datasets, pairs and scores as programs read them, and the filters they may ask for."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from curation.datasets.lineage import score_lineages, score_set_lineages
from curation.datasets.selectors import ORDERS, PairFilter
from curation.foundation.numbers import LARGEST
from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet
from curation.pairs.inclusion import INCLUSIONS

Frame = ReviewDecision.Frame


class NumberInBody(serializers.IntegerField):
    """A row's number, or a place, in what a program sends."""

    def __init__(self, *, min_value: int = 0, max_value: int = LARGEST, **options: Any) -> None:
        super().__init__(min_value=min_value, max_value=max_value, **options)


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    class Meta:
        model = Dataset
        fields = [
            "slug", "name", "description", "language", "licence", "source_address", "archived",
            "created_at",
        ]  # fmt: skip


class FactsSerializer(serializers.Serializer[Any]):
    """What stands at the head of a dataset's pages."""

    pairs = serializers.IntegerField()
    judged = serializers.IntegerField(help_text="Pairs with a score from people.")
    referenced = serializers.IntegerField(help_text="Pairs with a score from a file.")
    generated = serializers.IntegerField()
    rejected = serializers.IntegerField()
    score_sets = serializers.IntegerField()
    shr = serializers.FloatField(
        allow_null=True, help_text="Split-half reliability of the newest scores from people (Spearman)."
    )
    shr_n = serializers.IntegerField(allow_null=True, help_text="The number of judgements behind it.")
    judged_by = serializers.CharField(help_text="Who gave the judgements behind the scores.")


class DatasetDetailSerializer(DatasetSerializer):
    facts = FactsSerializer()

    class Meta(DatasetSerializer.Meta):
        fields = [*DatasetSerializer.Meta.fields, "facts"]


class PairSerializer(serializers.ModelSerializer[Pair]):
    a = serializers.CharField(source="a.text")
    b = serializers.CharField(source="b.text")

    class Meta:
        model = Pair
        fields = [
            "id", "external_id", "a", "b", "source", "subset", "split", "origin", "run_ref", "status",
            "created_at",
        ]  # fmt: skip


class ScoredPairSerializer(PairSerializer):
    score = serializers.FloatField(
        source="value", allow_null=True, help_text="The score in the requested score set."
    )

    class Meta(PairSerializer.Meta):
        fields = [*PairSerializer.Meta.fields, "score"]


class PairScoreSerializer(serializers.ModelSerializer[PairScore]):
    class Meta:
        model = PairScore
        fields = [
            *("pair", "value", "standard_error", "judgements"),
            *("contexts", "interval_low", "interval_high"),
        ]


class PairLifeSerializer(PairSerializer):
    """One pair with every score it has, and where each comes from, by the score set's name."""

    scores = serializers.SerializerMethodField()
    lineage = serializers.SerializerMethodField(
        help_text="The origin of each score: its campaign, its run, or its import with file, line, person and time."
    )

    class Meta(PairSerializer.Meta):
        fields = [*PairSerializer.Meta.fields, "scores", "lineage"]

    def get_lineage(self, pair: Pair) -> dict[str, dict[str, Any]]:
        scores = pair.scores.select_related("score_set").order_by("score_set__name")
        return score_lineages(list(scores))

    def get_scores(self, pair: Pair) -> dict[str, float]:
        scores = pair.scores.select_related("score_set").order_by("score_set__name")
        return {score.score_set.name: score.value for score in scores}


class ScoreSetSerializer(serializers.ModelSerializer[ScoreSet]):
    judged_by = serializers.CharField(
        read_only=True, help_text="People, simulated annotators, or both. Empty where nobody annotated."
    )
    lineage = serializers.SerializerMethodField(
        help_text="Who annotated, the campaign, the run, or every file that was imported into the set."
    )

    withdrawn_by: Any = serializers.SlugRelatedField(slug_field="username", read_only=True)

    class Meta:
        model = ScoreSet
        fields = [
            "id", "name", "kind", "low", "high", "method", "judged_by", "parameters", "campaign_ref", "run_ref",
            "created_at", "lineage", "title", "description", "withdrawn_at", "withdrawn_by", "withdrawn_why",
        ]  # fmt: skip

    def get_lineage(self, score_set: ScoreSet) -> dict[str, Any]:
        # A list asks once for all of its sets.
        context: Any = self.context
        known: dict[int, dict[str, Any]] = context.setdefault("lineages", {})
        if score_set.pk not in known:
            known |= score_set_lineages(getattr(self.parent, "instance", None) or [score_set])
        return known[score_set.pk]


class ComparedSetSerializer(serializers.ModelSerializer[ScoreSet]):
    judged_by = serializers.CharField(read_only=True)

    class Meta:
        model = ScoreSet
        fields = ["id", "name", "kind", "low", "high", "judged_by"]


class CorrelationSerializer(serializers.Serializer[Any]):
    """A correlation of n pairs with its 95 % interval; null where it cannot be computed."""

    n = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class AgreementBinSerializer(serializers.Serializer[Any]):
    """The pairs whose first score lies in one part of its scale. mean, sd: of their second scores."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    spearman = CorrelationSerializer()
    mean = serializers.FloatField(allow_null=True)
    sd = serializers.FloatField(allow_null=True)


class DifferenceOfRanksSerializer(serializers.Serializer[Any]):
    pair = serializers.IntegerField()
    first = serializers.FloatField()
    second = serializers.FloatField()
    difference = serializers.FloatField(help_text="Second rank minus first rank, each 0 to 1.")


class AgreementSerializer(serializers.Serializer[Any]):
    """How far two score sets agree. `largest`: at most a hundred pairs, the largest difference of ranks first."""

    first = ComparedSetSerializer()
    second = ComparedSetSerializer()
    pairs = serializers.IntegerField(help_text="Active pairs with both scores.")
    spearman = CorrelationSerializer(allow_null=True)
    pearson = CorrelationSerializer(allow_null=True)
    bins = AgreementBinSerializer(many=True)
    largest = DifferenceOfRanksSerializer(many=True)


class QuerySerializer(serializers.Serializer[Any]):
    """Query parameters: one that is not known is refused, because a filter with a slip would leave nothing out."""

    def to_internal_value(self, data: Any) -> Any:
        given = data.keys() if isinstance(data, Mapping) else set()  # what is not an object is refused below
        unknown = sorted(given - self.fields.keys() - {"limit", "offset", "after"})
        if unknown:
            raise serializers.ValidationError({name: _("There is no such parameter.") for name in unknown})
        return super().to_internal_value(data)


class PairFilterSerializer(QuerySerializer):
    """The query parameters of the list of pairs; each may be left out."""

    search = serializers.CharField(required=False, help_text="Words of either sentence, or of the id.")
    source = serializers.CharField(required=False)  # type: ignore[assignment]  # a field of that name, not the attribute
    subset = serializers.CharField(required=False)
    split = serializers.CharField(required=False)
    origin = serializers.ChoiceField(required=False, choices=Pair.Origin.choices)
    status = serializers.ChoiceField(required=False, choices=Pair.Status.choices)
    generated_pairs = serializers.ChoiceField(
        required=False,
        choices=INCLUSIONS,
        help_text="Which pairs with a machine-written sentence are included.",
    )
    score_set = NumberInBody(required=False, help_text="The id of the set whose scores are shown.")
    low = serializers.FloatField(required=False, help_text="The lowest score, on the set's scale.")
    high = serializers.FloatField(required=False, help_text="The highest score.")
    order = serializers.ChoiceField(required=False, choices=ORDERS, default="pk")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        bounds = {"low", "high"} & attrs.keys()
        if bounds and "score_set" not in attrs:
            raise serializers.ValidationError(
                {"score_set": _("Give the score set that low and high refer to.")}
            )
        return attrs

    def wanted(self) -> PairFilter:
        return self.wanted_of(self.validated_data)

    @staticmethod
    def wanted_of(given: Mapping[str, Any]) -> PairFilter:
        names = {field.name for field in fields(PairFilter)}
        return PairFilter(**{name: value for name, value in given.items() if name in names})


class NewPairSerializer(serializers.Serializer[Any]):
    a = serializers.CharField(allow_blank=True)
    b = serializers.CharField(allow_blank=True)
    external_id = serializers.CharField(required=False, allow_null=True)
    source = serializers.CharField(required=False, allow_null=True)  # type: ignore[assignment]
    subset = serializers.CharField(required=False, allow_null=True)
    split = serializers.CharField(required=False, allow_null=True)
    score = serializers.FloatField(required=False, allow_null=True)


class NewPairsSerializer(serializers.Serializer[Any]):
    """Pairs to add, or to update where their sentences are there."""

    pairs = NewPairSerializer(many=True)
    score_set = serializers.CharField(required=False, default="reference", max_length=100)
    low = serializers.FloatField(
        required=False,
        help_text="The lowest value of the scale of the scores. Empty: recognised from the scores.",
    )
    high = serializers.FloatField(required=False)
    rejected_rows = serializers.ChoiceField(
        required=False, choices=["nothing"], help_text="If one pair cannot be imported: import nothing."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("low" in attrs) != ("high" in attrs):
            raise serializers.ValidationError({"high": [_("Give both ends of the scale, or neither.")]})
        return attrs


class RejectedRowSerializer(serializers.Serializer[Any]):
    line = serializers.IntegerField(help_text="From 1.")
    reason = serializers.CharField()
    row = serializers.CharField()


class PairsAddedSerializer(serializers.Serializer[Any]):
    """What became of pairs that were sent."""

    rows = serializers.IntegerField()
    added = serializers.IntegerField()
    updated = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    rejected = serializers.IntegerField()
    scores_added = serializers.IntegerField()
    rejections = RejectedRowSerializer(source="errors", many=True)


class WaitingSerializer(serializers.ModelSerializer[PairScore]):
    """A machine-written sentence that waits for review, by the first of its pairs that waits."""

    external_id = serializers.CharField(source="pair.external_id")
    source_sentence = serializers.CharField(source="pair.a.text")
    sentence = serializers.CharField(source="pair.b.text")
    p_d = serializers.FloatField(source="value", help_text="Human-likeness (p_D), 0 to 1.")

    class Meta:
        model = PairScore
        fields = ["pair", "external_id", "source_sentence", "sentence", "p_d"]


class QueueSerializer(QuerySerializer):
    """The query parameters of the list of sentences that wait; each may be left out."""

    score_set = NumberInBody(required=False, help_text="The id of a p_D set. Empty: the newest.")
    share = serializers.FloatField(
        required=False,
        default=1.0,
        min_value=0.001,
        max_value=1,
        help_text="Which share of the sentences is shown, lowest p_D first.",
    )
    frame = serializers.ChoiceField(
        required=False,
        default=Frame.LOWEST.value,
        choices=[frame for frame in Frame.choices if frame[0] != Frame.CHOSEN],
        help_text="How the sentences are chosen. Only random and stratified samples estimate rates of all sentences.",
    )
    size = serializers.IntegerField(
        required=False,
        default=100,
        min_value=1,
        max_value=2000,
        help_text="The number of sentences of a sample. The share is then ignored.",
    )
    twice = serializers.BooleanField(
        required=False, default=False, help_text="Whether two people review every sentence independently."
    )

    def validate_frame(self, value: str) -> Frame:
        return Frame(value)


class ReviewDecisionSerializer(serializers.ModelSerializer[ReviewDecision]):
    """What was decided about a sentence. `replacement` is the pair that an edit made."""

    sentence = serializers.CharField(source="sentence.text")
    reviewer = serializers.CharField(source="reviewer.username", default="", allow_blank=True)

    class Meta:
        model = ReviewDecision
        fields = [
            "id", "pair", "sentence", "reviewer", "verdict", "reasons", "note", "replacement",
            "value_shown", "frame", "stratum", "blind", "binding", "second", "text", "settles", "decided_at",
            "undone_at", "client_id",
        ]  # fmt: skip


class VerdictSerializer(serializers.Serializer[Any]):
    """A decision on a generated pair. If you send it twice under one client_id, it is kept once."""

    pair = NumberInBody()
    verdict = serializers.ChoiceField(choices=ReviewDecision.Verdict.choices)
    client_id = serializers.UUIDField(help_text="A UUID of your making.")
    reasons = serializers.ListField(
        child=serializers.ChoiceField(choices=ReviewDecision.Reason.choices),
        required=False,
        default=list,
        help_text="At least one reason of a rejection.",
    )
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=500)
    text = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=2000,
        help_text="The new sentence of an edit.",
    )
    score_set = NumberInBody(
        required=False, help_text="The id of the p_D set that was shown. Empty: the newest."
    )
    blind = serializers.BooleanField(required=False, default=False, help_text="Whether p_D was hidden.")
    frame = serializers.ChoiceField(
        required=False,
        default=Frame.CHOSEN.value,
        choices=Frame.choices,
        help_text="How the list that showed the sentence was chosen. A sample has to contain the sentence.",
    )
    twice = serializers.BooleanField(
        required=False, default=False, help_text="Whether two people review every sentence independently."
    )

    def validate_frame(self, value: str) -> Frame:
        return Frame(value)
