"""`semblance doctor`: whether this installation has what it needs, and what to do where it has not."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.command import Command as BaseCommand
from semblance.doctor import State, findings, problems_of


class Command(BaseCommand):
    help = (
        "Check settings, disk, database, migrations, Redis, workers, clocks and files, and say what to do. "
        "Exit status 2 if there is a problem; warnings alone are 0."
    )

    def handle(self, **options: Any) -> None:
        found = findings()
        marks = {State.GOOD: _("good"), State.WARNING: _("warning"), State.PROBLEM: _("PROBLEM")}
        width = max(len(finding.name) for finding in found)
        lines = [f"{finding.name:{width}}  {marks[finding.state]:8} {finding.sentence}" for finding in found]
        problems, warnings = (problems_of(found, state) for state in (State.PROBLEM, State.WARNING))
        figures = {
            "checks": [finding._asdict() for finding in found],
            "problems": problems,
            "warnings": warnings,
        }
        self.answer(figures, *lines, as_json=options["json"])
        if problems:
            self.fail(
                ngettext(
                    "%(n)s problem was found; the lines marked PROBLEM say what to do.",
                    "%(n)s problems were found; the lines marked PROBLEM say what to do.",
                    problems,
                )
                % {"n": problems}
            )
