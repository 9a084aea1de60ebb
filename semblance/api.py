"""The addresses of the API, version 1. Each app describes its own part in `<app>/api.py`."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.permissions import IsAuthenticated

urlpatterns = [
    path("", include("curation.api")),
    path("", include("annotation.api")),
    path("", include("mlworkers.api")),
    path("schema/", SpectacularAPIView.as_view(permission_classes=[IsAuthenticated]), name="api_schema"),
]
