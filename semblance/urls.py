"""Addresses. Every one of them needs a login but the few that tests/integration/semblance/test_addresses.py names."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import include, path, register_converter

from curation.forms.people import LoginForm, PasswordForm
from curation.numbers import NumberConverter
from semblance import home

register_converter(NumberConverter, "number")  # before the addresses of the apps are read

urlpatterns = [
    path("", home.home, name="home"),
    path("healthz", home.health, name="health"),
    path(
        "accounts/login/",
        auth.LoginView.as_view(redirect_authenticated_user=True, authentication_form=LoginForm),
        name="login",
    ),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path(
        "accounts/password/", auth.PasswordChangeView.as_view(form_class=PasswordForm), name="password_change"
    ),
    path("accounts/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("", include("curation.urls")),
    path("", include("annotation.urls")),
    path("", include("mlworkers.urls")),
    path("api/v1/", include("semblance.api")),
    path("admin/", admin.site.urls),
]
