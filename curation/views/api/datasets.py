"""Datasets, pairs and scores for programs: /api/v1/datasets/."""

from copy import copy
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.timezone import now
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.agreement import sets_compared
from curation.datasets.pairs_table import PairsFound
from curation.datasets.selectors import dataset_facts, score_sets_of
from curation.datasets.services import (
    dataset_create,
    score_set_describe,
    score_set_restore,
    score_set_withdraw,
)
from curation.exchange.bulk import pairs_add
from curation.forms.datasets import NewDatasetForm
from curation.forms.scores import ScoreSetForm, WithdrawForm
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet
from curation.people.access import datasets_may_create, datasets_readable
from curation.serializers import (
    AgreementSerializer,
    DatasetDetailSerializer,
    DatasetSerializer,
    NewPairsSerializer,
    PairFilterSerializer,
    PairLifeSerializer,
    PairsAddedSerializer,
    PairScoreSerializer,
    ScoredPairSerializer,
    ScoreSetSerializer,
)
from curation.views.api.base import InDataset
from curation.views.api.bodies import body_of, form_filled

NAME = "api"  # of what is sent without a file
DIFFERENCES_SHOWN = 100
NewDatasetSerializer = body_of(NewDatasetForm, "NewDataset")
DescribedSerializer = body_of(ScoreSetForm, "ScoreSetDescribed")
WithdrawnSerializer = body_of(WithdrawForm, "ScoreSetWithdrawn")


class DatasetList(ListAPIView[Dataset]):
    """The datasets whose scores you may read, by name."""

    serializer_class = DatasetSerializer

    def get_queryset(self) -> QuerySet[Dataset]:
        return datasets_readable(self.request.user)  # type: ignore[arg-type]

    @extend_schema(request=NewDatasetSerializer, responses={201: DatasetSerializer})
    def post(self, request: Request) -> Response:
        """Create a dataset, of which you are the owner."""
        user: Any = request.user
        if not datasets_may_create(user):
            raise PermissionDenied
        form = form_filled(request.data, NewDatasetForm)
        made = dataset_create(by=user, **form.cleaned_data)
        return Response(DatasetSerializer(made).data, 201)


class DatasetDetail(InDataset, RetrieveAPIView[Dataset]):
    """One dataset with its facts."""

    serializer_class = DatasetDetailSerializer

    def get_object(self) -> Dataset:
        dataset = self.dataset()
        dataset.facts = dataset_facts(dataset)  # type: ignore[attr-defined]
        return dataset


@extend_schema_view(get=extend_schema(parameters=[PairFilterSerializer]))
class PairList(InDataset, ListAPIView[Pair]):
    """The pairs that the filters leave."""

    serializer_class = ScoredPairSerializer
    queryset = Pair.objects.none()  # the schema reads the types of keys from it

    def get_queryset(self) -> Any:
        """Not a query but two, one after the other, where pairs come by score: pages of it are all that is asked."""
        asked = PairFilterSerializer(data=self.request.query_params)
        dataset = self.dataset()
        asked.is_valid(raise_exception=True)
        wanted = asked.wanted()
        if wanted.score_set is not None:
            get_object_or_404(dataset.score_sets, pk=wanted.score_set)
        return PairsFound(dataset, wanted, asked.validated_data["order"])

    def rows_after(self, found: PairsFound, number: int) -> PairsFound:
        return found.after(get_object_or_404(self.dataset().pairs, pk=number))

    @extend_schema(request=NewPairsSerializer, responses=PairsAddedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Add pairs, or update those whose sentences are there, as an import of a file does."""
        user: Any = request.user
        dataset = self.dataset()
        asked = NewPairsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
        outcome = pairs_add(
            dataset=dataset,
            pairs=given["pairs"],
            name=NAME,
            score_set=given["score_set"],
            scale=(given["low"], given["high"]) if "low" in given else None,
            strict="rejected_rows" in given,
            by=user,
        )
        return Response(PairsAddedSerializer(outcome).data)


class PairDetail(InDataset, RetrieveAPIView[Pair]):
    """One pair with every score it has."""

    serializer_class = PairLifeSerializer

    def get_object(self) -> Pair:
        return get_object_or_404(self.dataset().pairs.select_related("a", "b"), pk=self.kwargs["pair_pk"])


class ScoreSetList(InDataset, ListAPIView[ScoreSet]):
    """The dataset's score sets, by name, without those that were withdrawn."""

    serializer_class = ScoreSetSerializer
    queryset = ScoreSet.objects.none()

    def get_queryset(self) -> QuerySet[ScoreSet]:
        return self.dataset().score_sets.offered().select_related("withdrawn_by")


class OneScoreSet(InDataset, APIView):
    """One score set, also if it was withdrawn. Its dataset's owners change it."""

    changing = "own"

    def score_set(self) -> ScoreSet:
        return get_object_or_404(self.dataset().score_sets, pk=self.kwargs["score_set_pk"])


class ScoreSetDetail(OneScoreSet):
    @extend_schema(responses=ScoreSetSerializer)
    def get(self, request: Request, slug: str, score_set_pk: int) -> Response:
        """One score set, also if it was withdrawn."""
        return Response(ScoreSetSerializer(self.score_set()).data)

    @extend_schema(request=DescribedSerializer, responses=ScoreSetSerializer)
    def patch(self, request: Request, slug: str, score_set_pk: int) -> Response:
        """Change what pages say of a score set. Its name stays."""
        user: Any = request.user
        score_set = self.score_set()
        form = form_filled(request.data, lambda data: ScoreSetForm(data, instance=copy(score_set)))
        score_set_describe(score_set=score_set, by=user, **form.cleaned_data)
        return Response(ScoreSetSerializer(score_set).data)


class ScoreSetWithdraw(OneScoreSet):
    @extend_schema(request=WithdrawnSerializer, responses=ScoreSetSerializer)
    def post(self, request: Request, slug: str, score_set_pk: int) -> Response:
        """Withdraw a score set: lists, forms, exports and new snapshots leave it out, and its address stays."""
        user: Any = request.user
        score_set = self.score_set()
        why = form_filled(request.data, WithdrawForm).cleaned_data["why"]
        score_set_withdraw(score_set=score_set, why=why, at=now(), by=user)
        return Response(ScoreSetSerializer(score_set).data)


class ScoreSetRestore(OneScoreSet):
    @extend_schema(request=None, responses=ScoreSetSerializer)
    def post(self, request: Request, slug: str, score_set_pk: int) -> Response:
        """Restore a score set that was withdrawn."""
        user: Any = request.user
        score_set = self.score_set()
        score_set_restore(score_set=score_set, by=user)
        return Response(ScoreSetSerializer(score_set).data)


class ScoreList(InDataset, ListAPIView[PairScore]):
    """The scores of one set, in the order of the pairs."""

    serializer_class = PairScoreSerializer
    row_number = "pair_id"
    queryset = PairScore.objects.none()

    def get_queryset(self) -> QuerySet[PairScore]:
        score_set = get_object_or_404(self.dataset().score_sets, pk=self.kwargs["score_set_pk"])
        return score_set.scores.order_by("pair_id")

    def rows_after(self, scores: QuerySet[PairScore], number: int) -> QuerySet[PairScore]:
        return scores.filter(pair__gt=number)


class ScoreSetAgreement(InDataset, APIView):
    @extend_schema(responses=AgreementSerializer)
    def get(self, request: Request, slug: str, score_set_pk: int, other_pk: int) -> Response:
        """Agreement of two score sets on the active pairs that have both, overall and in parts of the scale
        of the first. Also the pairs on which they differ most.
        """
        rows = {row.score_set.pk: row for row in score_sets_of(self.dataset(), withdrawn=True)}
        if not {score_set_pk, other_pk} <= rows.keys():
            raise Http404
        if score_set_pk == other_pk:
            raise UserError(_("A score set always agrees with itself. Name two score sets."))
        first, second = rows[score_set_pk], rows[other_pk]
        compared = sets_compared(first, second)
        found = compared.agreement
        facts = {
            "first": first.score_set,
            "second": second.score_set,
            "pairs": compared.n,
            "spearman": found and found.spearman,
            "pearson": found and found.pearson,
            "bins": found.bins if found else [],
            "largest": compared.largest[:DIFFERENCES_SHOWN],
        }
        return Response(AgreementSerializer(facts).data)
