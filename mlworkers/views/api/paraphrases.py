"""What the pages of paraphrases show, for programs: cells of labelled pairs and round trips, and ratings by people."""

from functools import partial
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.foundation.numbers import number_asked
from curation.people.access import dataset_for, datasets_readable
from curation.views.api.bodies import body_of, form_filled
from mlworkers.kinds.paraphrases.access import rating_for, round_trip_for
from mlworkers.kinds.paraphrases.forms import PartsForm, ProfileForm
from mlworkers.kinds.paraphrases.paraphrase_corpora import (
    DIVIDED_BY,
    MOST_CHOSEN,
    WHOLE,
    labelled_datasets,
    parts_shown,
)
from mlworkers.kinds.paraphrases.paraphrases import profile_shown, rows_for_profile, run_that_labelled
from mlworkers.kinds.paraphrases.rating_forms import DrawForm, RatingForm
from mlworkers.kinds.paraphrases.ratings import EXPLAINED, LABELS, STEPS, next_candidate, ratings_shown
from mlworkers.kinds.paraphrases.round_trips import yields_shown
from mlworkers.models import Run
from mlworkers.runs.candidates import candidates_read
from mlworkers.runs.ratings import candidates_draw, rating_record, rating_undo
from mlworkers.serializers import (
    DrawnSerializer,
    NextCandidateSerializer,
    PartsSerializer,
    ProfileSerializer,
    RatingsSerializer,
    YieldsSerializer,
)

_SETS = [
    OpenApiParameter(
        name, int, description=f"The number of the score set of {what}. Default: that of the newest run."
    )
    for name, what in (("first", "similarity in meaning"), ("second", "similarity in wording"))
]
DrawSerializer = body_of(DrawForm, "CandidatesToDraw")
RatingSerializer = body_of(
    RatingForm(),
    "Rating",
    leave_out=LABELS,
    **{
        scale: serializers.IntegerField(
            min_value=min(STEPS), max_value=max(STEPS), help_text=EXPLAINED[scale]
        )
        for scale in LABELS
    },
)


class ParaphraseProfile(APIView):
    @extend_schema(parameters=_SETS, responses=ProfileSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How many pairs of a dataset lie in each cell of similarity and BLEU. 404: there are no two score sets."""
        user: Any = request.user
        form = _labels(request, dataset_for(user, slug, may="read"))
        return Response(ProfileSerializer(profile_shown(form.first_row, form.second_row)).data)


class ParaphrasesSideBySide(APIView):
    @extend_schema(
        operation_id="paraphrases_side_by_side",
        parameters=[
            OpenApiParameter(
                "labels", int, many=True, description="Which labelled datasets. Default: the first."
            ),
            OpenApiParameter(
                "by", str, enum=list(DIVIDED_BY), description="The property by which each dataset is divided."
            ),
        ],
        responses=PartsSerializer,
    )
    def get(self, request: Request) -> Response:
        """Labelled datasets beside each other, or parts of them. 404: labels that you may not read."""
        user: Any = request.user
        labelled = labelled_datasets(datasets_readable(user))
        asked = request.query_params
        if unknown := set(asked.getlist("labels")) - {str(one.similarity.pk) for one in labelled}:
            raise NotFound(_("There are no labels %(number)s.") % {"number": min(unknown)})
        if (by := asked.get("by", WHOLE)) not in DIVIDED_BY:
            raise ValidationError({"by": [_("Choose one of %(known)s.") % {"known": ", ".join(DIVIDED_BY)}]})
        form = PartsForm(request.query_params, labelled=labelled)
        if form.left_out:
            raise ValidationError({"labels": [_("At most %(most)s are allowed.") % {"most": MOST_CHOSEN}]})
        return Response(PartsSerializer({"labelled": labelled, "parts": parts_shown(form.chosen, by)}).data)


class RoundTripYields(APIView):
    @extend_schema(parameters=_SETS, responses=YieldsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """How many candidates each setting of a round-trip translation puts into each cell. 404: not labelled yet."""
        user: Any = request.user
        run = round_trip_for(user, pk)
        if run.dataset is None or run.state != Run.State.SUCCEEDED:
            raise Http404
        form = _labels(request, run.dataset, written_by=pk)
        shown = yields_shown(run, partial(candidates_read, run), form.first_row, form.second_row)
        return Response(YieldsSerializer(shown).data)


class Ratings(APIView):
    judging = ("POST",)

    @extend_schema(responses=RatingsSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """What people think of the candidates of each setting."""
        user: Any = request.user
        return Response(RatingsSerializer(ratings_shown(rating_for(user, pk, may="read"))).data)

    @extend_schema(request=RatingSerializer, responses={201: NextCandidateSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Rate a candidate; sent twice, it is stored once, with the last values. The answer has the next candidate."""
        user: Any = request.user
        run = rating_for(user, pk, may="annotate")
        form = form_filled(request.data, RatingForm)
        rated = get_object_or_404(run.rated_candidates, pk=form.cleaned_data["candidate"])
        rating_record(candidate=rated, person=user, values=form.values)
        return Response(_next(run, user), 201)


class RatingNext(APIView):
    judging = ("GET",)

    @extend_schema(responses=NextCandidateSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """The candidate that you rate next, without its setting; null where you rated all."""
        user: Any = request.user
        return Response(_next(rating_for(user, pk, may="annotate"), user))


class RatingLast(APIView):
    judging = ("DELETE",)

    @extend_schema(responses={200: NextCandidateSerializer})
    def delete(self, request: Request, pk: int) -> Response:
        """Undo your newest rating. 404: there is none."""
        user: Any = request.user
        run = rating_for(user, pk, may="annotate")
        if not rating_undo(run=run, person=user):
            raise Http404
        return Response(_next(run, user))


class RatingDraw(APIView):
    @extend_schema(request=DrawSerializer, responses={201: DrawnSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Draw the candidates that people rate, once."""
        user: Any = request.user
        run = rating_for(user, pk, may="curate")
        form = form_filled(request.data, DrawForm)
        return Response({"drawn": candidates_draw(run=run, most=form.cleaned_data["most"])}, 201)


def _labels(request: Request, dataset: Any, *, written_by: int = 0) -> ProfileForm:
    """The two score sets that the address names; by default the labels of pairs that this run wrote, or the newest.
    Raises Http404 where the dataset has none.
    """
    run = number_asked(request._request, "run", 0) or run_that_labelled(dataset, written_by=written_by)
    rows = rows_for_profile(dataset, run)
    if len(rows) < 2:
        raise Http404
    return ProfileForm(request.query_params, rows=rows)


def _next(run: Run, person: Any) -> Any:
    candidate, progress = next_candidate(run, person)
    return NextCandidateSerializer(
        {"candidate": candidate, "rated": progress.rated, "all": progress.all}
    ).data
