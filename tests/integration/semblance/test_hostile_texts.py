"""Nobody's text becomes markup in a page or a formula in a file, whichever field of whichever row holds it.

Every field of text in the database holds an element, a script, a link and formulas; then a walk through the resolver
asks for every page and every file.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from curation.exchange.uploads import import_errors_file
from curation.files.tables import csv_lines
from curation.models import ImportBatch
from tests.factories import ScoreSetFactory
from tests.integration.semblance.every_address import ALL, PARTS, Address, answered, part_of, path_of
from tests.integration.semblance.hostile_texts import FORMULA, alive_in, formulas_in, texts_made_hostile
from tests.integration.semblance.objects_of_others import Others

pytestmark = [pytest.mark.django_db, pytest.mark.exhaustive]
TABLES = {"text/csv": ",", "text/tab-separated-values": "\t", ".csv": ",", ".tsv": "\t"}
# Each address of a table, by the name of the address; that of the bundle has a test of its own, of every file in it.
FILES = {
    "api_export", "api_import_rejected", "api_judgements", "api_log_file", "api_sentences_rejected", "artifact-file",
    "artifact_download", "audit_file", "augmentations_csv", "comparison_csv", "context_curves_csv", "corpora_csv",
    "cross_validation_csv", "crowd_hours", "duplicates_file", "import_errors", "judgement_import_errors",
    "judgements_file", "language_csv", "paraphrase_corpora_csv", "pre_fine_tuning_csv", "ratings_csv",
    "relatedness_csv", "requested_csv", "score_differences", "sentences_errors", "slider_ratings", "snapshot_changes",
    "verdict_figures_csv", "verdict_kept_csv", "verdict_rejected_csv",
}  # fmt: skip
MARKUP = ("html", "svg", "xml")
# The names of HTML in answers of JSON (`tests/architecture/test_templates.py`), and addresses that have some.
FRAGMENTS = {"html", "answered", "figures"}
JSON_SCRIPT = re.compile(r'<script id="\w+" type="application/json">(.*?)</script>', re.DOTALL)
SCREENS = {
    "datasets/": set(),
    "campaigns/": {"judge_screen", "practice", "campaign_preview", "norming_screen"},
}


class Readers:
    """Who reads an address. The owner of a dataset sees all of it, and the annotator and the curator judge and rate."""

    def __init__(self, others: Others) -> None:
        self._handler = Client().handler  # one site, which loads its middleware once
        self._others = others
        self._clients: dict[str, Client] = {}

    def of(self, address: Address) -> Iterator[tuple[str, Client]]:
        names = ("owner",) if "<" in address.route else ("owner", "superuser", "anonymous")
        if address.route.startswith("admin/"):
            names = ("superuser",)
        elif address.route.startswith("campaigns/"):
            names = ("owner", "annotator", "curator", "crowd")
        return ((name, self._client(name)) for name in names)

    def _client(self, name: str) -> Client:
        if name not in self._clients:
            self._clients[name] = client = Client()
            client.handler = self._handler
            if name != "anonymous":
                crowd = self._others.crowd_person.participation.user  # somebody whom a platform sent
                client.force_login(crowd if name == "crowd" else self._others.people[name])
        return self._clients[name]


@pytest.fixture
def others(home) -> Others:
    others = Others()
    texts_made_hostile(others)
    table = "".join(csv_lines([["=1", FORMULA], ["1;=1", FORMULA]]))
    (home / "a").write_text("sentence1,sentence2\none,two\n")
    for batch in ImportBatch.objects.all():
        path = import_errors_file(batch)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(table)
    others.model.path = f"runs/{others.model.run_id}/1/table.csv"
    others.model.save()
    path = home / others.model.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table)
    for scores in (others.scores, ScoreSetFactory(dataset=others.dataset, name=FORMULA)):
        scores.scores.create(pair=others.pair, value=0.5)
    return others


@pytest.fixture
def readers(others) -> Readers:
    return Readers(others)


def content_of(answer: HttpResponse) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def tables_in(answer: HttpResponse) -> Iterator[tuple[str, str]]:
    """The delimiter and the text of each table that is the answer or in its zip."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0]
    if kind == "application/zip":
        archive = zipfile.ZipFile(io.BytesIO(content_of(answer)))
        for name in archive.namelist():
            if Path(name).suffix in TABLES:
                yield TABLES[Path(name).suffix], archive.read(name).decode()
    elif kind in TABLES:
        yield TABLES[kind], content_of(answer).decode()


def json_in(answer: HttpResponse) -> Iterator[object]:
    """The JSON that is the answer, or stands in its page for a script."""
    kind = answer.headers.get("Content-Type", "")
    if kind.startswith("application/json"):
        yield json.loads(content_of(answer))
    elif kind.startswith("text/html"):
        yield from map(json.loads, JSON_SCRIPT.findall(content_of(answer).decode()))


def fragments_in(values: object) -> Iterator[str]:
    """The HTML in an answer of JSON, which the scripts of the site make elements of."""
    if isinstance(values, list):
        for each in values:
            yield from fragments_in(each)
    elif isinstance(values, dict):
        for name, value in values.items():
            if name in FRAGMENTS and isinstance(value, str):
                yield value
            else:
                yield from fragments_in(value)


@pytest.mark.parametrize("part", SCREENS)
def test_no_text_is_markup_in_what_scripts_make_elements_of(others, readers, part: str) -> None:
    alive: dict[str, list[str]] = {}
    names: set[str] = set()
    for address in (each for each in ALL if part_of(each) == part):
        path = path_of(address, others)
        for name, client in readers.of(address):
            with answered(client, "GET", path) as answer:
                for fragment in (each for values in json_in(answer) for each in fragments_in(values)):
                    names.add(address.name)
                    if found := alive_in(fragment):
                        alive[f"{name} {path}"] = found

    assert alive == {}
    assert names >= SCREENS[part]


@pytest.mark.parametrize("part", PARTS)
def test_no_text_is_markup_in_a_page(others, readers, part: str) -> None:
    alive: dict[str, list[str]] = {}
    pages = 0
    for address in (each for each in ALL if part_of(each) == part):
        path = path_of(address, others)
        for name, client in readers.of(address):
            with answered(client, "GET", path) as answer:
                if any(each in answer.headers.get("Content-Type", "") for each in MARKUP):
                    pages += answer.status_code == 200
                    if found := alive_in(content_of(answer).decode()):
                        alive[f"{name} {path}"] = found

    assert alive == {}
    assert pages > 3 or part == "api/"


@pytest.mark.exhaustive
def test_no_text_is_a_formula_in_a_file_for_spreadsheets(others, readers) -> None:
    found: dict[str, list[str]] = {}
    files: list[str] = []
    for address in ALL:
        path = path_of(address, others)
        for name, client in readers.of(address):
            with answered(client, "GET", f"{path}?spreadsheet=1") as answer:
                for delimiter, table in tables_in(answer):
                    files.append(address.name)
                    if cells := formulas_in(table, delimiter):
                        found[f"{name} {path}"] = cells

    assert found == {}
    assert set(files) >= FILES
