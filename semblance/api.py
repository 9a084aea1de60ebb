"""The addresses of the API, version 1. Each app describes its own part in `<app>/api.py`."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.urls import include, path, register_converter
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from curation.people.accounts.tokens import InScope
from semblance.journey_api import NextStep
from semblance.publishing import api as publishing
from semblance.workers import api as workers


class AnythingConverter:
    """`<anything:address>` in a path: also what has line ends, which `<path:address>` does not take."""

    regex = r"[\s\S]+"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(AnythingConverter, "anything")


@extend_schema(exclude=True)
class UnknownAddress(APIView):
    """Every address that is none: a program reads JSON, not a page."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound(_("There is nothing at this address. /api/v1/schema/ describes every address."))


urlpatterns = [
    path("", include("curation.api")),
    path("", include("annotation.api")),
    path("", include("mlworkers.api")),
    path(
        "datasets/<slug:slug>/snapshots/<number:number>/folder.zip",
        publishing.PublishedFolder.as_view(),
        name="api_published_folder",
    ),
    path(
        "datasets/<slug:slug>/snapshots/<number:number>/methods/",
        publishing.Methods.as_view(),
        name="api_methods",
    ),
    path("datasets/<slug:slug>/next-step/", NextStep.as_view(), name="api_next_step"),
    path("workers/", workers.Workers.as_view(), name="api_workers"),
    path("workers/<number:pk>/drain/", workers.WorkerDrain.as_view(), name="api_worker_drain"),
    path("workers/<number:pk>/undrain/", workers.WorkerUndrain.as_view(), name="api_worker_undrain"),
    path(
        "schema/",
        SpectacularAPIView.as_view(permission_classes=[IsAuthenticated, InScope]),
        name="api_schema",
    ),
    path(
        "docs/",
        login_required(
            SpectacularSwaggerSplitView.as_view(
                url_name="api_schema", permission_classes=[AllowAny], title="Semblance"
            )
        ),
        name="api_docs",
    ),
    path("", UnknownAddress.as_view()),
    path("<anything:address>/", UnknownAddress.as_view()),
]
