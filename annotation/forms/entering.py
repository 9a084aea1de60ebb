"""What people agree to before they judge, what they may say about themselves, and that they wish to be forgotten."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.crowds.entering import ABOUT
from annotation.models import CrowdAnswers, CrowdConsent


class AboutForm(forms.ModelForm):  # type: ignore[type-arg]
    """Every answer is optional; an empty one says nothing."""

    class Meta:
        model = CrowdAnswers
        fields = ABOUT

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("age", "gender"):
            field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
            field.choices = [("", _("I prefer not to say")), *list(field.choices)[1:]]  # type: ignore[arg-type]


class AgreeForm(forms.Form):
    version = forms.IntegerField(widget=forms.HiddenInput)
    agree = forms.BooleanField(
        label=_("I have read this and agree to take part."),
        error_messages={"required": _("You can take part only if you agree.")},
    )

    def __init__(self, consent: CrowdConsent, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["version"] = consent.version


class EraseForm(forms.Form):
    sure = forms.BooleanField(label=_("Erase the personal data. This cannot be undone."))
