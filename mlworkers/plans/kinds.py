"""All kinds of run, by their names: those of every folder in `mlworkers/kinds`."""

import pkgutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any

from django.utils.translation import gettext as _

from curation.files.writing import disk_is_full
from curation.foundation.errors import UserError
from mlworkers.plans.fields import SettingError
from mlworkers.plans.kind import MODEL_KINDS, QUEUES, Kind, Page
from mlworkers.plans.settings import listed, plan_read

__all__ = [
    "KINDS", "LONG", "MODEL_KINDS", "PAGES", "QUEUES", "UNLISTED", "Kind", "Page", "kind_named", "plan_errors_shown",
    "plan_from", "sentence_for_page",
]  # fmt: skip
# In this order lists show the families; others follow.
_FIRST = (
    "exchange", "generation", "realism", "encoders", "comparisons", "paraphrases", "contexts", "language", "judges",
)  # fmt: skip


def _kinds_found() -> Iterator[Kind]:
    """The kinds of each family. A family is a folder with a module `kinds` and its tuple KINDS."""
    folders = import_module("mlworkers.kinds").__path__
    families = [module.name for module in pkgutil.iter_modules(folders) if module.ispkg]
    for family in sorted(
        families, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)
    ):
        home = f"mlworkers.kinds.{family}"
        for kind in import_module(f"{home}.kinds").KINDS:
            yield replace(kind, home=home)


KINDS: dict[str, Kind] = {kind.name: kind for kind in _kinds_found()}
PAGES: dict[str, Page] = {kind.name: kind.page for kind in KINDS.values() if kind.page}
UNLISTED = [kind.name for kind in KINDS.values() if not kind.listed]
LONG = [kind.name for kind in KINDS.values() if kind.long]


def kind_named(name: str) -> Kind:
    """Raises ValueError with the kinds there are."""
    if name not in KINDS:
        sentence = _("There is no kind of run called “%(name)s”; the kinds are %(kinds)s.")
        raise ValueError(sentence % {"name": name, "kinds": listed(KINDS)})
    return KINDS[name]


def plan_from(kind: Kind, values: Mapping[str, Any]) -> Any:
    """The plan of that kind with those values. Raises ValueError with one sentence (see `plan_read`)."""
    return plan_read(kind.plan, kind.name, values)


def sentence_for_page(kind: Kind, error: Exception) -> str:
    """What is wrong, with the settings called as the kind's form calls them. Commands show str(error) instead."""
    if not isinstance(error, SettingError):
        return str(error)
    labels = {setting.name: setting.label for setting in kind.settings}
    return error.labelled({**labels, kind.name: f"“{kind.label}”"})


@contextmanager
def plan_errors_shown(kind: Kind, *, by_key: bool = False) -> Iterator[None]:
    """Turn what is wrong with a plan into a UserError. by_key: for a command, which calls settings by their keys."""
    try:
        yield
    except ValueError as error:
        # A library may hide a full disk behind its own error, for which the plan is not to blame.
        if disk_is_full(error):
            raise
        raise UserError(str(error) if by_key else sentence_for_page(kind, error)) from error
