"""A comment in a norming session."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import NormingSession, NormingTuple


class NormingCommentForm(forms.Form):
    tuple = forms.ModelChoiceField(NormingTuple.objects.none(), widget=forms.HiddenInput)
    text = forms.CharField(
        label=gettext_lazy("Comment"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        error_messages={"required": gettext_lazy("Write a comment.")},
    )

    def __init__(self, session: NormingSession, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows: Any = self.fields["tuple"]
        rows.queryset = session.tuples.all()
