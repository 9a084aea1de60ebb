"""Datasets, pairs, scores and review for programs: /api/v1/datasets/. Who may do what is what the pages say."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import include, path
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.access import dataset_for, datasets_readable
from curation.datasets.selectors import dataset_facts, pairs_found
from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet
from curation.review.history import decisions_of_dataset
from curation.review.queue import Queue, realism_sets
from curation.review.queues import queue_scores
from curation.review.samples import MOST_DRAWN
from curation.review.verdicts import review_decide, review_undo
from curation.serializers import (
    DatasetDetailSerializer,
    DatasetSerializer,
    PairFilterSerializer,
    PairLifeSerializer,
    PairScoreSerializer,
    QueueSerializer,
    ReviewDecisionSerializer,
    ScoredPairSerializer,
    ScoreSetSerializer,
    VerdictSerializer,
    WaitingSerializer,
)

QUEUE_FIELDS = ("frame", "share", "size", "twice")


class InDataset:
    """A view of something in the dataset that the address names, for those who may read it."""

    request: Any
    kwargs: dict[str, Any]

    def dataset(self) -> Dataset:
        return dataset_for(self.request.user, self.kwargs["slug"], may="read")


class DatasetList(ListAPIView[Dataset]):
    """The datasets whose scores you may read, by name."""

    serializer_class = DatasetSerializer

    def get_queryset(self) -> QuerySet[Dataset]:
        return datasets_readable(self.request.user)  # type: ignore[arg-type]


class DatasetDetail(InDataset, RetrieveAPIView[Dataset]):
    """One dataset with its facts."""

    serializer_class = DatasetDetailSerializer

    def get_object(self) -> Dataset:
        dataset = self.dataset()
        dataset.facts = dataset_facts(dataset)  # type: ignore[attr-defined]
        return dataset


@extend_schema_view(get=extend_schema(parameters=[PairFilterSerializer]))
class PairList(InDataset, ListAPIView[Pair]):
    """The pairs that the filters leave, as in the table of pairs."""

    serializer_class = ScoredPairSerializer
    queryset = Pair.objects.none()  # the schema reads the types of keys from it

    def get_queryset(self) -> QuerySet[Pair]:
        asked = PairFilterSerializer(data=self.request.query_params)
        dataset = self.dataset()
        asked.is_valid(raise_exception=True)
        wanted = asked.wanted()
        if wanted.score_set is not None:
            get_object_or_404(dataset.score_sets, pk=wanted.score_set)
        return pairs_found(dataset, wanted, asked.validated_data["order"])


class PairDetail(InDataset, RetrieveAPIView[Pair]):
    """One pair with every score it has."""

    serializer_class = PairLifeSerializer

    def get_object(self) -> Pair:
        return get_object_or_404(self.dataset().pairs.select_related("a", "b"), pk=self.kwargs["pair_pk"])


class ScoreSetList(InDataset, ListAPIView[ScoreSet]):
    """The dataset's score sets, by name."""

    serializer_class = ScoreSetSerializer
    queryset = ScoreSet.objects.none()

    def get_queryset(self) -> QuerySet[ScoreSet]:
        return self.dataset().score_sets.all()


class ScoreList(InDataset, ListAPIView[PairScore]):
    """The scores of one set, in the order of the pairs."""

    serializer_class = PairScoreSerializer
    queryset = PairScore.objects.none()

    def get_queryset(self) -> QuerySet[PairScore]:
        score_set = get_object_or_404(self.dataset().score_sets, pk=self.kwargs["score_set_pk"])
        return score_set.scores.order_by("pair_id")


@extend_schema_view(get=extend_schema(parameters=[QueueSerializer]))
class ReviewQueue(InDataset, ListAPIView[PairScore]):
    """The machine-written sentences that wait for your verdict, by rising p_D, or in the order of a sample."""

    serializer_class = WaitingSerializer
    queryset = PairScore.objects.none()

    def get_queryset(self) -> QuerySet[PairScore]:
        user: Any = self.request.user
        dataset = self.dataset()
        asked = QueueSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        score_set = _realism_set(dataset, asked.validated_data.get("score_set"))
        if score_set is None:
            return PairScore.objects.none()
        queue = Queue(score_set, **{name: asked.validated_data[name] for name in QUEUE_FIELDS})
        # A list where the queue is a sample, which the pages of the list take as well.
        return queue_scores(queue, reviewer=user)  # type: ignore[return-value]


def _realism_set(dataset: Dataset, pk: int | None) -> ScoreSet | None:
    """The p_D set of that number, or else the newest; None where nothing has a p_D."""
    if pk is not None:
        return get_object_or_404(dataset.score_sets.filter(kind=ScoreSet.Kind.REALISM), pk=pk)
    return next(iter(realism_sets(dataset)), None)


class ReviewDecisions(InDataset, ListAPIView[ReviewDecision]):
    """The decisions on machine-written sentences, the newest first, undone ones among them."""

    serializer_class = ReviewDecisionSerializer
    queryset = ReviewDecision.objects.none()

    def get_queryset(self) -> QuerySet[ReviewDecision]:
        return decisions_of_dataset(self.dataset())

    @extend_schema(request=VerdictSerializer, responses=ReviewDecisionSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Decide about the sentence of a generated pair. The same client_id again answers the same."""
        user: Any = request.user
        dataset = dataset_for(user, slug, may="curate")
        asked = VerdictSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        verdict = dict(asked.validated_data)
        pair = get_object_or_404(dataset.pairs.select_related("dataset"), pk=verdict.pop("pair"))
        score_set = _realism_set(dataset, verdict.pop("score_set", None))
        chosen = {name: verdict.pop(name) for name in ("blind", "frame", "twice")}
        queue = Queue(score_set, size=MOST_DRAWN, **chosen) if score_set else None
        decision = review_decide(pair=pair, queue=queue, by=user, at=now(), **verdict)
        return Response(ReviewDecisionSerializer(decision).data)


class ReviewUndo(APIView):
    @extend_schema(request=None, responses=ReviewDecisionSerializer)
    def post(self, request: Request, slug: str, decision_pk: int) -> Response:
        """Take a decision back: its pairs are what they were. Again, it changes nothing."""
        user: Any = request.user
        dataset = dataset_for(user, slug, may="curate")
        decision = get_object_or_404(decisions_of_dataset(dataset), pk=decision_pk)
        undone = review_undo(decision=decision, by=user, at=now())
        return Response(ReviewDecisionSerializer(undone).data)


of_dataset = [
    path("", DatasetDetail.as_view(), name="api_dataset"),
    path("pairs/", PairList.as_view(), name="api_pairs"),
    path("pairs/<number:pair_pk>/", PairDetail.as_view(), name="api_pair"),
    path("score-sets/", ScoreSetList.as_view(), name="api_score_sets"),
    path("score-sets/<number:score_set_pk>/scores/", ScoreList.as_view(), name="api_scores"),
    path("review/", ReviewQueue.as_view(), name="api_review"),
    path("review/decisions/", ReviewDecisions.as_view(), name="api_review_decisions"),
    path("review/decisions/<number:decision_pk>/undo/", ReviewUndo.as_view(), name="api_review_undo"),
]
urlpatterns = [
    path("datasets/", DatasetList.as_view(), name="api_datasets"),
    path("datasets/<slug:slug>/", include(of_dataset)),
]
