"""The quiz, as an annotator answers it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.campaigns.quiz import Graded
from annotation.models import QuizQuestion


class QuizForm(forms.Form):
    """One choice for each question."""

    def __init__(self, questions: Sequence[QuizQuestion], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = list(questions)
        for question in self.questions:
            self.fields[f"question-{question.number}"] = forms.TypedChoiceField(
                choices=list(enumerate(question.options)),
                coerce=int,
                widget=forms.RadioSelect,
                error_messages={
                    "required": gettext_lazy("Choose an answer."),
                    "invalid_choice": gettext_lazy("Choose an answer."),
                },
            )

    def rows(self) -> list[tuple[QuizQuestion, forms.BoundField]]:
        return [(question, self[f"question-{question.number}"]) for question in self.questions]

    def chosen(self) -> dict[int, int | None]:
        """The place of the option by the number of the question."""
        return {
            question.number: self.cleaned_data.get(f"question-{question.number}")
            for question in self.questions
        }

    def mark(self, graded: Sequence[Graded]) -> None:
        """Say beside each wrong answer why it is wrong."""
        for each in graded:
            if not each.is_right and each.chosen is not None:
                wrong = _("This is not the expected answer.")
                self.add_error(f"question-{each.question.number}", f"{wrong} {each.question.why}".strip())
