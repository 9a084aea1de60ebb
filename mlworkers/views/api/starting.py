"""Starting and ending runs for programs: the kinds there are, with the rules of the form, and cancelling."""

from dataclasses import asdict
from typing import Any

from django.forms import Form
from django.http import QueryDict
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from curation.models import User
from curation.people.access import dataset_for, datasets_readable
from mlworkers.access import kind_for, kinds_offered, run_for, runs_allow, start_allow
from mlworkers.forms.plans import PlanForm
from mlworkers.models import Run
from mlworkers.plans.kinds import plan_errors_shown, plan_from
from mlworkers.runs.services import run_again, run_cancel, run_put_first, run_start
from mlworkers.serializers import (
    KindSerializer,
    RunSerializer,
    StartAgainSerializer,
    StartSerializer,
)


class RunKinds(APIView):
    @extend_schema(responses=KindSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The kinds of run that you may start, each with the settings of its plan."""
        user: Any = request.user
        runs_allow(user)
        return Response(KindSerializer(kinds_offered(user), many=True).data)


def run_started(user: User, sent: Any) -> Run:
    """Start the run that a program asks for, by the rules of the form.

    Raises Http404 and PermissionDenied as the form does, UserError for a plan that is wrong, and ValidationError for a
    value that the form does not offer.
    """
    asked = StartSerializer(data=sent)
    asked.is_valid(raise_exception=True)
    kind = kind_for(user, asked.validated_data["kind"])
    plan = asked.validated_data["plan"]
    slug = str(plan.get("dataset") or "")
    if kind.needs_dataset and not slug:
        raise ValidationError({"plan": [_("Give the short name of a dataset as “dataset”.")]})
    dataset = dataset_for(user, slug, may=kind.needs) if kind.needs_dataset else None
    start_allow(user, kind, dataset)
    with plan_errors_shown(kind, by_key=True):
        values = asdict(plan_from(kind, plan))

    # Raises ValidationError, by the settings' names, for what the form would not take: it offers what one may read.
    data = QueryDict(mutable=True)
    data.update(
        {name: str(getattr(value, "value", value)) for name, value in values.items() if value is not None}
    )
    form: Form = PlanForm(data, kind=kind, dataset=dataset, datasets=datasets_readable(user))
    if not form.is_valid():
        raise ValidationError({name: [str(each) for each in errors] for name, errors in form.errors.items()})

    launch = asked.validated_data.get("launch")
    return run_start(kind=kind.name, plan=values, by=user, dataset=dataset, launch=launch, by_key=True)


class RunCancel(APIView):
    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Cancel a run. One that has ended stays as it is."""
        user: Any = request.user
        run = run_for(user, pk, may="cancel")
        run_cancel(run=run, by=user)
        run.refresh_from_db()
        return Response(RunSerializer(run, context={"request": request}).data)


class RunFirst(APIView):
    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Put a run that waits before the others of its queue, as staff may. One that has begun stays as it is."""
        user: Any = request.user
        run = run_for(user, pk, may="first")
        run_put_first(run=run, by=user)
        run.refresh_from_db()
        return Response(RunSerializer(run, context={"request": request}).data)


class RunAgain(APIView):
    @extend_schema(request=StartAgainSerializer, responses={201: RunSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Start a run with the plan of this one."""
        user: Any = request.user
        asked = StartAgainSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        again = run_again(
            run=run_for(user, pk, may="start"), by=user, launch=asked.validated_data.get("launch")
        )
        return Response(RunSerializer(again, context={"request": request}).data, 201)
