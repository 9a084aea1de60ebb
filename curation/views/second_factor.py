"""Logging in with a password and, where the person has a second factor, a code; and the page to set one up."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from curation.forms.people import LoginForm, OwnPasswordForm
from curation.forms.second_factor import ActivationForm, CodeForm
from curation.foundation.errors import UserError
from curation.models import SecondFactor
from curation.people.access import AuthedRequest
from curation.people.accounts.second_factor import (
    AWAITED,
    SETTING_UP,
    code_await,
    code_awaited,
    has_second_factor,
    qr_image,
    recovery_codes_renew,
    second_factor_activate,
    second_factor_deactivate,
    secret_address,
    secret_new,
)
from curation.views.people import BACKEND


class PasswordLogin(LoginView):
    """Django's. The password of somebody with a second factor logs nobody in yet."""

    redirect_authenticated_user = True
    authentication_form = LoginForm

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        user = form.get_user()
        if not has_second_factor(user):
            return super().form_valid(form)
        code_await(request=self.request, user=user, page=self.get_success_url(), at=now())
        return redirect("login_code")


@login_not_required
@never_cache
@sensitive_post_parameters("code")
@require_http_methods(["GET", "POST"])
def login_code(request: HttpRequest) -> HttpResponse:
    awaited = code_awaited(request, at=now())
    if awaited is None:
        return redirect_to_login(reverse("home"))
    user, page = awaited
    form = CodeForm(request.POST or None, request=request, user=user)
    if form.is_valid():
        del request.session[AWAITED]
        login(request, user, backend=BACKEND)
        return redirect(page)
    return render(request, "registration/login_code.html", {"form": form})


@never_cache
@sensitive_post_parameters("password", "code")
@require_http_methods(["GET", "POST"])
def second_factor(request: AuthedRequest) -> HttpResponse:
    """Set one up, or make other recovery codes, or deactivate it: each asks for the password."""
    if not (settings.LOCAL_LOGIN and request.user.has_usable_password()):
        raise Http404
    factor = SecondFactor.objects.filter(user=request.user).first()
    if factor:
        form = OwnPasswordForm(request.POST or None, request=request)
        if form.is_valid() and "deactivate" in request.POST:
            second_factor_deactivate(user=request.user)
            messages.success(request, _("The second factor is off. Your password alone logs you in."))
            return redirect("second_factor")
        if form.is_valid():
            return _codes_shown(request, recovery_codes_renew(user=request.user))
        return render(request, "registration/second_factor.html", {"form": form, "factor": factor})

    # The secret waits in the session until a code shows that the app has it.
    secret = request.session.get(SETTING_UP)
    if secret is None:
        secret = request.session[SETTING_UP] = secret_new()
    form = ActivationForm(request.POST or None, request=request)
    if form.is_valid():
        try:
            code = form.cleaned_data["code"]
            codes = second_factor_activate(user=request.user, secret=secret, code=code, at=now())
        except UserError as error:
            form.add_error("code", str(error))
        else:
            del request.session[SETTING_UP]
            return _codes_shown(request, codes)
    context = {
        "form": form,
        "secret": secret,
        "image": qr_image(secret_address(request.user, secret)),
        "required": settings.REQUIRE_SECOND_FACTOR and request.user.is_staff,
    }
    return render(request, "registration/second_factor_new.html", context)


def _codes_shown(request: AuthedRequest, codes: list[str]) -> HttpResponse:
    """Part of this answer and of no other."""
    return render(request, "registration/recovery_codes.html", {"codes": "\n".join(codes)})
