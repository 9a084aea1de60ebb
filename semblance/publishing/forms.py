"""What a published folder is made of."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.models import Dataset, Snapshot
from curation.pairs.judged_by import marked
from semblance.publishing.collecting import scores_held


class SnapshotChoiceForm(forms.Form):
    """Which snapshot, and which of its scores. The newest snapshot where the address names none."""

    snapshot = forms.ModelChoiceField(queryset=Snapshot.objects.none(), to_field_name="number")

    def __init__(self, data: QueryDict, *, dataset: Dataset) -> None:
        newest = dataset.snapshots.first()
        asked = data if "snapshot" in data or newest is None else {**data.dict(), "snapshot": newest.number}
        super().__init__(asked)
        self.fields["snapshot"].queryset = dataset.snapshots.all()  # type: ignore[attr-defined]


class FolderForm(forms.Form):
    """The scores of the main table, and who is cited."""

    score_set = forms.ChoiceField(
        label=_("Scores of the main table"),
        help_text=_("The other score sets of the snapshot are in a table beside it."),
    )
    authors = forms.CharField(
        label=_("Authors"),
        required=False,
        max_length=2_000,
        widget=forms.Textarea({"rows": 3}),
        help_text=_("Who is cited, one name on each line."),
    )

    def __init__(self, data: QueryDict | None = None, *, snapshot: Snapshot) -> None:
        super().__init__(data)
        sets = [(each.name, marked(each.name, each.judged_by)) for each in scores_held(snapshot)]
        self.fields["score_set"].choices = sets  # type: ignore[attr-defined]

    @property
    def asked(self) -> dict[str, Any]:
        """The arguments of `dataset_publish_zip`."""
        answers = self.cleaned_data
        return {"score_set": answers["score_set"], "authors": answers["authors"].splitlines()}
