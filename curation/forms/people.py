"""Logging in, invitations, roles and new accounts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import (
    AuthenticationForm,
    PasswordChangeForm,
    SetPasswordForm,
    UserCreationForm,
)
from django.http import HttpRequest, QueryDict
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from curation.foundation.numbers import NumberField
from curation.foundation.roles import Role
from curation.models import Invitation, User
from curation.people.accounts.guessing import (
    TooManyTriesError,
    Try,
    mail_count,
    name_question_count,
    try_count,
    try_was_right,
)
from curation.people.accounts.second_factor import has_second_factor
from curation.people.accounts.visitors import visitor_address
from curation.people.mail.addresses import MOST_CHARACTERS, addresses_in
from curation.people.mail.services import MOST_AT_ONCE

PASSWORD_HELP = _(
    "At least 10 characters. Not only digits, not a common password, and not similar to your name."
)


@contextmanager
def guesses_counted(count: Callable[..., Try], request: HttpRequest | None, **about: Any) -> Iterator[None]:
    """Around the check of what a visitor may be guessing. The check raises ValidationError where the guess is wrong."""
    try:
        counted = count(address=visitor_address(request), at=now(), **about)
    except TooManyTriesError as error:
        raise forms.ValidationError(str(error), code="closed") from error
    yield
    try_was_right(counted)


class LoginForm(AuthenticationForm):
    """Django's, made slow for people who guess passwords."""

    error_messages = {
        "invalid_login": _(
            "The username or the password is wrong. Upper and lower case matter in passwords."
        ),
        "inactive": _("This account is closed. Ask the administrator of this site."),
    }

    def clean(self) -> dict[str, Any]:
        if not settings.LOCAL_LOGIN:
            raise forms.ValidationError(_("Nobody logs in with a password on this site."), code="closed")
        username = self.cleaned_data.get("username")
        if not (username and self.cleaned_data.get("password")):
            return super().clean()
        with guesses_counted(try_count, self.request, username=username):
            return super().clean()


class AdminLoginForm(LoginForm, AdminAuthenticationForm):
    """The administration's own login page guesses no faster, and asks for no code: it sends people elsewhere."""

    error_messages = {**AdminAuthenticationForm.error_messages, **LoginForm.error_messages}

    def confirm_login_allowed(self, user: Any) -> None:
        super().confirm_login_allowed(user)
        if has_second_factor(user):
            sentence = _(
                "Your account has a second factor. Log in on the login page of the site, then come back."
            )
            raise forms.ValidationError(sentence, code="second_factor")


class AccountForm(UserCreationForm):  # type: ignore[type-arg]
    """A new account for someone who came by an invitation. It tells which names are taken, which counts as guessing."""

    class Meta:
        model = User
        fields = ("username",)
        help_texts = {
            "username": _("Owners and curators of your datasets see it. Letters, digits and @ . + - _ only.")
        }

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.fields["password1"].help_text = PASSWORD_HELP
        self.fields["password2"].label = _("Password again")
        self.fields["password2"].help_text = ""

    def clean_username(self) -> str:
        username: str = self.cleaned_data["username"]
        with guesses_counted(name_question_count, self.request):
            if User.objects.filter(username__iexact=username).exists():
                raise self.instance.unique_error_message(User, ["username"])
        return username


class PasswordForm(PasswordChangeForm):
    """Django's, with the rules in one line. The old password is guessed no faster than at the login."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""

    def clean_old_password(self) -> str:
        with guesses_counted(try_count, self.request, username=self.user.get_username()):
            return super().clean_old_password()


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=_("Role"), choices=Role.choices)


class InvitationForm(forms.Form):
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[
            (Role.ANNOTATOR, _("Annotator: annotates pairs and sees no scores")),
            (Role.CURATOR, _("Curator: reads, imports and exports, runs campaigns")),
            (Role.OWNER, _("Owner: does all of that and decides who is a member")),
        ],
    )
    people = NumberField(
        label=_("Number of people"),
        min_value=1,
        max_value=10_000,
        initial=1,
        help_text=_("Everybody uses the same link."),
    )
    days = NumberField(label=_("Valid for (days)"), min_value=1, max_value=365, initial=14)
    addresses = forms.CharField(
        label=_("E-mail addresses"),
        required=False,
        max_length=MOST_AT_ONCE * (MOST_CHARACTERS + 2),
        widget=forms.Textarea({"rows": 4, "autocomplete": "off", "spellcheck": "false"}),
        help_text=_(
            "One in each line. Each person is sent a link that only one person can use. Leave this empty "
            "to get one link that you send yourself."
        ),
    )
    language = forms.ChoiceField(label=_("Language of the e-mails"), required=False)
    note = forms.CharField(
        label=_("For whom"),
        max_length=Invitation._meta.get_field("note").max_length,
        required=False,
        help_text=_("The name of a person or a group, for your own list of invitations. Optional."),
    )

    def __init__(self, data: QueryDict | None = None, *, mail: bool, **options: Any) -> None:
        """mail: whether it offers to send invitations by e-mail."""
        super().__init__(data, **options)
        languages = cast("forms.ChoiceField", self.fields["language"])
        languages.choices = settings.LANGUAGES
        if not mail:
            del self.fields["addresses"]
        if not mail or len(settings.LANGUAGES) < 2:
            del self.fields["language"]

    def clean_addresses(self) -> list[str]:
        return addresses_in(self.cleaned_data["addresses"])

    @property
    def asked(self) -> dict[str, Any]:
        """What an invitation of one link, for so many people, is made of."""
        return {name: self.cleaned_data[name] for name in ("role", "people", "days", "note")}

    @property
    def mailed(self) -> dict[str, Any]:
        """What invitations by e-mail are made of; "addresses" is empty where none were given."""
        given = {"addresses": [], "language": "", **self.cleaned_data}
        return {name: given[name] for name in ("addresses", "role", "days", "note", "language")}


class NewPasswordForm(SetPasswordForm):  # type: ignore[type-arg]
    """Django's, with the rules in one line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["new_password1"].help_text = PASSWORD_HELP
        self.fields["new_password2"].label = _("New password again")
        self.fields["new_password2"].help_text = ""


class FormOfRequest(forms.Form):
    """A form that counts the tries of the person behind the request."""

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.request = request


class EmailForm(FormOfRequest):
    """An address that a mail is sent to; each request is counted."""

    email = forms.EmailField(
        label=_("E-mail address"),
        max_length=MOST_CHARACTERS,
        widget=forms.EmailInput({"autocomplete": "email"}),
    )

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if not self.errors:
            try:
                mail_count(to=given["email"], address=visitor_address(self.request), at=now())
            except TooManyTriesError as error:
                raise forms.ValidationError(str(error), code="closed") from error
        return given


class OwnPasswordForm(FormOfRequest):
    """The person's password, which somebody at an open browser does not know."""

    password = forms.CharField(
        label=_("Password"), strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        user = cast("User", self.request.user)
        with guesses_counted(try_count, self.request, username=user.get_username()):
            if not user.check_password(password):
                raise forms.ValidationError(_("The password is wrong."), code="password")
        return password


class OwnEmailForm(OwnPasswordForm, EmailForm):
    """With the password: a person who reads mails to the address can set a new one."""
