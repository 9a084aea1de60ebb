"""Which shares of a p_D set's sentences a person would decide without reviewers."""

from django import forms
from django.utils.translation import gettext_lazy as _


class AutomationForm(forms.Form):
    """Two sliders. What is not a share counts as the default: an address is not a place for an error."""

    reject = forms.FloatField(min_value=0, max_value=0.95, required=False)
    keep = forms.FloatField(min_value=0, max_value=0.95, required=False)
    DEFAULTS = {"reject": 0.1, "keep": 0.3}
    LABELS = {
        "reject": _("Share rejected without review, the lowest p_D"),
        "keep": _("Share kept without review, the highest p_D"),
    }

    @property
    def shares(self) -> dict[str, float]:
        self.is_valid()
        found = {name: self.cleaned_data.get(name) for name in self.DEFAULTS}
        return {name: self.DEFAULTS[name] if value is None else value for name, value in found.items()}
