"""The commands that the guide shows: parsers take them, and runs have the settings that they name."""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from mlworkers.management.commands.run import values_in
from mlworkers.plans.kinds import KINDS, plan_from
from semblance.guide.rendering import page_files

pytestmark = pytest.mark.django_db


def commands_shown(page: Path) -> Iterator[list[str]]:
    """The words of each line that begins with `semblance`, up to what a shell does with its output."""
    for line in re.findall(r"^ *semblance (.+)$", page.read_text("utf-8").replace("\\\n", ""), re.MULTILINE):
        yield list(
            takewhile(lambda word: word not in ("&", "|", ">", "2>"), shlex.split(line, comments=True))
        )


@pytest.mark.parametrize("page", [pytest.param(path, id=name) for name, path in page_files().items()])
def test_the_commands_of_a_page_are_taken_by_their_parsers(page) -> None:
    for name, *words in commands_shown(page):
        if name == "help":
            continue
        app = get_commands()[name]
        assert isinstance(app, str)
        parser = load_command_class(app, name).create_parser("semblance", name)
        given = parser.parse_args(words)
        if name == "run" and given.kind:
            kind = KINDS[given.kind]
            plan_from(kind, values_in(given.values))
