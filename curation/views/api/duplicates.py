"""Duplicates for programs: /api/v1/datasets/<slug>/duplicates/. Asking for a search, how far it is, what it found."""

from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.datasets.differing_scores import DifferingScores
from curation.datasets.duplicates import PARTS, groups_found, groups_shown, search_is_stale
from curation.exchange.duplicate_searches import search_ask, search_cancel
from curation.forms.duplicates import DuplicatesForm
from curation.models import Dataset, DuplicateFound, DuplicateSearch
from curation.people.access import datasets_beside, duplicate_search_for
from curation.views.api.base import InDataset
from curation.views.api.bodies import body_of, form_filled

AskedSerializer = body_of(DuplicatesForm, "DuplicatesAsked")


DIFFERING_MOST = 100


class ScoreOfPairSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="pair_id")
    external_id = serializers.CharField(source="pair.external_id")
    value = serializers.FloatField()


class DifferingSerializer(serializers.Serializer[Any]):
    """Equal pairs, in either order of their sentences, to which one score set gives different scores."""

    score_set = serializers.CharField(source="score_set.name")
    scores = ScoreOfPairSerializer(many=True)


class SearchSerializer(serializers.ModelSerializer[DuplicateSearch]):
    against = serializers.SerializerMethodField()
    stale = serializers.SerializerMethodField(
        help_text="Whether pairs have changed since. Null while the search goes on."
    )
    scores_differ = serializers.SerializerMethodField(
        help_text="Groups of equal pairs with different scores: the 100 with the largest differences."
    )

    class Meta:
        model = DuplicateSearch
        fields = [
            "id", "threshold", "against", "state", "done", "total", "message", "counts", "asked_at",
            "finished_at", "stale", "scores_differ",
        ]  # fmt: skip

    def get_against(self, search: DuplicateSearch) -> list[str]:
        others = Dataset.objects.filter(pk__in=search.numbers_against).order_by("pk")
        return list(others.values_list("slug", flat=True))

    def get_stale(self, search: DuplicateSearch) -> bool | None:
        return None if search.finished_at is None else search_is_stale(search)

    @extend_schema_field(DifferingSerializer(many=True))
    def get_scores_differ(self, search: DuplicateSearch) -> Any:
        differing = DifferingScores(search.dataset, found_by=search).first(DIFFERING_MOST)
        return DifferingSerializer(differing, many=True).data


class MemberSerializer(serializers.Serializer[Any]):
    """A pair of a group. `alike` is the Jaccard index of its words with the first pair of the group."""

    id = serializers.IntegerField(source="pair.pk")
    dataset = serializers.CharField(source="pair.dataset.slug")
    external_id = serializers.CharField(source="pair.external_id")
    source = serializers.CharField(source="pair.source")  # type: ignore[assignment]  # a field of that name
    split = serializers.CharField(source="pair.split")
    a = serializers.CharField(source="pair.a.text")
    b = serializers.CharField(source="pair.b.text")
    score = serializers.FloatField(source="score.value", allow_null=True, default=None)
    alike = serializers.FloatField()


class GroupSerializer(serializers.Serializer[Any]):
    """Pairs that say the same. leaks: in several splits; more: how many pairs of it are not listed."""

    group = serializers.IntegerField(source="about.group")
    likeness = serializers.CharField(source="about.likeness")
    pairs = serializers.IntegerField(source="about.pairs")
    leaks = serializers.BooleanField(source="about.leaks")
    elsewhere = serializers.BooleanField(source="about.elsewhere")
    members = MemberSerializer(many=True)
    more = serializers.IntegerField()


class PartSerializer(serializers.Serializer[Any]):
    part = serializers.ChoiceField(choices=sorted(PARTS), required=False, default="")


class InDuplicates(InDataset):
    changing = "read"  # a search changes no pair

    def search(self) -> DuplicateSearch:
        return duplicate_search_for(self.request.user, self.dataset(), self.kwargs["search_pk"])


class Duplicates(InDuplicates, APIView):
    @extend_schema(request=AskedSerializer, responses={201: SearchSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Search for duplicates. Up to 10,000 pairs are searched at once, more by a worker."""
        user: Any = request.user
        dataset = self.dataset()
        others = datasets_beside(user, dataset)
        form = form_filled(request.data, lambda data: DuplicatesForm(data or QueryDict(), others=others))
        threshold = form.question["threshold"]
        search = search_ask(dataset=dataset, against=form.datasets, threshold=threshold, by=user)
        return Response(SearchSerializer(search).data, 201)


class DuplicatesDetail(InDuplicates, APIView):
    @extend_schema(responses=SearchSerializer)
    def get(self, request: Request, slug: str, search_pk: int) -> Response:
        """Progress of a search, and the number of groups of each likeness."""
        return Response(SearchSerializer(self.search()).data)


class DuplicatesCancel(InDuplicates, APIView):
    @extend_schema(request=None, responses=SearchSerializer)
    def post(self, request: Request, slug: str, search_pk: int) -> Response:
        """Stop a search."""
        search = self.search()
        search_cancel(search=search)
        search.refresh_from_db()
        return Response(SearchSerializer(search).data)


@extend_schema_view(get=extend_schema(parameters=[PartSerializer], responses=GroupSerializer(many=True)))
class DuplicateGroups(InDuplicates, ListAPIView[DuplicateFound]):
    """The groups that a search found, the largest first, each with its first pairs."""

    serializer_class = GroupSerializer
    queryset = DuplicateFound.objects.none()
    row_number = "group"

    def get_queryset(self) -> QuerySet[DuplicateFound]:
        asked = PartSerializer(data=self.request.query_params)
        asked.is_valid(raise_exception=True)
        return groups_found(self.search(), asked.validated_data["part"])

    def rows_after(self, groups: QuerySet[DuplicateFound], number: int) -> QuerySet[DuplicateFound]:
        return groups.filter(group__gt=number)

    def paginate_queryset(self, queryset: Any) -> Any:
        page = super().paginate_queryset(queryset)
        return groups_shown(self.search(), list(page or []))
