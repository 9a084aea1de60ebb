"""How the demonstration says where it is."""

import io

from rich.console import Console
from rich.progress import Progress

from semblance.management.commands.demo import stage


def test_a_stage_is_named_when_it_begins_where_no_bar_can_grow() -> None:
    log = io.StringIO()
    progress = Progress(console=Console(file=log, force_terminal=False))

    with stage(progress, "Importing pairs"):
        said_at_once = log.getvalue()

    assert said_at_once == "Importing pairs …\n"
