"""The form of a generator's instructions: one text for each label."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.kinds.generation.instructions import LabelText

LONGEST = 4000  # characters of an instruction
MOST_LABELS = 20
_NAME = re.compile(r"[A-Za-z0-9\-_]+")


class InstructionsForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=60,
        help_text=gettext_lazy("Letters, digits, hyphens and underscores. It cannot be changed later."),
    )
    note = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("Why this version was written, for those who choose between versions."),
    )

    def __init__(self, *args: Any, fixed: bool = False, **kwargs: Any) -> None:
        """fixed: the name is that of instructions that exist."""
        super().__init__(*args, **kwargs)
        if fixed:
            self.fields["name"].disabled = True
            self.fields["name"].help_text = ""

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if _NAME.fullmatch(name) is None:
            raise forms.ValidationError(_("Use only letters, digits, hyphens and underscores."))
        return name


class LabelForm(forms.Form):
    label = forms.CharField(
        label=gettext_lazy("Label"),
        max_length=10,
        required=False,
        help_text=gettext_lazy("The target similarity, 0 to 1. Empty: this instruction is left out."),
    )
    instruction = forms.CharField(
        label=gettext_lazy("Instruction"),
        max_length=LONGEST,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "true"}),
        help_text=gettext_lazy(
            "With &lt;X1&gt; where the source sentence stands, and an opening quote at the end."
        ),
    )
    counters = forms.CharField(
        label=gettext_lazy("Counter labels"),
        max_length=200,
        required=False,
        help_text=gettext_lazy(
            "Labels that the written sentence must not be taken for, separated by commas."
        ),
    )

    def clean_instruction(self) -> str:
        # Browsers send line breaks as two characters; what follows the opening quote would end the prompt.
        text: str = self.cleaned_data["instruction"]
        return text.replace("\r\n", "\n").rstrip("\n ")


LabelForms = forms.formset_factory(LabelForm, extra=1, max_num=MOST_LABELS, absolute_max=MOST_LABELS)


def texts_of(labels: "forms.BaseFormSet[LabelForm]") -> list[LabelText]:
    """The instructions that were filled in, of forms that are valid."""
    texts = []
    for form in labels.forms:
        if label := form.cleaned_data.get("label", "").strip():
            counters = (part.strip() for part in form.cleaned_data["counters"].split(","))
            texts.append(LabelText(label, form.cleaned_data["instruction"], tuple(filter(None, counters))))
    return texts
