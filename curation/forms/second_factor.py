"""A code at the login, and a code with the password before a second factor is activated."""

from typing import Any

from django import forms
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.forms.people import FormOfRequest, OwnPasswordForm, guesses_counted
from curation.models import User
from curation.people.accounts.guessing import code_try_count
from curation.people.accounts.second_factor import code_use

CODE_MOST_CHARACTERS = 60


class CodeField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        attributes = {"autocomplete": "one-time-code", "autocapitalize": "characters", "spellcheck": "false"}
        widget = forms.TextInput(attributes)
        super().__init__(max_length=CODE_MOST_CHARACTERS, widget=widget, **options)


class CodeForm(FormOfRequest):
    """Of somebody whose password was right. Codes are guessed no faster than passwords."""

    code = CodeField(
        label=_("Code"), help_text=_("The code that your app shows now, or one of your recovery codes.")
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"]
        with guesses_counted(code_try_count, self.request, user=self.user):
            if not code_use(user=self.user, code=code, at=now()):
                raise forms.ValidationError(
                    _("The code is wrong, or it was used. Wait for the next one."), code="wrong"
                )
        return code


class ActivationForm(OwnPasswordForm):
    code = CodeField(label=_("Code"), help_text=_("The code that the app shows now."))
