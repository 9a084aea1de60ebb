"""The form that starts a run, made from the settings of its kind's plan."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from django import forms
from django.urls import reverse
from django.utils.formats import localize
from django.utils.html import escape, format_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from curation.foundation.numbers import NumberField
from curation.models import Dataset
from mlworkers.forms.choices import (
    Choices,
    OpenSelect,
    SeveralInput,
    choices_of,
    preselected_of,
    several_of,
    split_choices,
    splits_of,
    suggestions_of,
)
from mlworkers.forms.rows import RowsField, RowsInput, offers_of
from mlworkers.plans.fields import SettingError
from mlworkers.plans.groups import GROUPS, group_of
from mlworkers.plans.kinds import Kind, plan_from, sentence_for_page
from mlworkers.plans.settings import Setting, read

_GUIDE = re.compile(r"docs/guide/(?:[\w-]+/)?(?P<page>[\w-]+)\.md")
_COMMAS = re.compile(
    r"^Names separated by commas[.:] |, separated by commas|, or of several splits with commas between"
    r"| Separate several by commas(?:: [^.]*)?\."
)
MOST_FIRST = 12
SHOWN_AT_ONCE = 6  # settings; to fold away a few of so few would hide more than it orders


class SpelledOutChoice(forms.ChoiceField):
    """A choice whose values say all there is to say, so that one which is not offered may be given too.

    not_offered: what such a value is called.
    """

    not_offered = ""

    def offer(self, value: Any) -> None:
        """Offer what an earlier run had, or was sent."""
        if value and not super().valid_value(str(value)):
            offered: Any = self.choices
            self.choices = [*offered, (str(value), self.not_offered % {"value": value})]

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
        datasets = list(datasets)
        own = [dataset] if dataset else []
        splits = (
            splits_of(datasets or own)
            if any(setting.refers_to == "dataset" and not setting.required for setting in kind.settings)
            else splits_of(own)
        )
        for setting in kind.settings:
            self.fields[setting.name] = field = (
                _control(setting, dataset, datasets, splits)
                if setting.rows is None
                else RowsField(setting, setting.rows, offers_of(setting.rows, dataset, datasets))
            )
            field.citation = citation_of(setting)  # type: ignore[attr-defined]  # for the form's template
            if isinstance(field, SpelledOutChoice):
                field.offer(self.data.get(setting.name) or self.initial.get(setting.name))
            # What an earlier run named and no longer exists stays in its field, and `references_check` refuses the
            # run with a sentence: an empty choice may mean something else, such as a new snapshot. A word that is not
            # a choice is refused by its field.
            if isinstance(field, forms.ChoiceField) and (setting.refers_to or not self.is_bound):
                before = (self.data if self.is_bound else self.initial).get(setting.name)
                if before and not field.valid_value(str(before)):
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
    def more_in_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The rest under the names of what they shape, in the order of `plans.groups`."""
        more = self.more
        grouped = [(GROUPS[key], [field for field in more if group_of(field.name) == key]) for key in GROUPS]
        return [(str(label), fields) for label, fields in grouped if fields]

    @property
    def wrong(self) -> list[forms.BoundField]:
        """The settings with an error, for the list above the form."""
        return [field for field in [*self.first, *self.more] if field.errors]

    @property
    def more_is_open(self) -> bool:
        """Where something is wrong, or was changed before, it must be seen."""
        return any(field.errors or _differs(field.value(), field.field.initial) for field in self.more)

    def filled_in(self, *, row_for: str = "") -> dict[str, Any]:
        """What was sent, as initial values of another form. row_for: the setting that gets another blank row."""
        values = {
            name: field.widget.value_from_datadict(self.data, self.files, name)
            for name, field in self.fields.items()
        }
        widget = self.fields[row_for].widget if row_for in self.fields else None
        if isinstance(widget, RowsInput):
            values[row_for] = [*values[row_for], ("",) * len(widget.syntax.columns)]
        return values

    def _fields(self, *, first: bool) -> list[forms.BoundField]:
        settings = self.kind.settings
        shown = [one for one in settings if one.comes_first or len(settings) <= SHOWN_AT_ONCE]
        names = {one.name for one in shown}
        controls = sum(len(one.rows.columns) if one.rows else 1 for one in shown)
        if controls > MOST_FIRST:  # those that may be left out are folded away
            names = {one.name for one in settings if one.essential or one.required}
        chosen = [self[one.name] for one in settings if (one.name in names) == first]
        return [field for field in chosen if not field.is_hidden]

    def plan(self) -> dict[str, Any]:
        """What was filled in and is not wrong. A number left empty keeps its default; an empty text may be meant."""
        filled_in = self.cleaned_data
        given = [(one, filled_in[one.name]) for one in self.kind.settings if one.name in filled_in]
        return {
            one.name: value
            for one, value in given
            if value is not None and not (value == "" and one.type in (int, float))
        }

    def clean(self) -> dict[str, Any]:
        """Each setting by itself first, so that all that is wrong is said at once; then what does not go together."""
        for setting in self.kind.settings:
            value = self.cleaned_data.get(setting.name)
            if value in (None, ""):
                continue
            try:
                read(setting, value)
            except SettingError as error:
                self.add_error(setting.name, sentence_for_page(self.kind, error))
        for conflict in self._conflicts():
            # The setting beside which a sentence is said: the first that it names and the form shows.
            names = conflict.names if isinstance(conflict, SettingError) else []
            shown = (name for name in names if name in self.fields and not self[name].is_hidden)
            self.add_error(next(shown, None), sentence_for_page(self.kind, conflict))
        return self.cleaned_data

    def _conflicts(self) -> list[ValueError]:
        """What does not go together, each by itself: a setting that is wrong already has its default while the others
        are looked at, and what is said of a setting then may come of that default.
        """
        plan, wrong, found = self.plan(), set(self.errors), []
        while True:
            try:
                plan_from(self.kind, plan)
            except ValueError as error:
                named = set(error.names) if isinstance(error, SettingError) else set()
                given = named & plan.keys()
                if not wrong or (given and wrong.isdisjoint(named)):
                    found.append(error)
                    plan = {name: value for name, value in plan.items() if name not in given}
                    wrong |= given
                    if given:
                        continue
            return found

    def add_problems(self, problems: Mapping[str, str]) -> None:
        """Sentences about names that lead nowhere: beside their settings, or above the form where these are hidden."""
        for name, sentence in problems.items():
            shown = name in self.fields and not self[name].is_hidden
            self.add_error(name if shown else None, sentence)


def _differs(given: Any, default: Any) -> bool:
    if isinstance(given, list):
        return bool(given)
    return given not in ("", None) and str(given) != str(default) and not (given == "on" and default is True)


def _control(
    setting: Setting, dataset: Dataset | None, datasets: Iterable[Dataset], splits: Iterable[str]
) -> forms.Field:
    about: dict[str, Any] = {
        "label": setting.label,
        "help_text": _help(setting),
        "initial": preselected_of(setting, dataset) or getattr(setting.default, "value", setting.default),
        "required": setting.required,
    }
    if setting.refers_to == "dataset" and setting.required:
        return forms.CharField(widget=forms.HiddenInput, initial=dataset.slug if dataset else "")
    if setting.offered == "split":
        return _open_choice(split_choices(setting, splits), _("%(value)s · no pairs"), about)
    if several := several_of(setting, splits):
        about["help_text"] = _COMMAS.sub("", str(setting.help))  # boxes are ticked, and no commas typed
        return forms.CharField(widget=SeveralInput(choices=several), **about)
    choices = choices_of(setting, dataset, datasets)
    if choices is not None and setting.refers_to == "instructions":
        return _open_choice(choices, _("those of an earlier run"), about)
    if choices is not None:
        in_view = setting.refers_to == "generated pairs"  # with the number of pairs that each choice gives
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect if in_view else None, **about)
    return _free(setting, about)


def _free(setting: Setting, about: dict[str, Any]) -> forms.Field:
    """The control of a setting that takes more than some choices."""
    if setting.type is bool:
        return forms.BooleanField(**{**about, "required": False})
    suggested = suggestions_of(setting)
    if suggested is not None:
        first = suggested[0][0] if suggested and setting.required else about["initial"]
        if not setting.required and first not in dict(suggested):
            suggested = [(first, first or _("none")), *suggested]
        return forms.CharField(widget=OpenSelect(suggested), **{**about, "initial": first})
    # What a number may be, the plan says in its own sentence.
    types: dict[type[Any], type[forms.Field]] = {int: NumberField, float: forms.FloatField}
    return types.get(setting.type, forms.CharField)(**about)


def _open_choice(choices: Choices, not_offered: str, about: dict[str, Any]) -> SpelledOutChoice:
    field = SpelledOutChoice(choices=choices, **about)
    field.not_offered = not_offered
    return field


def _help(setting: Setting) -> str:
    """What the setting does, its unit, and its default."""
    is_number = isinstance(setting.default, int | float) and not isinstance(setting.default, bool)
    is_chosen = setting.refers_to and not setting.default  # the choice, or what is empty, is named in words
    if is_chosen or setting.offered or (not is_number and not (setting.source and setting.default != "")):
        return str(setting.help)
    default = localize(setting.default) if is_number else _word(setting.default)
    words = {"default": default, "unit": setting.unit}
    has_unit = is_number and setting.unit
    sentence = _("Default: %(default)s %(unit)s") if has_unit else _("Default: %(default)s")
    return f"{setting.help} {sentence % words}.".strip()


def citation_of(setting: Setting) -> str:
    """Where the default comes from, for the sign “?” beside the label; files of the guide as links."""
    return mark_safe(_GUIDE.sub(_linked, escape(setting.source))) if setting.source else ""  # noqa: S308 - escaped


def _linked(found: re.Match[str]) -> str:
    """Where a file of the guide is named: a link to its page."""
    name = found["page"]
    words = _("guide: %(page)s") % {"page": name}
    return format_html('<a href="{}">{}</a>', reverse("guide_page", args=[name]), words)


def _word(default: Any) -> str:
    if isinstance(default, bool):
        return _("yes") if default else _("no")
    return str(getattr(default, "value", default)) or _("none")
