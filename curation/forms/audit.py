"""Which entries of the audit log are shown: the address of the page."""

from collections.abc import Sequence
from typing import cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.models import AuditEntry, User
from curation.people.audit import AuditFilter

ANY = ("", _("any"))
DAY = forms.DateInput({"type": "date"})


class AuditFilterForm(forms.Form):
    """Every field may be left out. A value that makes no sense is named beside its field and leaves nothing out."""

    search = forms.CharField(
        label=_("About"), required=False, max_length=200, widget=forms.TextInput({"type": "search"})
    )
    by = forms.TypedChoiceField(label=_("Who"), required=False, coerce=int, empty_value=None)
    via = forms.ChoiceField(label=_("How"), required=False, choices=[ANY, *AuditEntry.Via.choices])
    action = forms.ChoiceField(label=_("What"), required=False, choices=[ANY, *AuditEntry.Action.choices])
    since = forms.DateField(label=_("From"), required=False, widget=DAY)
    until = forms.DateField(label=_("to"), required=False, widget=DAY)

    def __init__(self, data: QueryDict, *, people: Sequence[User]) -> None:
        super().__init__(data)
        self.given = data
        named = [ANY, *((person.pk, str(person)) for person in people)]
        cast("forms.ChoiceField", self.fields["by"]).choices = named
        self.full_clean()

    @property
    def audit_filter(self) -> AuditFilter:
        return AuditFilter(**self.cleaned_data)

    @property
    def is_narrowed(self) -> bool:
        return any(self.given.get(name) for name in self.fields)

    @property
    def address(self) -> str:
        """The query string of this list, ending in & where it is not empty."""
        kept = {name: self.given.get(name, "") for name in self.fields if name in self.cleaned_data}
        query = urlencode({name: value for name, value in kept.items() if value})
        return f"{query}&" if query else ""
