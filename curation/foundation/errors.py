"""The one error that people see."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import Model
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django.forms import BaseForm

NUL_REFUSED = gettext_lazy(
    "The text contains a NUL character, which is not allowed. Remove it and send the text again."
)


class UserError(Exception):
    """Something a person can mend. The text is one sentence: what is wrong, where, and what to do.

    names: what the sentence's %(name)s stand for.
    for_command: the sentence for users of a command, where the text names a field of a page.
    """

    status = 400  # of the answer that shows it
    for_command = ""

    def __init__(self, sentence: str, /, **names: object) -> None:
        super().__init__(sentence % names if names else sentence)


def error_on_page(error: Exception) -> UserError:
    """An error of pure code for people: the sentence for users of a page, and beside it the one for a command."""
    shown = UserError(getattr(error, "for_page", "") or str(error))
    shown.for_command = str(error)
    return shown


@contextmanager
def errors_shown(*kinds: type[Exception]) -> Iterator[None]:
    """Turn the errors of pure code (ValueError unless `kinds` says otherwise) into the UserError of `error_on_page`."""
    shown = kinds or (ValueError,)
    try:
        yield
    except shown as error:
        raise error_on_page(error) from error


def form_errors_said(form: "BaseForm", *, but: Collection[str] = ()) -> str:
    """What is wrong with a form's fields, in one line. but: codes of errors that are left out."""
    return " ".join(
        f"{form[name].label}: {message}"
        for name, errors in form.errors.as_data().items()
        for error in errors
        if error.code not in but
        for message in error.messages
    )


@contextmanager
def validation_shown(row: Model) -> Iterator[None]:
    """Turn what a row's model says of its fields into a UserError: the label of the first wrong field, and why."""
    try:
        yield
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        if field == NON_FIELD_ERRORS:
            raise UserError(messages[0]) from error
        label = capfirst(row._meta.get_field(field).verbose_name)  # type: ignore[union-attr]
        raise UserError(f"{label}: {messages[0]}") from error
