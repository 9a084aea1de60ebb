"""What an export holds, and which pairs a snapshot keeps."""

from uuid import uuid4

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import PairChoices, PairFilter
from curation.files.tables import FORMATS
from curation.models import Dataset, Pair

ALL = ("", _("all"))
NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSONL", "parquet": "Parquet"}


class ExportForm(forms.Form):
    """The settings of a run of kind export_dataset: its page takes the answers."""

    dataset = forms.CharField(widget=forms.HiddenInput)
    launch = forms.UUIDField(initial=uuid4, widget=forms.HiddenInput({"autocomplete": "off"}))
    format = forms.ChoiceField(label=_("Format"), choices=[(name, NAMES[name]) for name in FORMATS])
    score_set = forms.ChoiceField(
        label=_("Scores"),
        required=False,
        help_text=_("One set is a column called score; all are a column each."),
    )
    spreadsheet = forms.BooleanField(
        label=_("Make it safe for a spreadsheet"),
        required=False,
        help_text=_("Text that a spreadsheet would take for a formula gets an apostrophe. CSV and TSV only."),
    )

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(initial={"dataset": dataset.slug})
        names = dataset.score_sets.values_list("name", flat=True)
        self.fields["score_set"] = forms.ChoiceField(
            label=_("Scores"),
            required=False,
            choices=[("", _("every score set")), *((name, name) for name in names)],
            help_text=self.fields["score_set"].help_text,
        )


class SnapshotForm(forms.Form):
    """Which active pairs the snapshot keeps."""

    source = forms.ChoiceField(label=_("Source"), required=False)
    split = forms.ChoiceField(label=_("Split"), required=False)
    origin = forms.ChoiceField(label=_("Origin"), required=False, choices=[ALL, *Pair.Origin.choices])

    def __init__(self, data: QueryDict | None = None, *, choices: PairChoices) -> None:
        super().__init__(data)
        for name, values in (("source", choices.sources), ("split", choices.splits)):
            self.fields[name].choices = [ALL, *((value, value) for value in values)]  # type: ignore[attr-defined]

    def filter(self) -> PairFilter:
        return PairFilter(status=Pair.Status.ACTIVE, **self.cleaned_data)
