"""What the profiles of pairs are drawn from: the addresses of their pages."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow
from curation.forms.scores import ComparedSetsForm
from curation.foundation.numbers import number_from
from mlworkers.kinds.paraphrases.paraphrase_corpora import (
    DIVIDED_BY,
    MOST_CHOSEN,
    WHOLE,
    LabelledDataset,
)


class ProfileForm(ComparedSetsForm):
    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        super().__init__(data, rows=rows)
        self.fields["first"].label = _("Similarity in meaning")
        self.fields["second"].label = _("Similarity in wording")


class PartsForm(forms.Form):
    """labelled: what the person may read. Where the address names none, the first is chosen.

    chosen: at most MOST_CHOSEN; left_out: how many more were. divided_by: a key of DIVIDED_BY.
    """

    labels = forms.TypedMultipleChoiceField(
        label=_("Labelled datasets"), coerce=int, required=False, widget=forms.CheckboxSelectMultiple
    )
    by = forms.ChoiceField(label=_("Divide each by"), choices=DIVIDED_BY, required=False)

    def __init__(self, data: QueryDict, *, labelled: Sequence[LabelledDataset]) -> None:
        by_set = {one.similarity.pk: one for one in labelled}
        asked = dict.fromkeys(number_from(text) for text in data.getlist("labels"))
        chosen = [pk for pk in asked if pk in by_set] or list(by_set)[:1]
        self.divided_by = data.get("by", "") if data.get("by") in DIVIDED_BY else WHOLE
        self.left_out = max(0, len(chosen) - MOST_CHOSEN)
        self.chosen = [by_set[pk] for pk in chosen[:MOST_CHOSEN]]
        super().__init__({"labels": chosen[:MOST_CHOSEN], "by": self.divided_by})
        cast("forms.MultipleChoiceField", self.fields["labels"]).choices = [
            (pk, one.name) for pk, one in by_set.items()
        ]
