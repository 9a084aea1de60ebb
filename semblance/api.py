"""The addresses of the API, version 1. Each app describes its own part in `<app>/api.py`."""

from typing import Any

from django.urls import include, path
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from curation.accounts.tokens import InScope
from semblance.publishing import api as publishing


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
    path(
        "schema/",
        SpectacularAPIView.as_view(permission_classes=[IsAuthenticated, InScope]),
        name="api_schema",
    ),
    path("", UnknownAddress.as_view()),
    path("<path:address>/", UnknownAddress.as_view()),
]
