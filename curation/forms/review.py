"""What a curator sends while reviewing: which sentences are wanted, and a verdict."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, ReviewDecision, ScoreSet
from curation.pairs.text import SENTENCE_MAX_CHARACTERS
from curation.review.queue import SAMPLED, Frame, Queue
from curation.review.verdicts import NOTE_MAX_CHARACTERS, Reason

SHARES = [
    (0.1, gettext_lazy("lowest tenth")),
    (0.25, gettext_lazy("lowest quarter")),
    (0.5, gettext_lazy("lower half")),
    (1.0, gettext_lazy("all")),
]


SIZES = [
    (40, gettext_lazy("40 sentences")),
    (100, gettext_lazy("100 sentences")),
    (200, gettext_lazy("200 sentences")),
    (500, gettext_lazy("500 sentences")),
    (1000, gettext_lazy("1,000 sentences")),
    (2000, gettext_lazy("2,000 sentences")),
]
SIZE = 100
FRAMES = [(frame.value, frame.label) for frame in Frame if frame != Frame.CHOSEN]
SWITCH = [("on", "on"), ("off", "off")]


class QueueForm(forms.Form):
    """Every field may be left out: then the newest p_D set, its lowest tenth, with p_D shown.

    Random and stratified samples are blind and have human sentences among them unless the address says otherwise.
    """

    set = forms.TypedChoiceField(label=gettext_lazy("p_D from"), required=False, coerce=int, empty_value=None)
    share = forms.TypedChoiceField(
        label=gettext_lazy("Sentences by p_D"), required=False, choices=SHARES, coerce=float, empty_value=None
    )
    frame = forms.ChoiceField(label=gettext_lazy("Queue"), required=False, choices=FRAMES)
    size = forms.TypedChoiceField(
        label=gettext_lazy("Sample"),
        required=False,
        choices=SIZES,
        coerce=int,
        empty_value=None,
    )
    blind = forms.ChoiceField(required=False, choices=SWITCH)
    human = forms.ChoiceField(required=False, choices=SWITCH)
    twice = forms.ChoiceField(required=False, choices=SWITCH)

    def __init__(self, data: QueryDict, *, score_sets: Sequence[ScoreSet]) -> None:
        """score_sets: at least one, the newest first."""
        usual = {"share": SHARES[0][0], "size": SIZE, "frame": Frame.LOWEST.value}
        super().__init__({**usual, **{name: data[name] for name in data}})
        self.score_sets = score_sets
        choices = [(score_set.pk, score_set.name) for score_set in score_sets]
        cast("forms.ChoiceField", self.fields["set"]).choices = choices
        self.full_clean()

    @property
    def queue(self) -> Queue:
        chosen = {score_set.pk: score_set for score_set in self.score_sets}
        frame = Frame(self.cleaned_data.get("frame") or Frame.LOWEST)
        return Queue(
            score_set=chosen.get(self.cleaned_data.get("set") or 0, self.score_sets[0]),
            frame=frame,
            share=self.cleaned_data.get("share") or SHARES[0][0],
            size=self.cleaned_data.get("size") or SIZE,
            blind=self._is_on("blind", usual=frame in SAMPLED),
            human=self._is_on("human", usual=frame in SAMPLED),
            twice=self._is_on("twice", usual=False),
        )

    def _is_on(self, name: str, *, usual: bool) -> bool:
        return {"on": True, "off": False}.get(self.cleaned_data.get(name, ""), usual)


class VerdictForm(forms.Form):
    """A verdict on one of the dataset's pairs. The service decides whether it can be one."""

    pair = forms.ModelChoiceField(
        Pair.objects.none(),
        error_messages={
            "required": gettext_lazy(
                "The page did not say which sentence the decision is about. Load the page again."
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

    def __init__(self, dataset: Dataset, *args: Any, mixed: bool, **kwargs: Any) -> None:
        """mixed: whether human sentences are among those shown."""
        super().__init__(*args, **kwargs)
        shown = dataset.pairs.select_related("a", "b", "dataset")
        if not mixed:
            shown = shown.filter(origin=Pair.Origin.GENERATED)
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
        return _("This decision cannot be saved. Load the page again.")


class ResolveForm(forms.Form):
    """Which verdict on a sentence becomes the valid one, in the place of the decision that is."""

    decision = forms.ModelChoiceField(ReviewDecision.objects.none())
    follow = forms.ModelChoiceField(ReviewDecision.objects.none())
    client_id = forms.UUIDField()

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        of_dataset = ReviewDecision.objects.filter(pair__dataset=dataset).select_related(
            "pair__dataset", "replacement__b"
        )
        for name in ("decision", "follow"):
            cast("forms.ModelChoiceField[ReviewDecision]", self.fields[name]).queryset = of_dataset

    def verdict(self) -> dict[str, Any]:
        """What was chosen. Raises UserError where the page was not the site's or is out of date."""
        if not self.is_valid():
            raise UserError(_("The page is out of date. Load it again."))
        return self.cleaned_data
