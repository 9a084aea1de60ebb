"""A code at the login, and the password before a second factor is changed."""

from typing import Any, cast

from django import forms
from django.http import HttpRequest
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.accounts.guessing import code_try_count, try_count
from curation.accounts.second_factor import code_use
from curation.forms.people import guesses_counted
from curation.models import User

CODE_MOST_CHARACTERS = 60


class CodeField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        attributes = {"autocomplete": "one-time-code", "autocapitalize": "characters", "spellcheck": "false"}
        widget = forms.TextInput(attributes)
        super().__init__(max_length=CODE_MOST_CHARACTERS, widget=widget, **options)


class CodeForm(forms.Form):
    """Of somebody whose password was right. Codes are guessed no faster than passwords."""

    code = CodeField(
        label=_("Code"), help_text=_("The code that your app shows now, or one of your recovery codes.")
    )

    def __init__(self, *args: Any, request: HttpRequest, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request, self.user = request, user

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        with guesses_counted(code_try_count, self.request, user=self.user):
            if not code_use(user=self.user, code=code, at=now()):
                raise forms.ValidationError(
                    _("The code is wrong, or it was used. Wait for the next one."), code="wrong"
                )
        return code


class OwnPasswordForm(forms.Form):
    """The person's password, which somebody at an open browser does not know."""

    password = forms.CharField(
        label=_("Password"), strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        user = cast("User", self.request.user)
        with guesses_counted(try_count, self.request, username=user.get_username()):
            if not user.check_password(password):
                raise forms.ValidationError(_("The password is wrong."), code="password")
        return password


class ActivationForm(OwnPasswordForm):
    code = CodeField(label=_("Code"), help_text=_("The code that the app shows now."))
