"""Sentences for the pool, and how pairs are composed from it."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from curation.datasets.composing import MOST_ON_A_PAGE, Labels
from curation.datasets.synonyms import synonyms_of_text, synonyms_of_wordnet
from curation.errors import UserError, errors_shown
from curation.exchange.pool import SentenceOptions
from curation.files.sentences import SentenceColumns
from curation.forms.exchange import UploadForm
from curation.numbers import NumberField
from curation.sampling.drawing import OF_SENTENCES, SamplingError, Settings, Strategy, combinations_read
from curation.sampling.searching import Denominator, Window
from curation.sampling.synonyms import Synonyms

MOST_PAIRS_ON_A_PAGE = 5_000
LABELS = {
    Strategy.OVERLAP: _("Overlap: shared words within a window"),
    Strategy.PERCENTILES: _("Percentiles: buckets by word overlap (Dice)"),
    Strategy.LABELS: _("Labels: one in common, another combined"),
}


# The strategies that count shared words.
OF_WORDS = (Strategy.OVERLAP, Strategy.PERCENTILES)


class SentencesForm(UploadForm):
    """A file of sentences and how it is read."""

    kind = forms.ChoiceField(
        label=_("The file is"),
        choices=[
            ("lines", _("one sentence a line (.txt), or a table")),
            ("documents", _("running text, to be divided into sentences")),
        ],
    )
    text = forms.CharField(
        label=_("Column of sentences"),
        required=False,
        max_length=200,
        help_text=_("Of a table. If empty: a column called sentence or text."),
    )
    labels = forms.CharField(
        label=_("Columns of labels"),
        required=False,
        max_length=200,
        help_text=_("Such as: target, stance. Only for the strategy labels."),
    )
    language = forms.CharField(
        label=_("Language of the running text"), required=False, max_length=35, initial="en"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "A .txt, CSV, TSV, JSONL or Parquet file, which may be packed with gzip, or the zip of a folder that the "
            "library datasets saved."
        )
        self.fields["file"].widget.attrs["accept"] = (
            ".txt,.csv,.tsv,.tab,.jsonl,.ndjson,.parquet,.pq,.gz,.zip"
        )

    def options(self) -> SentenceOptions:
        asked = self.cleaned_data
        labels = [name.strip() for name in asked["labels"].split(",") if name.strip()]
        return SentenceOptions(
            columns=SentenceColumns(text=asked["text"] or None, labels=labels),
            documents=asked["kind"] == "documents",
            language=asked["language"] or "en",
            most=MOST_ON_A_PAGE,
        )


class CompositionForm(forms.Form):
    """A strategy and its settings. A valid form has `settings`, `labels` and `chosen_synonyms`."""

    strategy = forms.ChoiceField(
        label=_("Strategy"), choices=[(one.value, LABELS[one]) for one in OF_SENTENCES]
    )
    count = NumberField(label=_("Pairs"), min_value=1, max_value=MOST_PAIRS_ON_A_PAGE, initial=100)
    shortest = NumberField(label=_("Fewest words of a sentence"), min_value=0, max_value=1000, initial=5)
    longest = NumberField(label=_("Most words of a sentence"), min_value=1, max_value=1000, initial=25)
    cap = NumberField(label=_("Pairs of one sentence, at most"), min_value=1, max_value=1000, initial=1)
    seed = NumberField(
        label=_("Seed"), min_value=0, initial=1234, help_text=_("The same seed gives the same pairs.")
    )
    synonyms = forms.ChoiceField(
        label=_("Words that count as shared"),
        required=False,
        choices=[
            ("", _("equal words")),
            ("wordnet", _("equal words, and synonyms by WordNet")),
            ("list", _("equal words, and synonyms of a list")),
        ],
    )
    synonym_list = forms.CharField(
        label=_("List of synonyms"),
        required=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=_("On each line a word, a tab or space, and the synonym that stands for it."),
    )
    low = forms.FloatField(label=_("Shared words, from (%)"), min_value=0, max_value=100, initial=25)
    high = forms.FloatField(label=_("Shared words, below (%)"), min_value=0, max_value=100, initial=75)
    share_of = forms.ChoiceField(
        label=_("Percent of the distinct words of"),
        choices=[
            (Denominator.FIRST, _("the first sentence")),
            (Denominator.SHORTER, _("the sentence with fewer")),
            (Denominator.LONGER, _("the sentence with more")),
        ],
    )
    length_difference = forms.FloatField(
        label=_("Lengths differ by at most (%)"), min_value=0, max_value=100, initial=25
    )
    buckets = NumberField(label=_("Buckets"), min_value=1, max_value=1000, initial=50)
    growth = forms.FloatField(
        label=_("Growth from bucket to bucket"),
        min_value=0.01,
        max_value=10,
        initial=1,
        help_text=_("1 draws equally many pairs from each; 1.1 draws more where more words are shared."),
    )
    idf = forms.BooleanField(label=_("Weigh words by how rare they are"), required=False)
    shared = forms.ChoiceField(label=_("Label in common"), required=False)
    crossed = forms.ChoiceField(label=_("Label that is combined"), required=False)
    combinations = forms.CharField(
        label=_("Combinations"),
        required=False,
        max_length=200,
        help_text=_("Such as: for-for, against-against, for-against."),
    )

    def __init__(self, *args: Any, names: list[str], **kwargs: Any) -> None:
        """names: of the labels that sentences of the pool have."""
        super().__init__(*args, **kwargs)
        self.names = names
        for name in ("shared", "crossed"):
            field = self.fields[name]
            if isinstance(field, forms.ChoiceField):
                field.choices = [("", _("none")), *((label, label) for label in names)]
        self.settings: Settings | None = None
        self.chosen_synonyms: Synonyms | None = None
        self.labels = Labels()

    def of(self, *names: str) -> list[forms.BoundField]:
        return [self[name] for name in names]

    @property
    def general(self) -> list[forms.BoundField]:
        return self.of("count", "shortest", "longest", "cap", "seed")

    @property
    def of_overlap(self) -> list[forms.BoundField]:
        return self.of("low", "high", "share_of", "length_difference")

    @property
    def of_words(self) -> list[forms.BoundField]:
        return self.of("synonyms", "synonym_list")

    @property
    def of_percentiles(self) -> list[forms.BoundField]:
        return self.of("buckets", "growth", "idf")

    @property
    def of_labels(self) -> list[forms.BoundField]:
        return self.of("shared", "crossed", "combinations")

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
        if asked["strategy"] == Strategy.LABELS and not self.names:
            raise forms.ValidationError(
                _(
                    "No sentence of the pool has a label. Add a file with a column of labels, and name this column."
                )
            )
        try:
            # A window that holds nothing is a ValueError, and SamplingError is one too.
            with errors_shown(SamplingError, ValueError):
                window = Window(
                    asked["low"] / 100,
                    asked["high"] / 100,
                    asked["length_difference"] / 100,
                    Denominator(asked["share_of"]),
                )
                self.settings = Settings(
                    strategy=Strategy(asked["strategy"]),
                    count=asked["count"],
                    seed=asked["seed"],
                    cap=asked["cap"],
                    shortest=asked["shortest"],
                    longest=asked["longest"],
                    window=window,
                    buckets=asked["buckets"],
                    growth=asked["growth"],
                    idf=asked["idf"],
                    combinations=combinations_read(asked["combinations"]),
                )
                self.chosen_synonyms = self._synonyms()
        except UserError as error:
            raise forms.ValidationError(str(error)) from error
        self.labels = Labels(asked["shared"], asked["crossed"])
        return asked

    def _synonyms(self) -> Synonyms | None:
        asked = self.cleaned_data
        if asked["strategy"] not in OF_WORDS or not asked["synonyms"]:
            return None
        return (
            synonyms_of_wordnet()
            if asked["synonyms"] == "wordnet"
            else synonyms_of_text(asked["synonym_list"])
        )
