"""The form that starts a run, made from the settings of its kind's plan."""

import re
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from django import forms
from django.urls import reverse
from django.utils.formats import localize
from django.utils.html import format_html
from django.utils.translation import gettext as _

from curation.models import Dataset
from curation.numbers import NumberField
from mlworkers.forms.choices import SuggestingInput, choices_of, preselected_of, suggestions_of
from mlworkers.plans.kinds import Kind, plan_from, sentence_for_page
from mlworkers.plans.settings import Setting

_GUIDE = re.compile(r"docs/guide/(?P<page>[\w-]+)\.md")
SHOWN_AT_ONCE = 6  # settings; to fold away a few of so few would hide more than it orders


class SpelledOutChoice(forms.ChoiceField):
    """A choice whose values say all there is to say, so that one which is not offered may be given too."""

    def offer(self, value: Any) -> None:
        """Offer what an earlier run had, or was sent."""
        if value and not super().valid_value(str(value)):
            offered: Any = self.choices
            self.choices = [*offered, (str(value), _("those of an earlier run"))]

    def valid_value(self, value: Any) -> bool:
        return True


class PlanForm(forms.Form):
    """One field per setting, with its unit, default and source as help; the plan itself has the last word.

    datasets: those that a plan may name beside the run's own. `launch` goes with the form, so that sending it twice
    starts one run.
    """

    def __init__(
        self, *args: Any, kind: Kind, dataset: Dataset | None, datasets: Iterable[Dataset] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        self.fields["launch"] = forms.UUIDField(
            initial=uuid4, required=False, widget=forms.HiddenInput(attrs={"autocomplete": "off"})
        )
        for setting in kind.settings:
            self.fields[setting.name] = field = _field(setting, dataset, datasets)
            if isinstance(field, SpelledOutChoice):
                field.offer(self.data.get(setting.name) or self.initial.get(setting.name))
            if setting.refers_to or not self.is_bound:  # a word that is no choice is refused by its field
                self._keep_what_is_gone(setting.name)

    def _keep_what_is_gone(self, name: str) -> None:
        """What an earlier run named and no longer exists stays in its field, and whoever starts the run is refused with
        the sentence of `references_check`: an empty choice may mean something else, such as a new snapshot.
        """
        field, before = self.fields[name], (self.data if self.is_bound else self.initial).get(name)
        if isinstance(field, forms.ChoiceField) and before and not field.valid_value(str(before)):
            gone = _("“%(name)s” no longer exists: choose another") % {"name": before}
            offered: Any = field.choices
            field.choices = [(str(before), gone), *offered]

    @property
    def first(self) -> list[forms.BoundField]:
        """What one decides each time: what the plan names, and what it calls essential."""
        return self._fields(first=True)

    @property
    def more(self) -> list[forms.BoundField]:
        return self._fields(first=False)

    @property
    def more_is_open(self) -> bool:
        """Where something is wrong, or was changed before, it must be seen."""
        given = self.initial if not self.is_bound else self.data
        return any(
            field.errors or (field.name in given and _differs(given[field.name], field.field.initial))
            for field in self.more
        )

    def _fields(self, *, first: bool) -> list[forms.BoundField]:
        few = len(self.kind.settings) <= SHOWN_AT_ONCE
        chosen = [self[one.name] for one in self.kind.settings if (one.comes_first or few) == first]
        return [field for field in chosen if not field.is_hidden]

    def plan(self) -> dict[str, Any]:
        """What was filled in. A number that was left empty keeps its default; an empty text may be meant."""
        given = [(one, self.cleaned_data[one.name]) for one in self.kind.settings]
        return {
            one.name: value
            for one, value in given
            if value is not None and not (value == "" and one.type in (int, float))
        }

    def clean(self) -> dict[str, Any]:
        if not self.errors:
            try:
                plan_from(self.kind, self.plan())
            except ValueError as error:
                raise forms.ValidationError(sentence_for_page(self.kind, error)) from error
        return self.cleaned_data


def _differs(given: Any, default: Any) -> bool:
    return given not in ("", None) and str(given) != str(default) and not (given == "on" and default is True)


def _field(setting: Setting, dataset: Dataset | None, datasets: Iterable[Dataset]) -> forms.Field:
    about: dict[str, Any] = {
        "label": setting.label,
        "help_text": _help(setting),
        "initial": preselected_of(setting, dataset) or getattr(setting.default, "value", setting.default),
        "required": setting.required,
    }
    if setting.refers_to == "dataset" and setting.required:
        return forms.CharField(widget=forms.HiddenInput, initial=dataset.slug if dataset else "")
    choices = choices_of(setting, dataset, datasets)
    if choices is not None and setting.refers_to == "instructions":
        return SpelledOutChoice(choices=choices, **about)
    if choices is not None:
        in_view = setting.refers_to == "generated pairs"  # with the number of pairs that each choice gives
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect if in_view else None, **about)
    if setting.type is bool:
        return forms.BooleanField(**{**about, "required": False})
    suggested = suggestions_of(setting)
    if suggested is not None:
        first = suggested[0][0] if suggested and setting.required else about["initial"]
        return forms.CharField(widget=SuggestingInput(suggested), **{**about, "initial": first})
    # What a number may be, the plan says in its own sentence.
    types: dict[type[Any], type[forms.Field]] = {int: NumberField, float: forms.FloatField}
    return types.get(setting.type, forms.CharField)(**about)


def _help(setting: Setting) -> str:
    """What the setting does, its unit, and its default with the source of that number."""
    is_number = isinstance(setting.default, int | float) and not isinstance(setting.default, bool)
    is_chosen = setting.refers_to and not setting.default  # the choice, or what is empty, is named in words
    if is_chosen or (not is_number and not (setting.source and setting.default != "")):
        return str(setting.help)
    default = localize(setting.default) if is_number else _word(setting.default)
    words = {"default": default, "unit": setting.unit}
    has_unit = is_number and setting.unit
    sentence = _("Default: %(default)s %(unit)s") if has_unit else _("Default: %(default)s")
    source = f" ({_GUIDE.sub(_linked, str(setting.source))})" if setting.source else ""
    return f"{setting.help} {sentence % words}{source}.".strip()


def _linked(found: re.Match[str]) -> str:
    """Where a file of the guide is named: a link to its page."""
    name = found["page"]
    words = _("guide: %(page)s") % {"page": name}
    return format_html('<a href="{}">{}</a>', reverse("guide_page", args=[name]), words)


def _word(default: Any) -> str:
    if isinstance(default, bool):
        return _("yes") if default else _("no")
    return str(getattr(default, "value", default)) or _("none")
