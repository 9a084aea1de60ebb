"""Forms of the pages of running text and of scores by contexts."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow
from curation.files.documents import DocumentForm
from curation.forms.exchange import ENCODINGS, FilesField, FilesInput, UploadForm
from curation.foundation.numbers import number_from
from curation.pairs.text import LANGUAGE_TAG, SENTENCE_MAX_CHARACTERS

FILES_MOST = 100


class SentenceForm(forms.Form):
    sentence = forms.CharField(
        label=_("Sentence"),
        max_length=SENTENCE_MAX_CHARACTERS,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=_("Any sentence. A place that already has it, or a near copy of it, is left out."),
        error_messages={"required": _("Type a sentence.")},
    )


class CorpusForm(UploadForm):
    """The files, how they hold documents, and their language."""

    file = FilesField(
        most=FILES_MOST,
        label=_("Files"),
        help_text=_(
            "One or several text files (.txt) or JSONL files with “text” and perhaps “id” in each line, which may be "
            "packed with gzip."
        ),
        error_messages={
            "required": _("Choose a file."),
            "empty": _("The file is empty. Choose another file."),
        },
        widget=FilesInput({"accept": ".txt,.jsonl,.ndjson,.gz"}),
    )
    form = forms.ChoiceField(
        label=_("A text file is"),
        choices=[
            (DocumentForm.TEXT.value, _("one document, in which an empty line ends a paragraph")),
            (DocumentForm.PARAGRAPHS.value, _("many documents, each of one paragraph")),
            (DocumentForm.SENTENCES.value, _("one sentence a line, in order; an empty line ends a document")),
        ],
    )
    language = forms.RegexField(
        LANGUAGE_TAG,
        label=_("Language"),
        max_length=35,
        help_text=_("A tag such as en or pt-BR. The text is divided into sentences by its rules."),
        error_messages={"invalid": _("Give the tag of a language, such as en or pt-BR.")},
    )
    encoding = forms.ChoiceField(
        label=_("Encoding"),
        required=False,
        choices=ENCODINGS,
        help_text=_("Of all files. Choose one if the run that indexes the text says that it is not UTF-8."),
    )

    def __init__(self, *args: Any, language: str, **kwargs: Any) -> None:
        """language: the dataset's, in which its corpora mostly are."""
        super().__init__(*args, **kwargs)
        self.fields["language"].initial = language or "en"


class ComparedWithForm(forms.Form):
    """Where the address names no set of these, the first is chosen. rows: at least one."""

    scores = forms.TypedChoiceField(label=_("Compare with"), required=False, coerce=int, empty_value=None)

    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        by_number = {row.score_set.pk: row for row in rows}
        asked = number_from(data.get("scores", ""))
        chosen = asked if asked in by_number else next(iter(by_number))
        super().__init__({"scores": chosen})
        cast("forms.ChoiceField", self.fields["scores"]).choices = [
            (number, str(row.score_set)) for number, row in by_number.items()
        ]
        self.row = by_number[chosen]
