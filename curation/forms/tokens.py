"""A new token for a program."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from curation.foundation.roles import TokenScope
from curation.models import ApiToken

FOREVER = "0"


class ApiTokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"),
        max_length=ApiToken._meta.get_field("name").max_length,
        help_text=_("A name for your own list, such as the program that uses it."),
    )
    scope = forms.ChoiceField(
        label=_("Permissions of the token"),
        choices=[
            (TokenScope.READ, _("Read: everything that you may read, and no change")),
            (TokenScope.JUDGE, _("Annotate and rate: only that, in campaigns to which you belong")),
            (TokenScope.WRITE, _("Read and change: everything that you may do by the API")),
        ],
        initial=TokenScope.READ,
        widget=forms.RadioSelect,
    )
    days = forms.ChoiceField(
        label=_("Valid for"),
        choices=[
            ("30", _("30 days")),
            ("90", _("90 days")),
            ("365", _("A year")),
            (FOREVER, _("Until you revoke it or change your password")),
        ],
        initial="90",
    )

    def asked(self, *, at: datetime) -> dict[str, Any]:
        """What `api_token_create` takes."""
        days = self.cleaned_data["days"]
        return {
            "name": self.cleaned_data["name"],
            "scope": TokenScope(self.cleaned_data["scope"]),
            "expires_at": None if days == FOREVER else at + timedelta(days=int(days)),
        }
