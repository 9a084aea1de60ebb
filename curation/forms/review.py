"""What a curator sends while reviewing: which sentences are wanted, and a verdict."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.models import Dataset, Pair, ReviewDecision, ScoreSet
from curation.pairs.text import SENTENCE_MAX_CHARACTERS
from curation.review.queue import Queue
from curation.review.verdicts import NOTE_MAX_CHARACTERS, Reason

SHARES = [
    (0.1, gettext_lazy("lowest tenth")),
    (0.25, gettext_lazy("lowest quarter")),
    (0.5, gettext_lazy("lower half")),
    (1.0, gettext_lazy("all")),
]


class QueueForm(forms.Form):
    """Every field may be left out: then the newest p_D set, its lowest tenth, with p_D shown."""

    set = forms.TypedChoiceField(label=gettext_lazy("p_D from"), required=False, coerce=int, empty_value=None)
    share = forms.TypedChoiceField(
        label=gettext_lazy("Sentences by p_D"), required=False, choices=SHARES, coerce=float, empty_value=None
    )
    blind = forms.BooleanField(label=gettext_lazy("Blind"), required=False)

    def __init__(self, data: QueryDict, *, score_sets: Sequence[ScoreSet]) -> None:
        """score_sets: at least one, the newest first."""
        super().__init__({"share": SHARES[0][0], **{name: data[name] for name in data}})
        self.score_sets = score_sets
        choices = [(score_set.pk, score_set.name) for score_set in score_sets]
        cast("forms.ChoiceField", self.fields["set"]).choices = choices
        self.full_clean()

    @property
    def queue(self) -> Queue:
        chosen = {score_set.pk: score_set for score_set in self.score_sets}
        return Queue(
            score_set=chosen.get(self.cleaned_data.get("set") or 0, self.score_sets[0]),
            share=self.cleaned_data.get("share") or SHARES[0][0],
            blind=self.cleaned_data.get("blind", False),
        )


class VerdictForm(forms.Form):
    """A verdict on one of the dataset's generated pairs. The service decides whether it can be one."""

    pair = forms.ModelChoiceField(
        Pair.objects.none(),
        error_messages={
            "required": gettext_lazy(
                "The page did not say which sentence the verdict is about. Load the page again."
            ),
            "invalid_choice": gettext_lazy(
                "There is no such generated pair in this dataset. Load the page again."
            ),
        },
    )
    client_id = forms.UUIDField(
        error_messages={"required": gettext_lazy("The page is out of date. Load it again.")}
    )
    verdict = forms.ChoiceField(
        choices=ReviewDecision.Verdict.choices,
        error_messages={"required": gettext_lazy("Choose keep, reject or edit.")},
    )
    reasons = forms.MultipleChoiceField(choices=Reason.choices, required=False)
    note = forms.CharField(max_length=NOTE_MAX_CHARACTERS, required=False)
    text = forms.CharField(max_length=SENTENCE_MAX_CHARACTERS, required=False)

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shown = dataset.pairs.filter(origin=Pair.Origin.GENERATED).select_related("a", "b", "dataset")
        cast("forms.ModelChoiceField[Pair]", self.fields["pair"]).queryset = shown

    @property
    def opens(self) -> str:
        """reject or edit, where only the button was pressed and what it asks for is still to come."""
        verdict = self.data.get("verdict", "")
        missing = {"reject": "reasons", "edit": "text"}.get(verdict)
        return verdict if missing and "confirmed" not in self.data else ""

    def first_error(self) -> str:
        for errors in self.errors.values():
            return str(errors[0])
        return _("This verdict cannot be saved. Load the page again.")
