"""What lists of runs show."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from curation.models import Dataset
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS
from mlworkers.plans.settings import Text


class RunFilterForm(forms.Form):
    """What the log book shows; a value it does not know leaves nothing out."""

    kind = forms.ChoiceField(label=_lazy("Kind"), required=False)
    state = forms.ChoiceField(label=_lazy("State"), required=False)
    dataset = forms.ChoiceField(label=_lazy("Dataset"), required=False)

    def __init__(self, *args: Any, datasets: Iterable[Dataset], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = ((kind.name, kind.label) for kind in KINDS.values() if kind.listed)
        offered: dict[str, list[tuple[str, Text]]] = {
            "kind": [("", _("every kind")), *kinds],
            "state": [("", _("every state")), *Run.State.choices],
            "dataset": [("", _("every dataset")), *((one.slug, one.name) for one in datasets)],
        }
        for name, choices in offered.items():
            self.fields[name].choices = choices  # type: ignore[attr-defined]

    def wanted(self) -> dict[str, str]:
        self.full_clean()
        return {name: self.cleaned_data.get(name, "") for name in self.fields}
