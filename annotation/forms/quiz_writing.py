"""A question of a quiz, as an owner writes it."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.campaigns.quiz import Options, options_read


class QuestionForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Question"),
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("In Markdown, as the guidelines: a quotation is best for pairs of sentences."),
    )
    options = forms.CharField(
        label=gettext_lazy("Options"),
        max_length=4_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=gettext_lazy("One a line, with a star (*) before the right one."),
    )
    why = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("People who choose another option read it, and answer again."),
    )

    def clean_options(self) -> Options:
        try:
            return options_read(self.cleaned_data["options"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
