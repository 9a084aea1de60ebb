"""Markup, links and formulas in every text of the database, and how to find in an answer what came out of it alive."""

import csv
import io
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from django.apps import apps
from django.db import models
from django.utils.timezone import now

from annotation.models import Campaign, CrowdSubmission
from curation.models import ImportBatch, Pair
from tests.integration.semblance.objects_of_others import Others

# Names that code looks up, paths, sums, and what is compared byte for byte: nobody writes their texts.
OF_CODE = {
    "password", "slug", "language", "key", "token_digest", "digest", "beginning", "password_digest", "sha256", "path",
    "pairs_state", "message_id", "nonce", "mark", "token", "queue", "stage", "event", "kind", "action", "likeness",
    "origin", "external_id_parameter", "study_parameter", "submission_parameter", "method", "secret", "metric",
    "status_before", "to", "queues", "events", "order_shown", "certificate", "first", "asked",
    "against", "Instructions.name",
}  # fmt: skip
APPS = ("curation", "annotation", "mlworkers")
REPORT = {
    "rows": 1,
    "errors": [{"line": 2, "reason": "no pair", "row": "a"}],
    "warnings": ["a"],
    "guesses": [],
}
# What code reads of fields that hold more than a text.
STRUCTURES: dict[str, Any] = {
    "Guideline.examples": [{"pairs": [["a", "b"]] * 4, "best": 0, "worst": 1, "why": "because"}],
    "QuizQuestion.options": ["one", "two"],
    "PooledSentence.labels": {"label": "a"},
    "MachineJudge.parameters": {"model": "a"},
    "JudgementRevision.answer": {"best_slot": 0, "worst_slot": 1},
    "QuizResult.answers": {},
    "CampaignDesign.state": "failed",
    "Instructions.name": "mine",
    "PairChange.field": "split",
}
NOT_MADE = {
    "Mail",
    "ComposedPair",
    "BrowserSession",
}  # no page shows what was mailed; pairs composed by nobody knows which strategy
ADDRESSES = {"source_address", "url", "completion_address"}
SCRIPTED = "javascript:attack()"
# A formula at the start, after each sign that a spreadsheet may take for the end of a cell, and after quotation marks.
FORMULA = '=1;=2,=3\t=4|=5\n"=6;"=7'
SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def markup(mark: str) -> str:
    """Ends an attribute, an element and a comment, and then is an element that a reader finds."""
    return f"'\"></title></textarea></script>--><attack id={mark} onload=attack()>[x]({SCRIPTED}){{{{ 7|add:7 }}}}"


def texts_made_hostile(others: Others) -> None:
    """Give every kind of row at least one, and put a hostile text into each of their fields that holds one."""
    for kind, mapping in (("pairs", {}), ("sentences", {"columns": {}}), ("judgements", {})):
        facts = {
            "kind": kind,
            "file_name": "a.csv",
            "path": "a",
            "rejected": 1,
            "report": REPORT,
            "mapping": mapping,
        }
        ImportBatch.objects.create(dataset=others.dataset, **facts)
    Campaign.objects.update(factor=0.25)  # of one tuple of four pairs
    # After the end, a page leads back to the platform.
    CrowdSubmission.objects.update(outcome="completed", ended_at=now())
    every = [model for app in APPS for model in apps.get_app_config(app).get_models()]
    for model in every:
        if not model._base_manager.exists() and model.__name__ not in NOT_MADE:
            _row_made(model)
    for model in every:
        for field in model._meta.local_concrete_fields:
            of_text = isinstance(field, models.CharField | models.TextField | models.JSONField)
            if (
                of_text
                and not field.choices
                and OF_CODE.isdisjoint({field.name, f"{model.__name__}.{field.name}"})
            ):
                _row_by_row(model, field)


def _row_made(model: type[models.Model]) -> None:
    """A row that refers to the first one of each kind."""
    values: dict[str, Any] = {}
    for field in model._meta.local_concrete_fields:
        name = f"{model.__name__}.{field.name}"
        if field.is_relation and not field.null:
            values[field.name] = field.related_model._base_manager.order_by("pk").first()
        elif name in STRUCTURES:
            values[field.name] = STRUCTURES[name]
        elif name == "TupleBlock.tuples":
            values[field.name] = [[1, list(Pair.objects.values_list("pk", flat=True)[:4]), [0, 1, 2, 3]]]
        elif isinstance(field, models.JSONField) and not field.has_default():
            values[field.name] = []
        elif isinstance(field, models.DateField):  # a moment too
            values[field.name] = now()
        elif isinstance(field, models.UUIDField):
            values[field.name] = uuid4()
        elif isinstance(field, models.IntegerField | models.FloatField | models.BooleanField):
            values |= {} if field.has_default() or field.null else {field.name: 1}
    model._base_manager.create(**values)


def _row_by_row(model: type[models.Model], field: Any) -> None:
    name = f"{model.__name__}.{field.name}"
    for pk, value in list(model._base_manager.order_by("pk").values_list("pk", field.name)):
        if isinstance(field, models.JSONField):
            hostile: Any = _within(value, name)
        elif field.name in ADDRESSES:
            hostile = SCRIPTED
        elif value.isdigit():  # the number of something, which code reads
            continue
        else:
            hostile = _fitting(name, field.max_length, str(pk))
        model._base_manager.filter(pk=pk).update(**{field.name: hostile})


def _fitting(name: str, longest: int | None, end: str) -> str:
    text = FORMULA + markup(name)
    if longest and len(text) + len(end) > longest:
        text = f"=1{markup(name)}"
    if longest and len(text) + len(end) > longest:
        text = "=1;=2<attack x>"
    return text[: longest and longest - len(end)] + end


def _within(value: Any, name: str) -> Any:
    """The same with hostile texts for its own; nothing else becomes of it, because code reads it."""
    if isinstance(value, dict):
        return {key: _within(each, name) for key, each in value.items()}
    if isinstance(value, list):
        return [_within(each, name) for each in value]
    return FORMULA + markup(name) if isinstance(value, str) else value


class _Reader(HTMLParser):
    """A page as a browser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "attack":
            self.alive.append(f"<attack id={given.get('id')}>")
        for name, value in attrs:
            followed = name in {
                "href",
                "src",
                "action",
                "formaction",
                "xlink:href",
                "data",
                "hx-get",
                "hx-post",
            }
            if followed and (value or "").strip().lower().startswith(
                ("javascript:", "data:text/html", "vbscript:")
            ):
                self.alive.append(f"<{tag} {name}={value}>")
            if name.startswith("on") or "attack()" in name:
                self.alive.append(f"<{tag} {name}>")
            if followed and (value or "").startswith("data:"):
                kind, _comma, content = (value or "").partition(",")
                self.alive += formulas_in(unquote(content)) if "csv" in kind and "safe" in str(given) else []
                self.alive += alive_in(unquote(content)) if "svg" in kind else []


def alive_in(page: str) -> list[str]:
    """What of the hostile texts is an element, a script or a link in a page."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.alive


def formulas_in(table: str, delimiter: str = ",") -> list[str]:
    """The cells that a spreadsheet runs, by the delimiter of the file and by each that its language may have."""
    return sorted({cell[:40] for row in _rows_by_each(table, delimiter) for cell in row if _is_formula(cell)})


def _rows_by_each(table: str, delimiter: str) -> Iterator[list[str]]:
    for each in {delimiter, ",", ";", "\t", "|"}:
        yield from csv.reader(io.StringIO(table, newline=""), delimiter=each)


def _is_formula(cell: str) -> bool:
    number = cell.replace(",", ".").removeprefix("-").replace("e-", "").replace(".", "", 1).isdigit()
    return cell.startswith(SIGNS) and not number and cell != "-"
