"""Sentences for the pool, and how pairs are composed from it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.choosing import Choice
from curation.datasets.composing import Labels
from curation.datasets.edits import LONGEST
from curation.datasets.pairs_table import PairChoices
from curation.datasets.selectors import score_sets_in_order
from curation.datasets.synonyms import synonyms_of_text, synonyms_of_wordnet
from curation.exchange.pool import SentenceOptions
from curation.files.sentences import SentenceColumns
from curation.forms.exchange import TextForm, UploadForm
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.numbers import NumberField
from curation.models import Dataset, ScoreSet
from curation.pairs.sampling.drawing import (
    OF_SENTENCES,
    SamplingError,
    Settings,
    Strategy,
    combinations_read,
    edges_read,
    equal_bins,
)
from curation.pairs.sampling.searching import Denominator, Window
from curation.pairs.sampling.synonyms import Synonyms

MOST_PAIRS_ON_A_PAGE = 5_000
LABELS = {
    Strategy.OVERLAP: _("Overlap: shared words within a window"),
    Strategy.PERCENTILES: _("Percentiles: buckets by word overlap (Dice)"),
    Strategy.LABELS: _("Labels: one in common, another combined"),
    Strategy.SCORE: _("Score: equally many pairs of each bin"),
}


# The strategies that count shared words.
OF_WORDS = (Strategy.OVERLAP, Strategy.PERCENTILES)


class ReadingSentencesForm(TextForm):
    """How a file of sentences is read."""

    field_order = [
        "kind", "header", "delimiter", "text", "source", "labels", "language", "encoding", "rejected_rows",
    ]  # fmt: skip

    kind = forms.ChoiceField(
        label=_("The file is"),
        choices=[
            ("lines", _("one sentence a line (.txt), or a table")),
            ("documents", _("running text, to be divided into sentences")),
        ],
    )
    header = forms.ChoiceField(
        label=_("First row of a table"),
        required=False,
        choices=[("", _("names the columns")), ("no", _("holds a sentence, as the others do"))],
    )
    text = forms.CharField(
        label=_("Column of sentences"),
        required=False,
        max_length=200,
        help_text=_(
            "Of a table: its name, or its number from 1 if the first row names no columns. If empty: a column called "
            "sentence or text."
        ),
    )
    source = forms.CharField(
        label=_("Column of the source"),
        required=False,
        max_length=200,
        help_text=_("If empty: a column called source, and without one the name of the file."),
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
    rejected_rows = forms.ChoiceField(
        label=_("If a row is rejected"),
        required=False,
        choices=[("", _("add the other sentences")), ("nothing", _("add nothing"))],
    )

    @classmethod
    def of_stored(cls, options: SentenceOptions) -> "ReadingSentencesForm":
        """The form with what was chosen when the file was last read."""
        columns = options.columns
        return cls(
            initial={
                "kind": "documents" if options.documents else "lines",
                "header": "" if options.header else "no",
                "text": columns.text or "",
                "source": columns.source or "",
                "labels": ", ".join(columns.labels),
                "language": options.language,
                "delimiter": options.delimiter or "",
                "encoding": options.encoding or "",
                "rejected_rows": "nothing" if options.strict else "",
            }
        )

    def options(self) -> SentenceOptions:
        asked = self.cleaned_data
        labels = [name.strip() for name in asked["labels"].split(",") if name.strip()]
        return SentenceOptions(
            columns=SentenceColumns(
                text=asked["text"] or None, source=asked["source"] or None, labels=labels
            ),
            header=asked["header"] != "no",
            documents=asked["kind"] == "documents",
            language=asked["language"] or "en",
            delimiter=asked["delimiter"] or None,
            encoding=asked["encoding"] or None,
            strict=asked["rejected_rows"] == "nothing",
        )


class SentencesForm(ReadingSentencesForm, UploadForm):
    """A file of sentences and how it is read."""

    field_order = ["file", *ReadingSentencesForm.field_order]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "A .txt, CSV, TSV, JSONL or Parquet file, which may be packed with gzip, or the zip of a folder that the "
            "library datasets saved."
        )
        self.fields["file"].widget.attrs["accept"] = (
            ".txt,.csv,.tsv,.tab,.jsonl,.ndjson,.parquet,.pq,.gz,.zip"
        )


class SamplingForm(forms.Form):
    """What the strategies have in common. A valid form has `settings` and `chosen_synonyms`."""

    strategies: Sequence[Strategy] = ()
    strategy = forms.ChoiceField(label=_("Strategy"))
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
        help_text=_("1 samples equally many pairs from each; 1.1 samples more where more words are shared."),
    )
    idf = forms.BooleanField(label=_("Weigh words by how rare they are"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "strategy", [(one.value, LABELS[one]) for one in self.strategies])
        self.settings: Settings | None = None
        self.chosen_synonyms: Synonyms | None = None

    def more_settings(self) -> dict[str, Any]:
        """Those of the form's own strategies. May raise SamplingError."""
        return {}

    def _of(self, *names: str) -> list[forms.BoundField]:
        return [self[name] for name in names]

    @property
    def general(self) -> list[forms.BoundField]:
        return self._of("count", "shortest", "longest", "cap", "seed")

    @property
    def of_overlap(self) -> list[forms.BoundField]:
        return self._of("low", "high", "share_of", "length_difference")

    @property
    def of_words(self) -> list[forms.BoundField]:
        return self._of("synonyms", "synonym_list")

    @property
    def of_percentiles(self) -> list[forms.BoundField]:
        return self._of("buckets", "growth", "idf")

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
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
                    **self.more_settings(),
                )
                self.chosen_synonyms = None
                if asked["strategy"] in OF_WORDS and asked["synonyms"]:
                    wordnet = asked["synonyms"] == "wordnet"
                    self.chosen_synonyms = (
                        synonyms_of_wordnet() if wordnet else synonyms_of_text(asked["synonym_list"])
                    )
        except UserError as error:
            raise forms.ValidationError(str(error)) from error
        return asked


class CompositionForm(SamplingForm):
    """How sentences of the pool become pairs. A valid form also has `labels`."""

    strategies = OF_SENTENCES
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
            offer(self, name, [("", _("none")), *((label, label) for label in names)])
        self.labels = Labels()

    @property
    def of_labels(self) -> list[forms.BoundField]:
        return self._of("shared", "crossed", "combinations")

    def more_settings(self) -> dict[str, Any]:
        return {"combinations": combinations_read(self.cleaned_data["combinations"])}

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if not self.errors and asked["strategy"] == Strategy.LABELS and not self.names:
            raise forms.ValidationError(
                _("No single sentence has a label. Add a file with a column of labels, and name this column.")
            )
        super().clean()
        self.labels = Labels(asked.get("shared", ""), asked.get("crossed", ""))
        return asked


class ChoiceForm(SamplingForm):
    """Which of a dataset's pairs are chosen, and what becomes of them. A valid form also has `choice`."""

    strategies = (Strategy.SCORE, Strategy.OVERLAP, Strategy.PERCENTILES)
    score_set = forms.ChoiceField(
        label=_("Scores"),
        required=False,
        help_text=_("Also those that a run made, such as the cosines of an encoder (Score pairs)."),
    )
    bins = forms.CharField(
        label=_("Bins"),
        required=False,
        max_length=200,
        help_text=_("Such as: 0, 1, 2, 3, 4, 5. If empty: five equal parts of the scale."),
    )
    source = forms.ChoiceField(label=_("Among the pairs of the source"), required=False)
    split = forms.ChoiceField(label=_("Among the pairs of the split"), required=False)
    then = forms.ChoiceField(
        label=_("What becomes of them"),
        choices=[
            ("aside", _("the other pairs are excluded")),
            ("split", _("the chosen pairs get a split")),
        ],
        help_text=_(
            "Excluded pairs get the status “retired”: exports, training and new campaigns leave them out."
        ),
    )
    split_name = forms.CharField(
        label=_("Name of this split"),
        required=False,
        max_length=LONGEST["split"],
        help_text=_("Such as: annotate."),
    )

    def __init__(
        self,
        *args: Any,
        score_sets: Sequence[ScoreSet],
        sources: Sequence[str],
        splits: Sequence[str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.score_sets = {one.name: one for one in score_sets}
        offer(
            self, "score_set", [("", _("none")), *((name, str(one)) for name, one in self.score_sets.items())]
        )
        self.fields["score_set"].initial = next(iter(self.score_sets), "")
        for name, values in (("source", sources), ("split", splits)):
            offer(self, name, [("", _("any")), *((value, value) for value in values if value)])
        self.choice: Choice | None = None

    @classmethod
    def of(cls, dataset: Dataset, data: QueryDict | None = None) -> "ChoiceForm":
        """The form for the pairs of a dataset."""
        found = PairChoices(dataset)
        return cls(
            data,
            score_sets=score_sets_in_order(dataset),
            sources=list(found.sources),
            splits=list(found.splits),
        )

    @property
    def of_score(self) -> list[forms.BoundField]:
        return self._of("score_set", "bins")

    @property
    def among(self) -> list[forms.BoundField]:
        return self._of("source", "split")

    @property
    def result(self) -> list[forms.BoundField]:
        return self._of("then", "split_name")

    @property
    def _scores(self) -> ScoreSet | None:
        if self.cleaned_data["strategy"] != Strategy.SCORE:
            return None
        return self.score_sets.get(self.cleaned_data["score_set"])

    def more_settings(self) -> dict[str, Any]:
        scores, written = self._scores, self.cleaned_data["bins"]
        if scores is None:
            return {}
        return {"edges": edges_read(written) if written.strip() else equal_bins(scores.low, scores.high)}

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
        if asked["strategy"] == Strategy.SCORE and self._scores is None:
            self.add_error("score_set", _("Choose the scores whose bins give equally many pairs."))
        if asked["then"] == "split" and not asked["split_name"].strip():
            self.add_error("split_name", _("Give the split that the chosen pairs get."))
        if self.errors:
            return asked
        super().clean()
        if self.settings is not None:
            aside = asked["then"] == "aside"
            self.choice = Choice(
                settings=self.settings,
                source=asked["source"],
                split=asked["split"],
                score_set=self._scores,
                synonyms=self.chosen_synonyms,
                becomes=None if aside else asked["split_name"].strip(),
            )
        return asked


def offer(form: forms.Form, name: str, choices: Sequence[tuple[str, Any]]) -> None:
    field = form.fields[name]
    if isinstance(field, forms.ChoiceField):
        field.choices = choices
