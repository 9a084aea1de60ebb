import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.mlworkers.broker import InvitedRuns
from tests.integration.mlworkers.installation import (
    Installation,
    copied,
    installation_with_tables,
)
from tests.integration.mlworkers.long_runs import LONG, carry_out, number, prepare
from tests.integration.mlworkers.nursery import Nursery
from tests.ml.tiny import tiny_encoder
from tests.ml.tiny_translator import tiny_marian
from tests.template_databases import (
    database_make,
    database_of_its_own,
    file_copied,
    once,
    postgres_url,
    url_of,
)

ROWS = 2_000
UPLOAD = """
from django.conf import settings
from django.core.files import File
from curation.exchange.importing import ImportOptions
from curation.datasets.services import dataset_create
from curation.exchange.uploads import import_check, import_upload
with (settings.SEMBLANCE_HOME / "pairs.tsv").open("rb") as file:
    scenes = dataset_create(slug="scenes", name="Scenes")
    batch = import_upload(dataset=scenes, files=[File(file, "pairs.tsv")], by=None)
import_check(batch=batch, options=ImportOptions(scale=(0, 5)))
"""


@pytest.fixture
def queue() -> InvitedRuns:
    """The tests of a session share one broker: it is emptied first."""
    queue = InvitedRuns()
    queue.read()
    return queue


@pytest.fixture(scope="session")
def rows() -> list[tuple[str, str, float]]:
    return [(f"A dog runs past house {n}.", f"A cat sleeps on roof {n}.", n % 6) for n in range(ROWS)]


@pytest.fixture(scope="session")
def template(tmp_path_factory, rows, tables) -> Iterator[Installation]:
    """An installation with an upload that waits to be imported."""
    home = tmp_path_factory.mktemp("template")
    lines = ["sentence1\tsentence2\tscore", *(f"{a}\t{b}\t{score}" for a, b, score in rows)]
    (home / "pairs.tsv").write_text("\n".join(lines))
    with installation_with_tables(home, f"semblance_template_{os.getpid()}", tables) as made:
        made.manage("shell", "-v", "0", given=UPLOAD)
        yield made


@pytest.fixture
def installation(tmp_path, template) -> Iterator[Callable[[str], Installation]]:
    """Makes a copy of the template, whose messages go through the named broker."""
    with ExitStack() as stack:

        def make(broker: str) -> Installation:
            name = template.database_url.rpartition("/")[2]
            database = stack.enter_context(
                database_of_its_own(f"semblance_copy_{os.getpid()}", template=name)
            )
            return Installation(copied(template.home, tmp_path / "installation"), database, broker)

        yield make


@dataclass(frozen=True)
class Undisturbed:
    """An installation in which every long run was carried out by a worker that lived, and how each ended."""

    installed: Installation
    made: dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(scope="session")
def undisturbed(request, tmp_path_factory, tables, shared) -> Undisturbed:
    """Made once in a test run: it takes a minute or two."""

    def make() -> tuple[str, str, dict[str, dict[str, Any]]]:
        home = shared / "undisturbed files"  # those of a process go with it
        home.mkdir(exist_ok=True)
        url = ""
        if postgres_url():
            url = url_of(database_make(shared, f"semblance_long_{os.getpid()}", template=tables))
        else:
            file_copied(tables, home / "semblance.sqlite3")
        installed = Installation(home, url)
        translators = tmp_path_factory.mktemp("translators")
        tiny_marian(translators / "there")
        tiny_marian(translators / "back", "de", "en", seed=6)
        prepare(installed, tiny_encoder(tmp_path_factory.mktemp("models")), translators)
        with request.getfixturevalue("nursery").worker(installed):
            made = {long.name: carry_out(installed, number(long.name)) for long in LONG}
        failed = {name: told["message"] for name, told in made.items() if told["state"] != "succeeded"}
        assert not failed
        return str(home), url, made

    home, url, made = once(shared, "undisturbed", make)
    return Undisturbed(Installation(Path(home), url), made)
