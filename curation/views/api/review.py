"""The review of machine-written sentences for programs: /api/v1/datasets/<slug>/review/."""

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet
from curation.review.history import decisions_of_dataset
from curation.review.queue import Queue, realism_sets
from curation.review.queues import queue_scores
from curation.review.samples import MOST_DRAWN
from curation.review.verdicts import review_decide, review_undo
from curation.serializers import (
    QueueSerializer,
    ReviewDecisionSerializer,
    VerdictSerializer,
    WaitingSerializer,
)
from curation.views.api.base import InDataset

QUEUE_FIELDS = ("frame", "share", "size", "twice")


@extend_schema_view(get=extend_schema(parameters=[QueueSerializer]))
class ReviewQueue(InDataset, ListAPIView[PairScore]):
    """The machine-written sentences for you to review, by rising p_D, or in the order of a sample."""

    serializer_class = WaitingSerializer
    row_number = "pair_id"
    queryset = PairScore.objects.none()

    def get_queryset(self) -> QuerySet[PairScore]:
        return self._waiting()

    def rows_after(self, waiting: QuerySet[PairScore], number: int) -> QuerySet[PairScore]:
        """Behind a pair, which may have been judged in the meantime: a program that judges as it reads misses none."""
        return self._waiting(after=get_object_or_404(self.dataset().pairs, pk=number))

    def _waiting(self, after: Pair | None = None) -> QuerySet[PairScore]:
        user: Any = self.request.user
        dataset = self.dataset()
        asked = QueueSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        score_set = _realism_set(dataset, asked.validated_data.get("score_set"))
        if score_set is None:
            return PairScore.objects.none()
        queue = Queue(score_set, **{name: asked.validated_data[name] for name in QUEUE_FIELDS})
        # A list where the queue is a sample, which the pages of the list take as well.
        return queue_scores(queue, reviewer=user, after=after)  # type: ignore[return-value]


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
        return decisions_of_dataset(self.dataset()).order_by("-pk")

    def rows_after(self, decisions: QuerySet[ReviewDecision], number: int) -> QuerySet[ReviewDecision]:
        return decisions.filter(pk__lt=number)

    @extend_schema(request=VerdictSerializer, responses=ReviewDecisionSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Decide about the sentence of a generated pair. The same client_id again answers the same."""
        user: Any = request.user
        dataset = self.dataset()
        asked = VerdictSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        verdict = dict(asked.validated_data)
        pair = get_object_or_404(dataset.pairs.select_related("dataset"), pk=verdict.pop("pair"))
        score_set = _realism_set(dataset, verdict.pop("score_set", None))
        chosen = {name: verdict.pop(name) for name in ("blind", "frame", "twice")}
        queue = Queue(score_set, size=MOST_DRAWN, **chosen) if score_set else None
        decision = review_decide(pair=pair, queue=queue, by=user, at=now(), **verdict)
        return Response(ReviewDecisionSerializer(decision).data)


class ReviewUndo(InDataset, APIView):
    @extend_schema(request=None, responses=ReviewDecisionSerializer)
    def post(self, request: Request, slug: str, decision_pk: int) -> Response:
        """Undo a decision: its pairs are what they were. Again, it changes nothing."""
        user: Any = request.user
        dataset = self.dataset()
        decision = get_object_or_404(decisions_of_dataset(dataset), pk=decision_pk)
        undone = review_undo(decision=decision, by=user, at=now())
        return Response(ReviewDecisionSerializer(undone).data)
