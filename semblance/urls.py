"""Addresses. Every one of them needs a login but the few that tests/integration/semblance/test_addresses.py names."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path, register_converter, reverse_lazy
from django.views.generic import RedirectView
from django.views.i18n import set_language

import semblance.celery  # noqa: F401 - the tasks that views send are its tasks
from curation.foundation.numbers import NumberConverter
from curation.views import accounts, second_factor, sign_on
from semblance import home
from semblance import metrics as figures
from semblance.guide import views as guide
from semblance.publishing import views as publishing
from semblance.workers import views as workers

register_converter(NumberConverter, "number")  # before the addresses of the apps are read

admin.autodiscover()
admin.site.site_url = reverse_lazy("home")  # type: ignore[assignment] # a text once a page shows it

handler403 = "semblance.refusals.refused"
handler500 = "semblance.failures.failed"

urlpatterns = [
    path(
        "api/v1/", include("semblance.api")
    ),  # first: programs that judge ask more often than people open pages
    path("", home.home, name="home"),
    path("overview/", home.overview, name="overview"),
    path("favicon.ico", home.favicon, name="favicon"),
    path("livez", home.alive, name="alive"),
    path("healthz", home.health, name="health"),
    path("metrics", figures.metrics, name="metrics"),
    path("accounts/login/", second_factor.PasswordLogin.as_view(), name="login"),
    path("accounts/login/code/", second_factor.login_code, name="login_code"),
    path("accounts/second-factor/", second_factor.second_factor, name="second_factor"),
    path("accounts/logout/", auth.LogoutView.as_view(), name="logout"),
    path("accounts/password/", accounts.PasswordChange.as_view(), name="password_change"),
    path("accounts/password/done/", auth.PasswordChangeDoneView.as_view(), name="password_change_done"),
    path("accounts/sign-on/", sign_on.sign_on, name="sign_on"),
    path("accounts/sign-on/callback/", sign_on.sign_on_callback, name="sign_on_callback"),
    path("accounts/link/<str:uidb64>/<str:token>/", sign_on.login_link, name="login_link"),
    path("accounts/password/new/", accounts.password_reset, name="password_reset"),
    path(
        "accounts/password/new/<str:uidb64>/<str:token>/",
        accounts.password_reset_confirm,
        name="password_reset_confirm",
    ),
    path(
        "accounts/password/new/done/",
        accounts.where_mail_is_sent(auth.PasswordResetCompleteView.as_view()),
        name="password_reset_complete",
    ),
    path("accounts/email/", accounts.email, name="email"),
    path("accounts/email/remove/", accounts.email_remove, name="email_remove"),
    path("accounts/email/<str:token>/", accounts.email_confirm, name="email_confirm"),
    path("accounts/language/", login_not_required(set_language), name="set_language"),
    path("datasets/<slug:slug>/publish/", publishing.publish, name="publish"),
    path("datasets/<slug:slug>/publish/<number:number>/methods/", publishing.methods, name="methods"),
    path(
        "datasets/<slug:slug>/publish/<number:number>/folder.zip",
        publishing.published_folder,
        name="published_folder",
    ),
    path("runs/workers/", workers.worker_list, name="workers"),
    path("runs/workers/drain/", workers.drain_all, name="workers_drain"),
    path("runs/workers/undrain/", workers.undrain_all, name="workers_undrain"),
    path("runs/workers/<number:pk>/drain/", workers.drain, name="worker_drain"),
    path("runs/workers/<number:pk>/undrain/", workers.undrain, name="worker_undrain"),
    path("guide/", guide.guide, name="guide"),
    path("guide/<slug:name>/", guide.guide_page, name="guide_page"),
    path("guide/pictures/<str:name>", guide.guide_image, name="guide_image"),
    path("", include("curation.urls")),
    path("", include("annotation.urls")),
    path("", include("mlworkers.urls")),
    # One form asks for the old password, and counts wrong ones: the administration's own does not.
    path("admin/password_change/", RedirectView.as_view(pattern_name="password_change")),
    path("admin/login/", accounts.admin_login),
    path("admin/", admin.site.urls),
]
