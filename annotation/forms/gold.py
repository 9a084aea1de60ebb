"""Gold tuples: made by hand from chosen pairs, or taken from suggestions."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.campaigns.gold import GoldSuggestion
from annotation.models import Campaign
from curation.foundation.numbers import NumberField
from curation.models import Pair, ScoreSet

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


class GoldForm(WhyForm):
    """Which of the chosen pairs is best, which worst, and why."""

    best = forms.ModelChoiceField(Pair.objects.none())
    worst = forms.ModelChoiceField(Pair.objects.none())

    def __init__(self, campaign: Campaign, pairs: Sequence[Pair], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign, self.pairs = campaign, pairs
        for name, label in (("best", campaign.best_label), ("worst", campaign.worst_label)):
            field: forms.ModelChoiceField[Pair] = self.fields[name]  # type: ignore[assignment]
            field.queryset = Pair.objects.filter(pk__in=[pair.pk for pair in pairs])
            field.error_messages["required"] = _("Choose the pair for “%(label)s”.") % {"label": label}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("best") and cleaned.get("best") == cleaned.get("worst"):
            raise forms.ValidationError(
                _("The same pair is “%(best)s” and “%(worst)s”; choose two different pairs.")
                % {"best": self.campaign.best_label, "worst": self.campaign.worst_label}
            )
        return cleaned


class SuggestForm(forms.Form):
    score_set = forms.ModelChoiceField(
        ScoreSet.objects.none(),
        label=gettext_lazy("Score set"),
        help_text=gettext_lazy("Suggestions use pairs whose scores are far apart."),
    )
    number = NumberField(
        label=gettext_lazy("Number of tuples"), initial=20, min_value=1, max_value=SUGGESTIONS_AT_MOST
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: forms.ModelChoiceField[ScoreSet] = self.fields["score_set"]  # type: ignore[assignment]
        field.queryset = ScoreSet.objects.filter(dataset=campaign.dataset_id)
        field.initial = field.queryset.first()


class KeepForm(WhyForm):
    """One suggestion on the page: whether to keep it, and the reason to show."""

    answer = forms.CharField(widget=forms.HiddenInput)
    keep = forms.BooleanField(label=gettext_lazy("Keep this tuple"), required=False)


KeepFormSet = forms.formset_factory(KeepForm, extra=0, max_num=SUGGESTIONS_AT_MOST)


def reason_drafted(suggestion: GoldSuggestion) -> str:
    """What somebody may read who answers otherwise: a draft, because scores do not say why."""
    best, worst, *others = suggestion.scores
    facts = {"best": best, "worst": worst, "low": min(others or [worst]), "high": max(others or [best])}
    if not others:
        return _("Earlier scores of these pairs are far apart: %(best).2f and %(worst).2f.") % facts
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
