"""Gold tuples: made by hand from chosen pairs, or taken from suggestions."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.campaigns.gold import GoldSuggestion
from annotation.models import Campaign
from curation.foundation.numbers import NumberField
from curation.models import ScoreSet

SUGGESTIONS_AT_MOST = 50


class WhyForm(forms.Form):
    why = forms.CharField(
        label=gettext_lazy("Reason shown to annotators"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "People who answer differently read it. For example: one pair says the same twice."
        ),
    )


class GoldFilterForm(forms.Form):
    """Which attention checks the page lists."""

    show = forms.ChoiceField(
        label=gettext_lazy("Show"),
        required=False,
        choices=[
            ("", gettext_lazy("in use")),
            ("unanswered", gettext_lazy("not answered yet")),
            ("missed", gettext_lazy("missed by good annotators")),
            ("removed", gettext_lazy("removed")),
        ],
    )
    search = forms.CharField(label=gettext_lazy("Words"), required=False, widget=forms.SearchInput)


class SuggestForm(forms.Form):
    score_set = forms.ModelChoiceField(
        ScoreSet.objects.none(),
        label=gettext_lazy("By"),
        required=False,
        empty_label=gettext_lazy("the words that sentences share"),
        help_text=gettext_lazy("Scores that are far apart are the safer choice. Words need no scores."),
    )
    number = NumberField(
        label=gettext_lazy("Number of tuples"), initial=20, min_value=1, max_value=SUGGESTIONS_AT_MOST
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: forms.ModelChoiceField[ScoreSet] = self.fields["score_set"]  # type: ignore[assignment]
        field.queryset = ScoreSet.objects.offered().filter(dataset=campaign.dataset_id)
        field.initial = field.queryset.first()

    @classmethod
    def first(cls, campaign: Campaign) -> dict[str, Any]:
        """What is suggested before anybody chose: by the first score set, else by words."""
        scored = ScoreSet.objects.offered().filter(dataset=campaign.dataset_id).first()
        return {"score_set": scored.pk if scored else "", "number": cls.base_fields["number"].initial}


class KeepForm(WhyForm):
    """One suggestion on the page: whether to keep it, and the reason to show."""

    answer = forms.CharField(widget=forms.HiddenInput)
    keep = forms.BooleanField(label=gettext_lazy("Keep this tuple"), required=False)


KeepFormSet = forms.formset_factory(KeepForm, extra=0, max_num=SUGGESTIONS_AT_MOST)


def reason_drafted(suggestion: GoldSuggestion) -> str:
    """What somebody may read who answers otherwise: a draft, because neither scores nor words say why."""
    if suggestion.by_words:
        return _("The sentences of one pair say nearly the same. Those of another have nothing in common.")
    best, worst, *others = suggestion.scores
    scores = {"best": best, "worst": worst, "low": min(others or [worst]), "high": max(others or [best])}
    # As the page rounds them beside the reason: halves up, .125 to .13.
    facts = {
        name: float(Decimal(repr(score)).quantize(Decimal("0.01"), ROUND_HALF_UP))
        for name, score in scores.items()
    }
    if not others:
        return _("Earlier scores of these pairs are far apart: %(best).2f and %(worst).2f.") % facts
    if f"{facts['low']:.2f}" == f"{facts['high']:.2f}":
        return (
            _("Earlier scores leave no doubt: the pairs have %(best).2f, %(low).2f and %(worst).2f.") % facts
        )
    return (
        _(
            "Earlier scores leave no doubt: the expected pairs have %(best).2f and %(worst).2f, "
            "and the others lie between %(low).2f and %(high).2f."
        )
        % facts
    )


def answer_of(suggestion: GoldSuggestion) -> str:
    """Names a suggestion, so that what is kept is what was seen even if pairs were retired in the meantime."""
    return f"{suggestion.best.pk} over {suggestion.worst.pk}"
