"""What an annotator sends: a judgement, a skip or a flag, an undo.

A page names a tuple by the lease under which it was shown, and a pair by its screen position. Neither a
tuple's number nor a pair's slot leaves the server, because both could tell a gold tuple from another.
"""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign, Lease, Participation
from annotation.reasons import FlagReason
from curation.foundation.numbers import NumberField, number_from

LONGEST_MS = 10**10 - 1  # more than three months


class LeaseField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """One of the person's own leases, live or run out."""

    def __init__(self) -> None:
        super().__init__(
            Lease.objects.none(),
            error_messages={
                "required": gettext_lazy("The page did not say which pairs this is about; load it again."),
                "invalid_choice": gettext_lazy("These pairs were not given to you; load the page again."),
            },
        )


class AnswerForm(forms.Form):
    """What every answer is sent with: a name that the page gave it, and when it was shown, begun and looked at."""

    client_id = forms.UUIDField(
        error_messages={"required": gettext_lazy("The page is out of date; load it again.")}
    )
    # Milliseconds before now; what is nonsense is left out, and never costs an answer.
    shown_ms = forms.CharField(required=False)
    touched_ms = forms.CharField(required=False)
    active_ms = forms.CharField(required=False)

    def times(self, at: datetime) -> dict[str, Any]:
        """As `judgement_submit` and `rating_submit` take them."""
        return {
            "shown_at": _before(at, self.cleaned_data["shown_ms"]),
            "first_input_at": _before(at, self.cleaned_data["touched_ms"]),
            "active_ms": _milliseconds(self.cleaned_data["active_ms"]),
        }


class JudgementForm(AnswerForm):
    lease = LeaseField()
    best = NumberField(required=False)
    worst = NumberField(required=False)
    tie = forms.BooleanField(required=False)
    field_order = ("lease", "best", "worst", "tie")  # of several errors the first is said

    def __init__(
        self,
        participation: Participation,
        *args: Any,
        shown: QuerySet[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """shown: what stands for leases where none are kept, as in a norming session."""
        super().__init__(*args, **kwargs)
        self.campaign: Campaign = participation.campaign
        leases: Any = self.fields["lease"]
        leases.queryset = participation.leases.all() if shown is None else shown

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("tie"):
            cleaned["best"] = cleaned["worst"] = None
            return cleaned
        best, worst = cleaned.get("best"), cleaned.get("worst")
        labels = {"best": self.campaign.best_label, "worst": self.campaign.worst_label}
        for role, position in (("best", best), ("worst", worst)):
            if position is None:
                self.add_error(role, _("Choose a pair for “%(label)s”.") % {"label": labels[role]})
            elif not 0 <= position < self.campaign.tuple_size:
                sentence = _("There is no pair %(number)d in this question.")
                self.add_error(role, sentence % {"number": position + 1})
        if best is not None and best == worst:
            sentence = _("One pair cannot be both “%(best)s” and “%(worst)s”; choose two different pairs.")
            self.add_error(None, sentence % labels)
        return cleaned

    def judgement(self, at: datetime) -> dict[str, Any]:
        """The arguments of `answer_submit`."""
        return {
            **{name: self.cleaned_data[name] for name in ("lease", "best", "worst", "client_id")},
            **self.times(at),
        }


def _milliseconds(text: str) -> int | None:
    number = number_from(text)
    return number if number is not None and number <= LONGEST_MS else None


def _before(at: datetime, text: str) -> datetime | None:
    elapsed = _milliseconds(text)
    return None if elapsed is None else at - timedelta(milliseconds=elapsed)


class FlagForm(forms.Form):
    """Why a tuple is skipped, or flagged."""

    lease = LeaseField()
    reason = forms.ChoiceField(
        label=gettext_lazy("Reason"),
        choices=[(value, capfirst(label)) for value, label in FlagReason.choices],
        widget=forms.RadioSelect,
        error_messages={"required": gettext_lazy("Choose a reason.")},
    )
    place = forms.TypedChoiceField(
        label=gettext_lazy("Which pair"),
        required=False,
        coerce=int,
        empty_value=None,
        error_messages={"invalid_choice": gettext_lazy("Choose one of the pairs of the question.")},
    )
    note = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=500,
        required=False,
        help_text=gettext_lazy("Optional. The campaign's owner reads it."),
    )

    def __init__(
        self, participation: Participation, *args: Any, comments: bool = False, **kwargs: Any
    ) -> None:
        """comments: whether somebody may only comment; a skip needs a reason."""
        super().__init__(*args, **kwargs)
        if not comments:
            reasons: Any = self.fields["reason"]
            reasons.choices = [each for each in reasons.choices if each[0] != FlagReason.COMMENT]
        self.fields["lease"].widget = forms.HiddenInput()
        if participation.pk:  # else the screen is rehearsed, and nothing is sent
            self.fields["lease"].queryset = participation.leases.all()  # type: ignore[attr-defined]
        places = range(participation.campaign.tuple_size)
        self.fields["place"].choices = [  # type: ignore[attr-defined]
            ("", _("All of them")),
            *((place, _("Pair %(number)s") % {"number": place + 1}) for place in places),
        ]

    def clean(self) -> dict[str, Any]:
        """`slot` is the pair in the design that stood at the place; the place itself means nothing to the owner."""
        cleaned = super().clean() or {}
        place, lease = cleaned.pop("place", None), cleaned.get("lease")
        cleaned["slot"] = lease.order_shown[place] if lease and place is not None else None
        return cleaned


class UndoForm(forms.Form):
    client_id = forms.UUIDField(required=False)
