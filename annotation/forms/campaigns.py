"""A campaign's settings, its guidelines, and whom an owner stops."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import CAMPAIGN_SETTINGS, Campaign
from curation.datasets.pairs_table import PairChoices
from curation.foundation.numbers import NumberField
from curation.models import Dataset, Pair

REPEATS_HELP = gettext_lazy(
    "A repeated question (test–retest) shows a tuple again that the person has answered, to see whether "
    "they choose the same. 5 or more; 20 is modest; 0 for none. The answers take time and do not count for "
    "scores."
)

# What is rarely changed: the form folds these fields, each row of them side by side.
FOLDED = (
    ("split", "seed"),
    ("best_label", "worst_label"),
    ("allows_ties", "even_mix"),
    ("gold_every", "gold_minimum"),
    ("gold_threshold", "repeat_every"),
)


class CampaignForm(forms.ModelForm):  # type: ignore[type-arg]
    """Every field has a default that a paper could stand behind; only the name is asked for."""

    source = forms.ChoiceField(
        label=gettext_lazy("Source"), required=False, help_text=gettext_lazy("Where the pairs came from.")
    )
    split = forms.ChoiceField(
        label=gettext_lazy("Split"), required=False, help_text=gettext_lazy("As the imported file said.")
    )
    number = NumberField(
        label=gettext_lazy("Number of pairs"),
        required=False,
        min_value=1,
        help_text=gettext_lazy("Sampled at random with the seed. Empty: all that fit."),
    )
    even_mix = forms.BooleanField(
        label=gettext_lazy("Mix imported and generated pairs evenly"),
        required=False,
        help_text=gettext_lazy(
            "Every question gets its share of both kinds. Without this, some questions have only one kind "
            "by chance; only those can be used to score one kind alone."
        ),
    )
    guideline = forms.CharField(
        label=gettext_lazy("Guidelines"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=gettext_lazy(
            "Instructions for annotators, in Markdown, with worked examples. You can change them later."
        ),
    )

    class Meta:
        model = Campaign
        fields = ("name", *CAMPAIGN_SETTINGS)
        labels = {"gold_threshold": gettext_lazy("Required share of right choices in attention checks")}
        help_texts = {
            "name": gettext_lazy("For your own lists; annotators see it too."),
            "question": gettext_lazy("Shown above the pairs, in one line."),
            "best_label": gettext_lazy("The label of the first control of each card."),
            "worst_label": gettext_lazy("The label of the second control."),
            "tuple_size": gettext_lazy("Four is what the literature uses; 2 to 8."),
            "factor": gettext_lazy(
                "The number of tuples divided by the number of pairs; 1.5 to 2 is usual. With 2 and four pairs per "
                "question, 100 pairs make 200 tuples, and each pair appears in 8 of them."
            ),
            "judgements_per_tuple": gettext_lazy("By different people. Reliability needs at least 2."),
            "gold_every": gettext_lazy(
                "Attention checks are questions with a known answer, at random places."
            ),
            "gold_minimum": gettext_lazy(
                "The exclusion rule stops people who are clearly below the share after 4 attention checks, "
                "and others who are below it after this number. With fewer than 10, it stops more good "
                "annotators by chance."
            ),
            "gold_threshold": gettext_lazy(
                "From 0 to 1. Each check has two choices, the best pair and the worst. The estimate says how many "
                "people at this share and at others are stopped."
            ),
            "repeat_every": REPEATS_HELP,
            "allows_ties": gettext_lazy(
                "Annotators may answer that no pair stands out. Counting and reliability leave such answers out; "
                "MaxDiff models them as ties. Without it people choose either, as in the literature."
            ),
            "seed": gettext_lazy("The same seed and pairs give the same design."),
        }

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = PairChoices(dataset)
        self._offer("source", choices.sources)
        self._offer("split", choices.splits)
        for name, value in (self.instance.pair_filter or {}).items():
            self.initial.setdefault(name, value)
        if not dataset.pairs.filter(origin=Pair.Origin.GENERATED).exists():
            del self.fields["even_mix"]
        if self.instance.pk:
            del self.fields["guideline"]  # has its own page and versions
        for name, bounds in {
            "tuple_size": (2, 8),
            "judgements_per_tuple": (1, 100),
            "gold_every": (2, 1000),
            "repeat_every": (0, 1000),
        }.items():
            self.fields[name].widget.attrs.update({"min": bounds[0], "max": bounds[1]})
        self.fields["factor"].widget.attrs.update({"min": "0.01", "step": "any"})
        self.fields["gold_threshold"].widget.attrs.update({"min": "0", "max": "1", "step": "0.05"})

    @property
    def more_in_rows(self) -> list[list[forms.BoundField]]:
        """The folded fields."""
        return [[self[name] for name in names if name in self.fields] for names in FOLDED]

    @property
    def more_is_open(self) -> bool:
        """Whether a folded field has an error, or may be the reason of an error of the whole form."""
        return bool(self.non_field_errors()) or any(
            field.errors for row in self.more_in_rows for field in row
        )

    def _offer(self, name: str, values: Sequence[str]) -> None:
        field: forms.ChoiceField = self.fields[name]  # type: ignore[assignment]
        field.choices = [("", _("All")), *((value, value) for value in values)]


class RepeatsForm(forms.ModelForm):  # type: ignore[type-arg]
    """The one setting of the design that a running campaign may change."""

    class Meta:
        model = Campaign
        fields = ("repeat_every",)
        help_texts = {"repeat_every": REPEATS_HELP}


class GuidelineForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Guidelines"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 18}),
        help_text=gettext_lazy(
            "Markdown: **bold**, *italic*, # headings, lists, > quotations and tables; no pictures and no HTML. "
            "Each judgement keeps the version that applied when it was made."
        ),
    )


class StopForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("The person reads it, and so does everybody who reads the published files."),
    )
    exclude = forms.BooleanField(
        label=gettext_lazy("Count none of the person's judgements, and ask for them again"),
        required=False,
        initial=True,
    )
