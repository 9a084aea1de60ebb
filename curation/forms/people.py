"""Logging in, invitations, roles and new accounts."""

from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, UserCreationForm
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.models import Invitation, Role, User
from curation.numbers import NumberField
from curation.people import login_failure_record, login_failures_forget, login_is_closed

PASSWORD_HELP = _(
    "At least 10 characters, not digits alone, and neither a common password nor like your name."
)


class LoginForm(AuthenticationForm):
    """Django's, made slow for whoever guesses passwords."""

    error_messages = {
        "invalid_login": _("This username and password do not belong together; mind upper and lower case."),
        "inactive": _("This account is closed. Ask whoever runs this site."),
    }

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username") or ""
        address = (self.request.META.get("REMOTE_ADDR") or None) if self.request else None
        if login_is_closed(username=username, address=address, at=now()):
            sentence = _("Too many wrong passwords for this name; wait a quarter of an hour, then try again.")
            raise forms.ValidationError(sentence, code="closed")
        try:
            cleaned: dict[str, Any] = super().clean()
        except forms.ValidationError:
            login_failure_record(username=username, address=address, at=now())
            raise
        if self.user_cache is not None:
            login_failures_forget(username=username, address=address)
        return cleaned


class AdminLoginForm(LoginForm, AdminAuthenticationForm):
    """The administration's own login page guesses no faster."""

    error_messages = {**AdminAuthenticationForm.error_messages, **LoginForm.error_messages}


class AccountForm(UserCreationForm):  # type: ignore[type-arg]
    """A new account for someone who came by an invitation."""

    class Meta:
        model = User
        fields = ("username",)
        help_texts = {"username": _("Owners and curators see it. Letters, digits and @ . + - _ only.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password2"].label = _("Password again")
        self.fields["password2"].help_text = ""


class PasswordForm(PasswordChangeForm):
    """Django's, with the rules in one line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[
            (Role.ANNOTATOR, _("Annotator: judges, and sees no scores")),
            (Role.CURATOR, _("Curator: reads, imports and exports, runs campaigns")),
            (Role.OWNER, _("Owner: all of that, and decides who is in")),
        ],
    )
    people = NumberField(
        label=_("People it admits"),
        min_value=1,
        max_value=10_000,
        initial=1,
        help_text=_("Each opens the same link."),
    )
    days = NumberField(label=_("Days it is good for"), min_value=1, max_value=365, initial=14)
    note = forms.CharField(
        label=_("For whom"),
        max_length=Invitation._meta.get_field("note").max_length,
        required=False,
        help_text=_("A name or a group, for your own list. Optional."),
    )
