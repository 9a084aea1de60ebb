"""A sentence whose nearest ones are looked for."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from curation.foundation.numbers import NumberField
from curation.pairs.text import SENTENCE_MAX_CHARACTERS
from mlworkers.kinds.encoders.sentence_search import IndexRow
from mlworkers.science.encoders.index_plan import MOST_NEIGHBOURS, NEIGHBOURS


class SentenceSearchForm(forms.Form):
    """rows: the indexes of the dataset, the newest first, which is chosen unless another one is."""

    sentence = forms.CharField(
        label=_lazy("Sentence"),
        max_length=SENTENCE_MAX_CHARACTERS,
        widget=forms.Textarea({"rows": 2, "maxlength": SENTENCE_MAX_CHARACTERS}),
        error_messages={"required": _lazy("Type a sentence.")},
    )
    most = NumberField(
        label=_lazy("Sentences shown"),
        min_value=1,
        max_value=MOST_NEIGHBOURS,
        initial=NEIGHBOURS,
        required=False,
    )
    index = forms.TypedChoiceField(label=_lazy("Index"), coerce=int, required=False, empty_value=None)

    def __init__(self, *args: Any, rows: Sequence[IndexRow], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered: Any = self.fields["index"]
        offered.choices = [
            (
                str(row.run.pk),
                _("Run %(run)s: %(model)s") % {"run": row.run.pk, "model": row.artifact.card["model"]},
            )
            for row in rows
        ]
        if len(rows) == 1:
            offered.widget = forms.HiddenInput()
        self._newest = rows[0].run.pk if rows else None

    def plan(self) -> dict[str, Any]:
        """Of a valid form: the plan of the search."""
        found = self.cleaned_data
        return {
            "sentence": found["sentence"],
            "most": found["most"] or NEIGHBOURS,
            "index": found["index"] or self._newest,
        }
