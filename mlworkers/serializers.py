"""Runs and their files, as programs read them."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.reverse import reverse

from curation.files.documents import DocumentForm
from curation.files.encoding import OFFERED
from curation.pairs.text import LANGUAGE_TAG, SENTENCE_MAX_CHARACTERS
from curation.serializers import NumberInBody
from mlworkers.models import Artifact, Evaluation, RatedCandidate, Run


class ArtifactSerializer(serializers.ModelSerializer[Artifact]):
    name = serializers.CharField(read_only=True)
    download = serializers.SerializerMethodField()

    class Meta:
        model = Artifact
        fields = ["id", "run", "kind", "name", "sha256", "size", "card", "created_at", "download"]

    @extend_schema_field(serializers.URLField())
    def get_download(self, artifact: Artifact) -> str:
        names = {"pk": artifact.pk}
        return reverse("artifact-file", kwargs=names, request=self.context.get("request"))


class RunSerializer(serializers.ModelSerializer[Run]):
    dataset = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    started_by = serializers.StringRelatedField[Any](allow_null=True)
    artifacts = ArtifactSerializer(many=True, read_only=True)

    class Meta:
        model = Run
        fields = [
            "id",
            "kind",
            "dataset",
            "plan",
            "queue",
            "priority",
            "state",
            "attempt",
            "done",
            "total",
            "message",
            "result",
            "started_by",
            "created_at",
            "started_at",
            "finished_at",
            "artifacts",
        ]


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    class Meta:
        model = Evaluation
        fields = [
            "id",
            "run",
            "artifact",
            "model",
            "label",
            "source",
            "suite",
            "part",
            "metric",
            "value",
            "low",
            "high",
            "n",
            "seed",
            "created_at",
        ]


class DefaultField(serializers.JSONField):
    """The default of a setting; null where the setting is required or may stay empty."""

    def to_representation(self, value: Any) -> Any:
        return getattr(value, "value", value)


class SettingSerializer(serializers.Serializer[Any]):
    """A setting of a plan."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name, not the attribute
    type = serializers.CharField(source="type_name")
    required = serializers.BooleanField()  # type: ignore[assignment]
    default = DefaultField()
    unit = serializers.CharField()
    choices = serializers.ListField(child=serializers.CharField())
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    refers_to = serializers.CharField(help_text="What the value names, such as a score set.")
    help = serializers.CharField()


class KindSerializer(serializers.Serializer[Any]):
    """A kind of run."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField()
    queue = serializers.CharField()
    settings = SettingSerializer(many=True)


class StartAgainSerializer(serializers.Serializer[Any]):
    launch = serializers.UUIDField(
        required=False, help_text="A UUID of your making. A request that is sent twice starts one run."
    )


class StartSerializer(StartAgainSerializer):
    """A run to start: its kind, and the settings of its plan that differ from the defaults."""

    kind = serializers.CharField(help_text="The name of the kind in /api/v1/runs/kinds/.")
    plan = serializers.DictField(help_text="The values of the settings by their names.")


class AskedSentenceSerializer(serializers.Serializer[Any]):
    """What a paraphraser is asked: a sentence, its two tags, and what measures similarity (0: the packaged encoder)."""

    source = serializers.CharField(max_length=SENTENCE_MAX_CHARACTERS)  # type: ignore[assignment]
    similarity = serializers.CharField(max_length=20, help_text="A tag such as SIM95.")
    bleu = serializers.CharField(max_length=20, help_text="A tag such as BLEU20.")
    labeller = NumberInBody(default=0, min_value=0)


class ParaphraseSerializer(serializers.Serializer[Any]):
    """A paraphrase. Its measured `similarity` and `bleu` are 0 to 100, and null where nothing could be compared.

    `copy` says that it is a copy of the source.
    """

    text = serializers.CharField()
    similarity = serializers.FloatField(allow_null=True)
    bleu = serializers.FloatField(allow_null=True)
    in_cell = serializers.BooleanField()
    copy = serializers.BooleanField()


class CellSerializer(serializers.Serializer[Any]):
    similarity = serializers.CharField(help_text="A tag such as SIM95.")
    bleu = serializers.CharField(help_text="A tag such as BLEU20.")
    pairs = serializers.IntegerField(help_text="Pairs or candidates in the cell.")


class ProfileSerializer(serializers.Serializer[Any]):
    """Similarity and BLEU of a dataset. `inside` is the number of pairs in any of the cells."""

    pairs = serializers.IntegerField(source="profile.pairs")
    inside = serializers.IntegerField(source="profile.inside")
    cells = serializers.SerializerMethodField()

    @extend_schema_field(CellSerializer(many=True))
    def get_cells(self, shown: Any) -> list[dict[str, Any]]:
        return [
            {"similarity": tag.name, "bleu": lexical.name, "pairs": count}
            for lexical, row in shown.rows
            for tag, count in row
        ]


class MeanSerializer(serializers.Serializer[Any]):
    """A mean. `low` and `high` are the ends of its 95 % interval, null where there is none."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class LabelledSerializer(serializers.Serializer[Any]):
    """A labelled dataset. Ask for its labels by the number in `labels`."""

    labels = serializers.IntegerField(source="similarity.pk")
    dataset = serializers.CharField(source="dataset.slug")
    run = serializers.IntegerField(source="similarity.run_ref", help_text="The run that made the labels.")


class PartSerializer(serializers.Serializer[Any]):
    """A part of a labelled dataset. `part` is what its pairs have in common, "" where the dataset is not divided.

    `inside` is the share of pairs in any cell. `cells` has the cells with pairs.
    """

    labels = serializers.IntegerField(source="labelled.similarity.pk")
    dataset = serializers.CharField(source="labelled.dataset.slug")
    run = serializers.IntegerField(source="labelled.similarity.run_ref")
    part = serializers.CharField(source="part.name")
    pairs = serializers.IntegerField(source="part.profile.pairs")
    inside = MeanSerializer(source="part.inside")
    similarity = MeanSerializer(source="part.similarity")
    bleu = MeanSerializer(source="part.bleu")
    cells = serializers.SerializerMethodField()

    @extend_schema_field(CellSerializer(many=True))
    def get_cells(self, one: Any) -> list[dict[str, Any]]:
        counts = one.part.profile.tagged.tolist()
        return [
            {"similarity": similarity.name, "bleu": lexical.name, "pairs": pairs}
            for similarity, row in zip(one.bounds.similarity, counts, strict=True)
            for lexical, pairs in zip(one.bounds.lexical, row, strict=True)
            if pairs
        ]


class PartsSerializer(serializers.Serializer[Any]):
    """Parts of labelled datasets. `labelled` has all datasets that you can ask for."""

    labelled = LabelledSerializer(many=True)
    parts = PartSerializer(many=True)


class SettingYieldSerializer(serializers.Serializer[Any]):
    """What a setting wrote. `dropped` are copies and other candidates that can be in no cell.

    `share` is the share in any cell, of the candidates with known values.
    """

    setting = serializers.CharField()
    written = serializers.IntegerField()
    dropped = serializers.IntegerField()
    unlabelled = serializers.IntegerField()
    inside = serializers.IntegerField()
    share = MeanSerializer(allow_null=True)
    cells = CellSerializer(many=True)


class YieldsSerializer(serializers.Serializer[Any]):
    settings = serializers.SerializerMethodField()

    @extend_schema_field(SettingYieldSerializer(many=True))
    def get_settings(self, shown: Any) -> list[dict[str, Any]]:
        names = ("setting", "written", "dropped", "unlabelled", "inside", "share")
        yields = []
        for one in shown.yields:
            cells = [
                {"similarity": tag.name, "bleu": lexical.name, "pairs": count}
                for lexical, row in shown.rows(one)
                for tag, count, _percent in row
            ]
            told = {name: getattr(one, name) for name in names} | {"cells": cells}
            yields.append(dict(SettingYieldSerializer(told).data))
        return yields


class ScaleRatedSerializer(MeanSerializer):
    scale = serializers.CharField(help_text="Fluency, meaning or wording.")


class SettingRatedSerializer(serializers.Serializer[Any]):
    """The ratings of a setting. `candidates` is the number of candidates that anybody rated."""

    setting = serializers.CharField()
    candidates = serializers.IntegerField()
    ratings = serializers.IntegerField()
    scales = serializers.SerializerMethodField()

    @extend_schema_field(ScaleRatedSerializer(many=True))
    def get_scales(self, one: Any) -> list[dict[str, Any]]:
        return [
            {"scale": scale, "value": mean.value, "low": mean.low, "high": mean.high}
            for scale, mean in one.labelled
        ]


class RatingsSerializer(serializers.Serializer[Any]):
    """The ratings of candidates. `drawn` is the number of candidates that can be rated."""

    drawn = serializers.IntegerField()
    raters = serializers.IntegerField()
    ratings = serializers.IntegerField()
    settings = SettingRatedSerializer(many=True)


class DrawnSerializer(serializers.Serializer[Any]):
    drawn = serializers.IntegerField()


class BlindCandidateSerializer(serializers.ModelSerializer[RatedCandidate]):
    class Meta:
        model = RatedCandidate
        fields = ["id", "source", "text"]


class NextCandidateSerializer(serializers.Serializer[Any]):
    """The next candidate to rate. `rated` is the number that you rated, `all` the number of all candidates."""

    candidate = BlindCandidateSerializer(allow_null=True)
    rated = serializers.IntegerField()
    all = serializers.IntegerField()


class TrialSerializer(serializers.ModelSerializer[Run]):
    """A trial of a paraphraser. `paraphrases` has the likeliest first, and is null until the run has succeeded."""

    state = serializers.CharField(read_only=True)
    paraphrases = serializers.SerializerMethodField()
    answer = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = ["id", "state", "message", "paraphrases", "answer"]

    @extend_schema_field(ParaphraseSerializer(many=True, allow_null=True))
    def get_paraphrases(self, run: Run) -> list[Any] | None:
        paraphrases: list[Any] | None = run.result.get("paraphrases")
        return paraphrases

    @extend_schema_field(serializers.URLField())
    def get_answer(self, run: Run) -> str:
        return reverse("api_trial", kwargs={"pk": run.pk}, request=self.context.get("request"))


class SearchedSentenceSerializer(serializers.Serializer[Any]):
    """A sentence whose nearest ones are looked for. most: how many; 0 for the default. index: a run “index_sentences”;
    0 for the newest of the dataset.
    """

    sentence = serializers.CharField(max_length=SENTENCE_MAX_CHARACTERS)
    most = NumberInBody(default=0)
    index = NumberInBody(default=0)


class FoundScoreSerializer(serializers.Serializer[Any]):
    """A score of a pair, on the score set's own scale."""

    score_set = serializers.CharField(source="score_set.name")
    value = serializers.FloatField()


class FoundPairSerializer(serializers.Serializer[Any]):
    """A pair that a found sentence stands in: its number, its id in files, and its other sentence."""

    pair = serializers.IntegerField(source="pair.pk")
    id = serializers.CharField(source="pair.external_id")
    other = serializers.CharField(source="other.text")
    scores = FoundScoreSerializer(many=True)


class FoundSentenceSerializer(serializers.Serializer[Any]):
    """A sentence that was found. `more` says that further pairs have it."""

    sentence = serializers.CharField(source="sentence.text")
    cosine = serializers.FloatField()
    pairs = FoundPairSerializer(many=True)
    more = serializers.BooleanField()


class SentenceSearchSerializer(serializers.ModelSerializer[Run]):
    """A search. `sentences` has the nearest first, and is null until the run has succeeded."""

    state = serializers.CharField(read_only=True)
    sentences = serializers.SerializerMethodField()
    answer = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = ["id", "state", "message", "sentences", "answer"]

    @extend_schema_field(FoundSentenceSerializer(many=True, allow_null=True))
    def get_sentences(self, run: Run) -> Any:
        if run.state != Run.State.SUCCEEDED:
            return None
        return FoundSentenceSerializer(self.context["found"](run), many=True).data

    @extend_schema_field(serializers.URLField())
    def get_answer(self, run: Run) -> str:
        return reverse("api_sentences_searched", kwargs={"pk": run.pk}, request=self.context.get("request"))


class RunningTextSerializer(serializers.Serializer[Any]):
    """How a file of running text holds documents. language: of the text; empty: the dataset's."""

    filename = serializers.CharField(max_length=255)
    form = serializers.ChoiceField(
        choices=[form.value for form in DocumentForm], default=DocumentForm.TEXT.value
    )
    language = serializers.RegexField(LANGUAGE_TAG, default="", allow_blank=True, max_length=35)
    encoding = serializers.ChoiceField(
        choices=OFFERED, default="", allow_blank=True, help_text="The encoding of the file. Empty: detected."
    )


class CorpusSerializer(serializers.Serializer[Any]):
    """A run that makes or made a corpus. facts: its documents, sentences, places, duplicates …; empty until then."""

    run = serializers.IntegerField(source="run.pk")
    state = serializers.CharField(source="run.state")
    size = serializers.IntegerField(help_text="Bytes.")
    facts = serializers.DictField()


class AskedContextsSerializer(serializers.Serializer[Any]):
    sentence = serializers.CharField(max_length=SENTENCE_MAX_CHARACTERS)


class ContextSerializer(serializers.Serializer[Any]):
    """A place in a document. similarity: the cosine of TF-IDF vectors of bigrams of the chunk around it."""

    document = serializers.CharField()
    before = serializers.ListField(child=serializers.CharField(), source="context.left")
    after = serializers.ListField(child=serializers.CharField(), source="context.right")
    similarity = serializers.FloatField(source="cosine")
