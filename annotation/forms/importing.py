"""Finished judgements from files: the upload, and how its columns and its items are read."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.bws.files.notices import Field, SpacesChoice
from annotation.bws.files.settling import Spaces
from annotation.models import Campaign
from annotation.results.uploading import JudgementOptions, JudgementsPreview
from curation.forms.exchange import FilesField, FilesInput, UploadForm
from curation.models import ImportBatch

FILES_MOST = 20
SPACES = [
    (Spaces.AUTO.value, _(SpacesChoice.AUTO.value)),
    (Spaces.MERGE.value, _(SpacesChoice.MERGE.value)),
    (Spaces.KEEP.value, _(SpacesChoice.KEEP.value)),
]


ROWS = [
    ("judgement", _("A judgement: its items, the best and the worst")),
    ("item", _("One item of a judgement, and whether it is the best or the worst")),
]
# Of each kind of rows, the columns that must be chosen, with what is said if one is not.
REQUIRED = {
    "judgement": {
        "items": _("Choose the columns of the items."),
        "best": _("Choose the column of the best item."),
        "worst": _("Choose the column of the worst item."),
    },
    "item": {
        "item": _("Choose the column of the item."),
        "block": _("Choose the column of the block."),
        "choice": _("Choose the column of the choice."),
    },
}


class JudgementsUploadForm(UploadForm):
    file = FilesField(
        most=FILES_MOST,
        label=_("Files"),
        help_text=_(
            "One or several tables with a header (CSV, TSV, JSONL or Parquet), with one judgement in each row (the "
            "items, the best and the worst) or with one item in each row. Several files become one campaign. You see "
            "a preview before anything is imported."
        ),
        error_messages={
            "required": _("Choose a file."),
            "empty": _("The file is empty. Choose another file."),
        },
        widget=FilesInput({"accept": ".csv,.tsv,.tab,.txt,.jsonl,.ndjson,.parquet,.pq"}),
    )


class JudgementsForm(forms.Form):
    """Which columns hold what, how the items are read, and the campaign that the judgements become.

    What was recognised in the file is chosen beforehand.
    """

    name = forms.CharField(
        label=_("Name of the campaign"), max_length=Campaign._meta.get_field("name").max_length
    )
    question = forms.CharField(
        label=_("Question"),
        required=False,
        max_length=Campaign._meta.get_field("question").max_length,
        help_text=_("What the annotators were asked. Leave it empty if nobody knows."),
    )
    rows = forms.ChoiceField(
        label=_("What each row holds"), choices=ROWS, widget=forms.RadioSelect, required=False
    )
    items = forms.MultipleChoiceField(
        label=_(Field.ITEMS.value),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("One column for each position, or a single column whose cells hold lists of items."),
    )
    best = forms.ChoiceField(label=_(Field.BEST.value), required=False)
    worst = forms.ChoiceField(label=_(Field.WORST.value), required=False)
    item = forms.ChoiceField(label=_(Field.ITEM.value), required=False)
    block = forms.ChoiceField(
        label=_(Field.BLOCK.value),
        required=False,
        help_text=_("The rows of one judgement by one person have the same block."),
    )
    choice = forms.ChoiceField(
        label=_(Field.CHOICE.value),
        required=False,
        help_text=_("1 is the best item, −1 the worst, and 0 any other."),
    )
    annotator = forms.ChoiceField(
        label=_(Field.ANNOTATOR.value),
        required=False,
        help_text=_("Without it, the campaign has figures on all judgements and none on single people."),
    )
    spaces = forms.ChoiceField(
        label=_(Field.SPACES.value),
        choices=SPACES,
        help_text=_("Texts in which spaces are missing or added: “a cat” and “acat”."),
    )
    without = forms.CharField(
        label=_(Field.WITHOUT.value),
        required=False,
        max_length=10_000,
        widget=forms.Textarea({"rows": 2}),
        help_text=_(
            "One on each line. Rows with these items are left out, for example those of attention checks."
        ),
    )
    keep_duplicates = forms.BooleanField(
        label=_(Field.DUPLICATES.value),
        required=False,
        help_text=_("A column is_duplicate marks them, if the file has one."),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        batch: ImportBatch,
        preview: JudgementsPreview,
        stored: JudgementOptions | None = None,
        reading: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """stored: what was chosen when the import was last checked. reading: how the files are read, as the options
        have it.
        """
        recognised = preview.recognised
        chosen = stored or JudgementOptions(
            name=Path(batch.file_name.split(", ", maxsplit=1)[0]).stem.replace("_", " ")
        )
        annotator = recognised.annotator if chosen.annotator is None else chosen.annotator
        initial: dict[str, Any] = {
            "name": chosen.name,
            "question": chosen.question,
            "items": chosen.items or recognised.items,
            "best": chosen.best or recognised.best,
            "worst": chosen.worst or recognised.worst,
            "annotator": annotator,
            "rows": "item" if chosen.item or preview.one_item_per_row else "judgement",
            **{role: getattr(chosen, role) or getattr(recognised, role) for role in REQUIRED["item"]},
            "spaces": chosen.spaces,
            "without": "\n".join(chosen.without),
            "keep_duplicates": chosen.keep_duplicates,
        }
        super().__init__(data, initial=initial)
        self.recognised = recognised
        self.reading = reading
        columns = [(name, name) for name in preview.names]
        self._choices("items", columns)
        for role in ("best", "worst", "item", "block", "choice"):
            self._choices(role, [("", _("choose a column")), *columns])
        self._choices("annotator", [("", _("nobody is named")), *columns])

    def _choices(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        cast("forms.ChoiceField", self.fields[name]).choices = choices

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        given["rows"] = given.get("rows") or self.initial["rows"]
        required = REQUIRED[given["rows"]]
        for role, missing in required.items():
            if role in given and not given[role]:
                self.add_error(role, missing)
        taken: dict[str, str] = {}
        for role in (*required, "annotator"):
            column = given.get(role) if role != "items" else None
            if column and "items" in required and column in given.get("items", []):
                self.add_error(role, _("“%s” is a column of the items; choose another column.") % column)
            elif column and column in taken:
                self.add_error(role, _("“%s” is chosen twice; choose another column.") % column)
            elif column:
                taken[column] = role
        return given

    def options(self) -> JudgementOptions:
        given = self.cleaned_data
        names = ("name", "question", "spaces", "keep_duplicates", "annotator")
        without = tuple(line.strip() for line in given["without"].splitlines() if line.strip())
        columns = {role: given[role] for role in REQUIRED[given["rows"]]}
        if "items" in columns:
            # Two columns may be halves of one item; chosen as they were recognised, they are read so.
            as_recognised = set(columns["items"]) == set(self.recognised.items)
            columns["items"] = () if as_recognised else tuple(columns["items"])
        return JudgementOptions(
            **{name: given[name] for name in names}, **columns, without=without, **self.reading
        )
