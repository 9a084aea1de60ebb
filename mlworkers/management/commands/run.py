"""`semblance run KIND key=value …`: start a run from a shell, with the plans and workers of the pages."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.foundation.command import Command as BaseCommand
from curation.foundation.database import database_ready
from curation.foundation.errors import UserError
from mlworkers.management.waiting import outcome_of, run_awaited, say_what_it_waits_for
from mlworkers.pipelines.estimating import run_estimate
from mlworkers.plans.kinds import KINDS, Kind, plan_from
from mlworkers.plans.settings import Setting
from mlworkers.runs.services import run_start


class Command(BaseCommand):
    help = "Start a run. `run --list` prints every kind of run with its settings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", nargs="?", help="The kind of run.")
        parser.add_argument("values", nargs="*", metavar="key=value", help="The settings of the run.")
        parser.add_argument(
            "--plan",
            type=Path,
            metavar="FILE.json",
            help="A JSON file with settings, which key=value overrides.",
        )
        parser.add_argument(
            "--wait", action="store_true", help="Wait until the run has ended, and print its outcome."
        )
        parser.add_argument("--list", action="store_true", help="Print every kind of run with its settings.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            text: list[str] = []
            for kind in KINDS.values():
                text.append(f"{kind.name}: {kind.description} ({_('queue')} {kind.queue})")
                text += [*(f"  {line(setting)}" for setting in kind.settings), ""]
            self.answer({name: listed(kind) for name, kind in KINDS.items()}, *text, as_json=options["json"])
            return
        if not options["kind"]:
            self.fail(_("No kind of run was given; `semblance run --list` prints those there are."))
        database_ready()
        plan = {**plan_in(options["plan"]), **values_in(options["values"])}
        run = run_start(kind=options["kind"], plan=plan, by=None, by_key=True)
        self.stderr.write(_("Run %(number)s is queued.") % {"number": run.pk})
        kind = KINDS[run.kind]
        if kind.estimated and run.dataset is not None:
            for sentence in run_estimate(kind, plan_from(kind, run.plan), run.dataset).lines:
                self.stderr.write(sentence)
        say_what_it_waits_for(run, self.stderr.write)
        if options["wait"]:
            run_awaited(run, self.stderr.write)
        files = [artifact.path for artifact in run.artifacts.order_by("pk")]
        figures = {name: getattr(run, name) for name in ("kind", "state", "message", "result")}
        self.answer(
            {"run": run.pk, **figures, "files": files},
            outcome_of(run),
            *files,
            as_json=options["json"],
        )


def plan_in(path: Path | None) -> dict[str, Any]:
    """The plan in a JSON file. Raises UserError for one that is not an object."""
    if path is None:
        return {}
    try:
        plan = json_from(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(_("%(path)s cannot be read as JSON: %(error)s"), path=path, error=error) from error
    if not isinstance(plan, dict):
        raise UserError(_("%(path)s holds no plan; give an object of settings."), path=path)
    return plan


def values_in(texts: Sequence[str]) -> dict[str, str]:
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(_("“%(text)s” is not a setting; write key=value."), text=text)
        values[name] = value
    return values


def line(setting: Setting) -> str:
    """A setting, for reading."""
    ends = ["" if end is None else f"{end:.12g}" for end in (setting.low, setting.high)]
    facts = [
        setting.type_name,
        _("required") if setting.required else json.dumps(shown(setting.default)),
        "..".join(ends) if any(ends) else "",  # such as 1..100; an end that is open stays empty
        str(setting.unit),
        "|".join(setting.choices),
        f"{setting.refers_to} ({'|'.join(setting.kinds)})" if setting.kinds else setting.refers_to,
        str(setting.source),
    ]
    # A run's page and its messages call the setting by its label.
    return f"{setting.name}  {'  '.join(filter(None, facts))}  {setting.label}: {setting.help}"


def listed(kind: Kind) -> dict[str, Any]:
    """A kind of run and its plan, for programs."""
    return {
        "queue": kind.queue,
        "plan": {
            setting.name: {
                "label": str(setting.label),
                "type": setting.type_name,
                "required": setting.required,
                "default": shown(setting.default),
                "unit": str(setting.unit),
                "source": str(setting.source),
                "choices": list(setting.choices),
                "low": setting.low,
                "high": setting.high,
                "refers_to": setting.refers_to,
                "kinds": list(setting.kinds),
                "help": str(setting.help),
            }
            for setting in kind.settings
        },
    }


def shown(default: Any) -> Any:
    return getattr(default, "value", default)
