"""How a crowd enters and leaves: the settings of a curator."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.crowds.presets import PRESETS
from annotation.crowds.services import settings_check
from annotation.models import Crowd
from curation.foundation.errors import UserError


class CrowdForm(forms.ModelForm):  # type: ignore[type-arg]
    consent = forms.CharField(
        label=_("Consent"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 10}),
        help_text=_(
            "In Markdown. What people agree to before they enter: who you are, what they do and for how long, how "
            "they are paid, what you keep, and whom they write to. Another text is a new version, which "
            "everybody reads who enters from then on."
        ),
    )
    field_order = ("is_open", "consent", "asks_about_person", "screens", "places")

    class Meta:
        model = Crowd
        fields = (
            "is_open",
            "asks_about_person",
            "screens",
            "places",
            "code_completed",
            "code_stopped",
            "code_left",
            "completion_address",
            "external_id_parameter",
            "study_parameter",
            "submission_parameter",
            "hours",
            "leavers_judged_again",
        )
        help_texts = {
            "is_open": _("While the campaign is open, too. People who have entered go on in either case."),
            "asks_about_person": _(
                "Age, gender, first language and country; every answer is optional. Answers are kept apart from "
                "judgements, are in no file, and people can delete them."
            ),
            "screens": _(
                "A person has completed the task after this number of judgements. Attention checks count."
            ),
            "places": _("No more accounts are made by the link."),
            "code_completed": _(
                "The platform tells the outcomes apart by these codes. Copy each to the study there."
            ),
            "code_stopped": _("On the platform, give it an action that pays for the time."),
            "code_left": _("Also for people for whom no question was left: it is not their fault."),
            "completion_address": _(
                "Where the platform takes people back; {code} stands for the code. Empty: they copy it."
            ),
            "external_id_parameter": _("The name under which the platform's link says who comes."),
            "study_parameter": _("Empty where the platform has none."),
            "submission_parameter": _(
                "With it, people may go on in another browser. Without it, only in the browser in which they began."
            ),
            "hours": _("After so many, a submission that nobody ended counts as left."),
            "leavers_judged_again": _(
                "Their judgements then do not count. What they had on the screen is open for others in either case."
            ),
        }

    def __init__(self, *args: Any, consent: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["consent"] = consent
        for name in ("screens", "places", "hours"):
            self.fields[name].widget.attrs["min"] = 1

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            looked_at = Crowd(**{name: cleaned[name] for name in self._meta.fields or ()})
            try:
                settings_check(looked_at, cleaned["consent"])
            except UserError as error:
                raise forms.ValidationError(str(error)) from error
        return cleaned


class PresetForm(forms.Form):
    preset = forms.ChoiceField(
        label=_("Fill in the names of"),
        choices=[(name, preset.label) for name, preset in PRESETS.items()],
    )
