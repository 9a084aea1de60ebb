"""The settings of a plan (a frozen dataclass): what each one is, and how a text or a JSON value becomes
one.

What a field means is in its metadata, so that forms and `semblance run --list` need nothing else:
`label`, `help`, `unit`, `source` (where the default comes from), `low` and `high` (both allowed),
`choices`, and `refers_to` (what the value names: "dataset", "score set", "batch", "model", "snapshot", "run",
"generated pairs", "instructions", "pipeline", "word vectors").
Of what a value names, `kinds` says which kinds will do (empty: all), and `within` in which other setting's dataset
it stands (empty: the run's). `essential` settings come first on a form; those that are required or name something
do so anyway.
`offered` says what a form offers where the plan takes any text: the names of "split" or "splits" of datasets; `several`
are names of which a text holds some, separated by commas, and `several_models` says that models may be among them.
`rows` says how a text that lists rows is read, for which a form shows a control for each cell.
Of a setting that may stay empty, `preselected` says that forms start with the first score set or run of the dataset.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from types import NoneType
from typing import Any, NoReturn, get_args, get_type_hints

from django.utils.functional import Promise
from django.utils.text import Truncator, get_text_list
from django.utils.translation import gettext as _

from mlworkers.plans.fields import SettingError, SettingName
from mlworkers.plans.rows import RowSyntax

Text = str | Promise
Value = str | int | float | bool | Enum | None

_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOST_DIGITS = 18  # that every database's whole number takes
_LONGEST_SHOWN = 80  # characters of a value that is refused
TRUE = ("true", "yes", "on", "1")
FALSE = ("false", "no", "off", "0")


@dataclass(frozen=True)
class Setting:
    """One field of a plan, as forms and lists show it."""

    name: str
    type: type[Any]
    optional: bool
    required: bool
    default: Value
    label: Text = ""
    help: Text = ""
    unit: Text = ""
    source: Text = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    refers_to: str = ""
    kinds: tuple[str, ...] = ()
    within: str = ""
    essential: bool = False
    preselected: bool = False
    endpoint: bool = False
    offered: str = ""
    several: tuple[str, ...] = ()
    several_models: bool = False
    rows: RowSyntax | None = None

    @property
    def comes_first(self) -> bool:
        return self.essential or self.required or bool(self.refers_to)

    @property
    def type_name(self) -> str:
        return self.type.__name__ if self.type in (bool, int, float) else "text"


def settings_of(plan: type[Any]) -> list[Setting]:
    hints = get_type_hints(plan)
    found = []
    for plain in fields(plan):
        hint = hints[plain.name]
        kind = next((part for part in get_args(hint) if part is not NoneType), hint)
        about = {"label": plain.name.replace("_", " ").capitalize(), **plain.metadata}
        if issubclass(kind, Enum):
            about["choices"] = tuple(str(choice.value) for choice in kind)
        setting = Setting(
            name=plain.name,
            type=kind,
            optional=NoneType in get_args(hint),
            required=plain.default is MISSING,
            default=None if plain.default is MISSING else plain.default,
            **about,
        )
        found.append(setting)
    return found


def plan_read(plan: type[Any], name: str, values: Mapping[str, Any]) -> Any:
    """The plan with those values; texts are read as the setting's type, as a shell or a form gives them.

    name: the kind's, for sentences. Raises SettingError with one sentence about the first setting that is
    unknown, missing, of the wrong type or out of range; a plan may refuse a combination in its
    `__post_init__` the same way.
    """
    settings = {setting.name: setting for setting in settings_of(plan)}
    for given in values:
        if given not in settings:
            words = {"setting": given, "kind": SettingName(name), "known": listed(settings)}
            sentence = _("“%(setting)s” is not a setting of %(kind)s; its settings are %(known)s.")
            if close := difflib.get_close_matches(given, settings, n=1):
                words["close"] = SettingName(close[0])
                sentence = _("“%(setting)s” is not a setting of %(kind)s; did you mean “%(close)s”?")
            raise SettingError(sentence, **words)
    for setting in settings.values():
        if setting.required and values.get(setting.name) in (None, ""):
            sentence = _("“%(setting)s” is missing; %(kind)s needs it. %(help)s")
            raise _wrong(setting, sentence, kind=SettingName(name), help=setting.help)
    return plan(**{given: read(settings[given], raw) for given, raw in values.items()})


def listed(names: Iterable[str]) -> str:
    return get_text_list(list(names), _("and"))


def read(setting: Setting, raw: Any) -> Value:
    """One value. Raises SettingError with one sentence."""
    if setting.optional and raw in (None, ""):
        return None
    value = READERS.get(setting.type, _read_text)(setting, raw)
    if isinstance(value, int | float):
        words = {"value": value, "low": setting.low, "high": setting.high}
        if setting.low is not None and value < setting.low:
            raise _wrong(setting, _("“%(setting)s” is %(value)s; it must be at least %(low)s."), **words)
        if setting.high is not None and value > setting.high:
            raise _wrong(setting, _("“%(setting)s” is %(value)s; it must be at most %(high)s."), **words)
    if setting.choices and value not in setting.choices:
        sentence = _("“%(setting)s” is “%(value)s”; choose one of %(choices)s.")
        raise _wrong(setting, sentence, value=_short(value), choices=listed(setting.choices))
    return setting.type(value) if issubclass(setting.type, Enum) else value


def _read_whole(setting: Setting, raw: Any) -> int:
    if type(raw) is not int and not (isinstance(raw, str) and _WHOLE.fullmatch(raw.strip())):
        _refuse(setting, raw)
    if len(str(raw)) > _MOST_DIGITS:
        raise _wrong(setting, _("“%(setting)s” has too many digits; give a smaller number."))
    return int(raw)


def _read_number(setting: Setting, raw: Any) -> float:
    try:
        is_number = isinstance(raw, int | float) or (isinstance(raw, str) and "_" not in raw)
        number = float(raw) if is_number and type(raw) is not bool else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    return number if math.isfinite(number) else _refuse(setting, raw)


def _read_choice(setting: Setting, raw: Any) -> bool:
    word = str(raw).strip().lower()
    return word in TRUE if word in TRUE + FALSE else _refuse(setting, raw)


def _read_text(setting: Setting, raw: Any) -> str:
    if isinstance(raw, Enum):
        return str(raw.value)
    return raw if isinstance(raw, str) and "\0" not in raw else _refuse(setting, raw)


READERS: dict[type[Any], Callable[[Setting, Any], Value]] = {
    bool: _read_choice,
    int: _read_whole,
    float: _read_number,
}


def _refuse(setting: Setting, raw: Any) -> NoReturn:
    wanted = {bool: _("yes or no"), int: _("a whole number"), float: _("a number")}
    sentence = _("“%(setting)s” is “%(value)s”; give %(wanted)s.")
    raise _wrong(setting, sentence, value=_short(raw), wanted=wanted.get(setting.type, _("a text")))


def _wrong(setting: Setting, sentence: str, **words: Any) -> SettingError:
    return SettingError(sentence, setting=SettingName(setting.name), **words)


def _short(value: Any) -> str:
    """What was given, as far as a sentence has room for it."""
    return Truncator(value).chars(_LONGEST_SHOWN)
