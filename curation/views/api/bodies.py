"""The forms of the pages, as programs fill them in: the same fields, bounds, defaults and sentences."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.request import Request

from curation.foundation.numbers import LARGEST
from curation.pairs.leaks import Leaks

STATE, LEAKS = "state", "leaks"
FormT = TypeVar("FormT", bound=forms.BaseForm)
_UNKNOWN = _("There is no such parameter.")
_LIST = _("Give a list of texts or numbers.")
_SEVERAL = (forms.ModelMultipleChoiceField, forms.MultipleChoiceField)
_SCALAR = _("Give a text, a number, true or false.")


def form_filled(
    sent: Any, form_of: Callable[[QueryDict | None], FormT], *, also: Collection[str] = ()
) -> FormT:
    """The form with what a program sent; what it left out keeps the value with which the page shows the form.

    also: names that the caller reads. Raises ValidationError by the names of the fields.
    """
    if not isinstance(sent, Mapping):
        raise ParseError(_("Send a JSON object."))
    blank = form_of(None)
    given = {name: value for name, value in sent.items() if name not in also}
    wrong = {name: [_UNKNOWN] for name in given.keys() - blank.fields.keys()}
    several = {name for name, field in blank.fields.items() if isinstance(field, _SEVERAL)}
    for name, value in given.items():
        if name in several and (
            not isinstance(value, list) or any(isinstance(one, list | dict) for one in value)
        ):
            wrong[name] = [_LIST]
        elif name not in several and isinstance(value, list | dict):
            wrong[name] = [_SCALAR]
    if wrong:
        raise ValidationError(wrong)
    shown = {
        name: _chosen(field) if (initial := blank.get_initial_for_field(field, name)) is None else initial
        for name, field in blank.fields.items()
        if not isinstance(field, forms.FileField)
    }
    data = QueryDict(mutable=True)
    for name, value in (shown | given).items():
        if value is not None:
            data.setlist(name, [_text(one) for one in (value if name in several else [value])])
    form = form_of(data)
    if not form.is_valid():
        raise ValidationError(
            {
                "detail" if name == NON_FIELD_ERRORS else name: [str(sentence) for sentence in sentences]
                for name, sentences in form.errors.items()
            }
        )
    return form


def state_sent(request: Request) -> str | None:
    """The state that a preview gave, where the program sent it: nothing else is then applied."""
    sent: Any = request.data
    return None if sent.get(STATE) is None else str(sent[STATE])


def leaks_in_body() -> serializers.ChoiceField:
    """The one way by which a program allows leaks."""
    return serializers.ChoiceField(
        choices=[each.value for each in Leaks],
        default=Leaks.REFUSE.value,
        help_text="Whether splits that are set here may share sentences.",
    )


def leaks_asked(request: Request) -> Leaks:
    """What a program says about leaks. Raises ValidationError."""
    sent: Any = request.data
    try:
        return Leaks(leaks_in_body().run_validation(sent.get(LEAKS, Leaks.REFUSE.value)))
    except ValidationError as error:
        raise ValidationError({LEAKS: error.detail}) from error


def _text(value: Any) -> str:
    return str(getattr(value, "value", value))


def body_of(
    form: forms.BaseForm | type[forms.BaseForm],
    name: str,
    *,
    leave_out: Collection[str] = (),
    **more: serializers.Field[Any, Any, Any, Any],
) -> type[serializers.Serializer[Any]]:
    """A description of the form for the schema. leave_out: fields that programs do not send; more: others."""
    described = {
        each: _described(field)
        for each, field in getattr(form, "base_fields" if isinstance(form, type) else "fields").items()
        if each not in leave_out and not isinstance(field, forms.FileField)
    }
    return type(name, (serializers.Serializer,), {**described, **more, "__doc__": ""})


def _chosen(field: forms.Field) -> str | None:
    """What a browser chooses in a list that has to have a choice: the first. Of buttons it chooses none."""
    if (
        field.required
        and isinstance(field, forms.ChoiceField)
        and not isinstance(field.widget, forms.RadioSelect)
    ):
        return next(iter(_offered(field)), None)
    return None


def _described(field: forms.Field) -> serializers.Field[Any, Any, Any, Any]:
    about: dict[str, Any] = {
        "required": field.required and field.initial is None,
        "help_text": f"{capfirst(field.label)}. {field.help_text}".strip(),
    }
    initial = _chosen(field) if field.initial is None else field.initial
    if initial is not None and not callable(initial):
        about |= {"default": getattr(initial, "value", initial), "required": False}
    if isinstance(field, _SEVERAL):
        return serializers.ListField(child=serializers.CharField(), **about)
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(**about)
    if isinstance(field, forms.IntegerField | forms.FloatField):
        kind = serializers.IntegerField if isinstance(field, forms.IntegerField) else serializers.FloatField
        bounds: dict[str, Any] = {"min_value": field.min_value, "max_value": field.max_value}
        kept: dict[str, Any] = {end: n for end, n in bounds.items() if n is not None and abs(n) < LARGEST}
        return kind(**about, **kept, allow_null=not field.required)
    offered = _offered(field)
    if offered:
        return serializers.ChoiceField(choices=offered, **about, allow_blank=not field.required)
    return serializers.CharField(**about, allow_blank=not field.required)


def _offered(field: forms.Field) -> Sequence[str]:
    """The choices that every dataset has; none where they depend on it, or any text will do."""
    if not isinstance(field, forms.ChoiceField):
        return []
    choices: Any = field.choices
    return [_text(value) for value, _label in choices if value != ""]
