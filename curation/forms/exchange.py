"""What an import reads from a file, what an export holds, and which pairs a snapshot keeps."""

from collections.abc import Collection
from typing import Any, cast
from uuid import uuid4

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.inclusion import inclusion_choices, inclusion_counts, inclusion_label
from curation.datasets.pairs_table import PairChoices
from curation.datasets.selectors import PairFilter, score_sets_in_order
from curation.exchange.importing import ImportOptions
from curation.files.drafts import Columns
from curation.files.encoding import OFFERED, encoding_label
from curation.files.sampling import Preview
from curation.files.tables import FORMATS
from curation.models import Dataset, Pair, ScoreSet
from curation.pairs.inclusion import EXPLAINED, UNNAMED, Inclusion
from curation.pairs.leaks import Leaks

GUESSED = _("If empty, it is guessed.")
COLUMNS = ["a", "b", "pair", "score", "external_id", "source", "subset", "split", "worker"]
ENCODINGS = [("", _("guess")), *((name, encoding_label(name)) for name in OFFERED)]


class FilesInput(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or several files, each checked as a single one is. most: how many."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._most = most

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[bytes]]":
        given = data if isinstance(data, list | tuple) else [data]
        if len(given) > self._most:
            too_many = _("You chose %(n)d files; at most %(most)d are possible.")
            raise forms.ValidationError(too_many % {"n": len(given), "most": self._most})
        single = super().clean
        return [single(file, initial) for file in given or [None]]


class UploadForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "A CSV, TSV, JSONL or Parquet file with one pair in each row, or the zip of a folder that the library "
            "datasets saved. You see a preview before anything is imported."
        ),
        error_messages={
            "required": _("Choose a file."),
            "empty": _("The file is empty. Choose another file."),
        },
        widget=forms.FileInput({"accept": ".csv,.tsv,.tab,.txt,.jsonl,.ndjson,.parquet,.pq,.zip"}),
    )

    def __init__(self, *args: Any, refusal: str = "", **kwargs: Any) -> None:
        """refusal: why the file did not arrive, where the upload itself was stopped."""
        super().__init__(*args, **kwargs)
        self.refusal = refusal

    def clean(self) -> dict[str, Any]:
        if self.refusal:
            self.errors.pop("file", None)
            self.add_error("file", self.refusal)
        return self.cleaned_data


class TextForm(forms.Form):
    """How a file is decoded and cut into cells, where the guess was wrong."""

    delimiter = forms.ChoiceField(
        label=_("Columns are separated by"),
        required=False,
        choices=[
            ("", _("guess")),
            (",", _("comma")),
            ("\t", _("tab")),
            (";", _("semicolon")),
            ("|", _("bar")),
        ],
    )
    encoding = forms.ChoiceField(label=_("Encoding"), required=False, choices=ENCODINGS)

    @property
    def reading(self) -> dict[str, Any]:
        """What was chosen, by the names of the fields; None for a guess."""
        self.full_clean()
        return {name: self.cleaned_data.get(name) or None for name in ("delimiter", "encoding")}


class ReadingForm(TextForm):
    """How the file is cut into columns, where the guess was wrong."""

    header = forms.TypedChoiceField(
        label=_("First row"),
        required=False,
        choices=[("", _("guess")), ("yes", _("names the columns")), ("no", _("is a pair"))],
        coerce=lambda value: value == "yes",
        empty_value=None,
    )
    field_order = ("header", "delimiter", "encoding")

    @property
    def reading(self) -> dict[str, Any]:
        return super().reading | {"header": self.cleaned_data.get("header")}


class ImportForm(forms.Form):
    """Which column holds what. The choices are the file's columns; what was recognised is chosen beforehand."""

    a = forms.ChoiceField(label=_("First sentence"), required=False)
    b = forms.ChoiceField(label=_("Second sentence"), required=False)
    pair = forms.ChoiceField(
        label=_("Or one column with both sentences"),
        required=False,
        help_text=_("Each cell holds two sentences with a line end or a tab between them, or a list of two."),
    )
    score = forms.ChoiceField(label=_("Score"), required=False)
    rows_are = forms.ChoiceField(
        label=_("What each row holds"),
        required=False,
        choices=[
            ("", _("guess")),
            ("ratings", _("one rating of a pair: store each pair once, with its mean rating")),
            ("pairs", _("a pair")),
        ],
    )
    worker = forms.ChoiceField(
        label=_("Person who gave the rating"),
        required=False,
        help_text=_(
            "If each row is one rating. The second rating of a pair by the same person does not count."
        ),
    )
    external_id = forms.ChoiceField(
        label=_("Id"),
        required=False,
        help_text=_("If the file has no ids, they are made from the sentences."),
    )
    score_set = forms.CharField(
        label=_("Name of the scores"),
        max_length=ScoreSet._meta.get_field("name").max_length,
        initial="reference",
    )
    low = forms.FloatField(label=_("Lowest possible score"), required=False, help_text=GUESSED)
    high = forms.FloatField(label=_("Highest possible score"), required=False, help_text=GUESSED)
    source = forms.ChoiceField(label=_("Source"), required=False)
    source_name = forms.CharField(
        label=_("Or one source for all rows"),
        required=False,
        max_length=100,
        help_text=_("If you choose neither, the name of the file."),
    )
    split = forms.ChoiceField(label=_("Split"), required=False)
    split_name = forms.CharField(
        label=_("Or one split for all rows"),
        required=False,
        max_length=20,
        help_text=_("If you choose neither, the split in the file's name: train, dev or test."),
    )
    subset = forms.ChoiceField(label=_("Subset"), required=False)
    other_split = forms.ChoiceField(
        label=_("Rows that are pairs of another split"),
        required=False,
        choices=[
            ("", _("decide by the whole file")),
            ("same", _("are those pairs")),
            ("new", _("are new pairs")),
        ],
        help_text=_(
            "This matters if all rows are one split. By default they are those pairs if most rows are, and new pairs "
            "if only some are, as in benchmarks whose test and training files share pairs."
        ),
    )
    rejected_rows = forms.ChoiceField(
        label=_("If a row is rejected"),
        required=False,
        choices=[("", _("import the other rows")), ("nothing", _("import nothing"))],
    )
    leaks = forms.TypedChoiceField(
        label=_("If splits that were set here would share sentences"),
        required=False,
        choices=[(Leaks.REFUSE.value, _("import nothing")), (Leaks.ALLOW.value, _("import all the same"))],
        initial=Leaks.REFUSE.value,
        coerce=Leaks,
        empty_value=Leaks.REFUSE,
        help_text=_(
            "This matters if the file says splits, and splits of this dataset were drawn or edited. The check lists "
            "what they would share."
        ),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        preview: Preview,
        stored: ImportOptions | None = None,
        named: Collection[str] = (),
    ) -> None:
        """stored: what was chosen when the import was last tried. named: columns that somebody chose for certain. Of
        the others, those that are as they were guessed stay guesses, which reject no row.
        """
        guessed = {name: getattr(preview.guess, name) or "" for name in COLUMNS}
        chosen = {name: getattr(stored.columns, name) if stored else None for name in COLUMNS}
        initial: dict[str, Any] = {
            name: guessed[name] if given is None else given for name, given in chosen.items()
        }
        if stored:
            low, high = (f"{end:g}" for end in stored.scale) if stored.scale else ("", "")
            initial |= {"score_set": stored.score_set, "low": low, "high": high}
            initial |= {"source_name": stored.source or "", "split_name": stored.split or ""}
            other_split = {None: "", True: "same", False: "new"}[stored.across_splits]
            initial |= {"other_split": other_split, "rejected_rows": "nothing" if stored.strict else ""}
            initial |= {
                "leaks": stored.leaks.value,
                "rows_are": {None: "", True: "ratings", False: "pairs"}[stored.ratings],
            }
        super().__init__(data, initial=initial)
        self.preview = preview
        self._guessed = {name: column for name, column in guessed.items() if name not in named}
        columns = [(name, name if preview.header else _("Column %s") % name) for name in preview.columns]
        for name in COLUMNS:
            field = cast("forms.ChoiceField", self.fields[name])
            field.choices = [("", _("none")), *columns]

    @property
    def recognised(self) -> list[tuple[str, str]]:
        """What the form holds before anybody changes it: the columns that are read, and every other choice that was
        made.
        """
        held = []
        for name, field in self.fields.items():
            value = self.initial.get(name, field.initial)
            if value not in ("", None) and (name in COLUMNS or value != field.initial):
                shown = dict(field.choices).get(value, value) if hasattr(field, "choices") else value
                held.append((str(field.label), str(shown)))
        return held

    @property
    def unread(self) -> list[str]:
        """The columns that are not read before anybody changes the form."""
        read = {self.initial.get(name) for name in COLUMNS}
        return [name for name in self.preview.columns if name not in read]

    @property
    def has_sentences(self) -> bool:
        """Whether the columns of the two sentences are known before anybody changes the form."""
        return bool(self.initial.get("pair") or (self.initial.get("a") and self.initial.get("b")))

    @property
    def is_doubtful(self) -> bool:
        """Whether somebody has to look: sentences are missing, a column is not read, or an answer was wrong."""
        return bool(self.errors or self.unread) or not self.has_sentences

    def clean(self) -> dict[str, Any]:
        low, high = self.cleaned_data.get("low"), self.cleaned_data.get("high")
        if (low is None) != (high is None):
            self.add_error("high", _("Give both ends of the scale, or neither."))
        a, b, pair = (self.cleaned_data.get(name) for name in ("a", "b", "pair"))
        if pair and (a or b):
            self.add_error("pair", _("Choose one column with both sentences or two columns, not three."))
        elif not pair and not (a and b):
            missing = _("Choose two columns with one sentence each, or one column with both sentences.")
            if len(self.preview.columns) == 1:
                missing = _(
                    "The file has one column, and a pair is two sentences. If each row is a single sentence, add the "
                    "file on the page “Sample pairs” (…/compose/sentences/ in the API, or "
                    "import_sentences), and sample pairs from them."
                )
            self.add_error("b" if a else "a", missing)
        elif a and a == b:
            same = _(
                "Both sentences are in the same column. Choose another column for the second sentence, or choose "
                "this one as the column with both sentences."
            )
            self.add_error("b", same)
        return self.cleaned_data

    def options(self) -> ImportOptions:
        given = self.cleaned_data
        return ImportOptions(
            columns=Columns(
                **{name: given[name] for name in COLUMNS if given[name] != self._guessed.get(name)}
            ),
            header=self.preview.header,
            delimiter=self.preview.delimiter_given,
            encoding=self.preview.encoding_given,
            scale=None if given["low"] is None else (given["low"], given["high"]),
            score_set=given["score_set"],
            source=given["source_name"] or None,
            split=given["split_name"] or None,
            across_splits={"same": True, "new": False}.get(given["other_split"]),
            strict=given["rejected_rows"] == "nothing",
            leaks=given["leaks"],
            ratings={"ratings": True, "pairs": False}.get(given["rows_are"]),
        )


ALL = ("", _("all"))
NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSONL", "parquet": "Parquet"}


class GeneratedPairsField(forms.ChoiceField):
    """The choice of pairs with a machine-written sentence, with the number of active pairs that each answer gives.

    Where the answers differ none is chosen beforehand: what is handed to others holds unreviewed sentences only if
    somebody said so.
    """

    def __init__(self) -> None:
        super().__init__(
            label=_("Generated pairs"),
            help_text=_(EXPLAINED),
            widget=forms.RadioSelect,
            error_messages={"required": _("Choose which generated pairs are included.")},
        )

    def offer(self, dataset: Dataset) -> None:
        counts = inclusion_counts(dataset)
        self.choices = inclusion_choices(counts)
        if len(set(counts.values())) == 1:
            self.initial = UNNAMED.value

    def offer_uncounted(self) -> None:
        """For programs, which read no labels: to count the pairs of a large dataset takes long."""
        self.choices = [(choice.value, inclusion_label(choice)) for choice in Inclusion]


class ExportForm(forms.Form):
    """The settings of a run of kind export_dataset: its page takes the answers."""

    dataset = forms.CharField(widget=forms.HiddenInput)
    launch = forms.UUIDField(initial=uuid4, widget=forms.HiddenInput({"autocomplete": "off"}))
    format = forms.ChoiceField(label=_("Format"), choices=[(name, NAMES[name]) for name in FORMATS])
    score_set = forms.ChoiceField(
        label=_("Scores"),
        required=False,
        help_text=_(
            "One score set is written to a column called score; every score set, to a column of its name."
        ),
    )
    generated_pairs = GeneratedPairsField()
    scored_only = forms.BooleanField(
        label=_("Scored pairs only"),
        required=False,
        help_text=_("Leave out pairs without a score in the chosen score sets."),
    )
    standard_errors = forms.BooleanField(
        label=_("Add standard errors"),
        required=False,
        help_text=_("A column with the standard error of each score that has one."),
    )
    plain = forms.BooleanField(
        label=_("Pairs and scores only"),
        required=False,
        help_text=_("Leave out the origin of pairs, and the method and counts of scores."),
    )
    spreadsheet = forms.BooleanField(
        label=_("Make it safe for a spreadsheet"),
        required=False,
        help_text=_(
            "Put an apostrophe before text that a spreadsheet would run as a formula. CSV and TSV only."
        ),
    )

    def __init__(self, dataset: Dataset, data: QueryDict | None = None, *, counted: bool = True) -> None:
        super().__init__(data, initial={"dataset": dataset.slug})
        sets = [(each.name, str(each)) for each in dataset.score_sets.offered()]
        choices = [("", _("every score set")), *sets]
        cast("forms.ChoiceField", self.fields["score_set"]).choices = choices
        generated_pairs = cast("GeneratedPairsField", self.fields["generated_pairs"])
        if counted:
            generated_pairs.offer(dataset)
        else:
            generated_pairs.offer_uncounted()


class SnapshotForm(forms.Form):
    """Which active pairs the snapshot keeps."""

    source = forms.ChoiceField(label=_("Source"), required=False)
    split = forms.ChoiceField(label=_("Split"), required=False)
    origin = forms.ChoiceField(label=_("Origin"), required=False, choices=[ALL, *Pair.Origin.choices])
    scored = forms.ChoiceField(
        label=_("Scores"), required=False, help_text=_("Keep only the pairs that this score set scores.")
    )
    generated_pairs = GeneratedPairsField()

    def __init__(self, data: QueryDict | None = None, *, dataset: Dataset, choices: PairChoices) -> None:
        super().__init__(data)
        cast("GeneratedPairsField", self.fields["generated_pairs"]).offer(dataset)
        for name, values in (("source", choices.sources), ("split", choices.splits)):
            self.fields[name].choices = [ALL, *((value, value) for value in values)]  # type: ignore[attr-defined]
        sets = [
            (each.name, str(each))
            for each in score_sets_in_order(dataset)
            if each.kind != ScoreSet.Kind.REALISM
        ]
        self.fields["scored"].choices = [("", _("all pairs, also without a score")), *sets]  # type: ignore[attr-defined]

    def filter(self) -> PairFilter:
        scored = tuple(filter(None, [self.cleaned_data["scored"]]))
        return PairFilter(status=Pair.Status.ACTIVE, **{**self.cleaned_data, "scored": scored})
