"""Importing by a program: a file as the body of a request, a check, the import, and what is refused."""

import csv
import io
import tracemalloc
from collections.abc import Callable

import pytest
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from curation.exchange import uploads
from curation.exchange.importing import AT_ONCE_ROWS
from curation.exchange.receiving import BodyFile
from curation.exchange.uploads import import_bytes
from curation.foundation.errors import UserError
from curation.models import AuditEntry, ImportBatch, Pair
from tests.factories import DatasetFactory, MembershipFactory, client_of, program_of, token_of

pytestmark = pytest.mark.django_db

FILE = b"sentence1,sentence2,score,split\nA dog runs.,A cat sleeps.,1.5,train\nIt rains.,It pours.,4,test\n"


@pytest.fixture
def address(dataset) -> str:
    return f"/api/v1/datasets/{dataset.slug}/imports/"


@pytest.fixture
def client(curator) -> Client:
    """A program with the curator's token, which no page would let in."""
    return program_of(curator)


@pytest.fixture
def send(client, address) -> Callable[..., tuple[int, dict]]:
    def send(body: bytes = FILE, name: str = "news.csv", **more: str):
        kind = more.pop("content_type", "text/csv")
        answer = client.generic("POST", f"{address}?filename={name}", body, kind, **more)
        return answer.status_code, answer.json()

    return send


@pytest.fixture
def step(client, address) -> Callable[..., tuple[int, dict]]:
    """`step(batch, "check", score_set="human")` takes the next step of an import."""

    def take(batch: dict, which: str, **body: object):
        answer = client.post(f"{address}{batch['id']}/{which}/", body, content_type="application/json")
        return answer.status_code, answer.json()

    return take


def test_a_file_is_sent_checked_and_imported(send, step, dataset, curator) -> None:
    status, sent = send()
    assert status == 201
    assert sent["preview"]["columns"] == ["sentence1", "sentence2", "score", "split"]
    assert sent["preview"]["guess"]["score"] == "score"
    assert not Pair.objects.exists()

    _status, checked = step(sent, "check", score_set="people")
    assert checked["checked"] is True
    assert (checked["rows"], checked["added"], checked["as_run"]) == (2, 2, None)
    assert not Pair.objects.exists()

    status, done = step(sent, "apply")

    assert (status, done["state"], done["added"], done["preview"]) == (200, "done", 2, None)
    pairs = dataset.pairs.order_by("pk")
    assert [(pair.a.text, pair.source, pair.split) for pair in pairs] == [
        ("A dog runs.", "news", "train"),
        ("It rains.", "news", "test"),
    ]
    assert [score.value for score in dataset.score_sets.get(name="people").scores.order_by("pair")] == [
        1.5,
        4,
    ]
    entry = AuditEntry.objects.get(dataset=dataset)
    assert (entry.by, entry.via, entry.token) == (curator, "token", curator.api_tokens.get().beginning)


def test_importing_again_says_what_would_change_and_changes_that(send, step, dataset) -> None:
    _status, first = send()
    step(first, "check")
    step(first, "apply")
    _status, again = send(FILE.replace(b"test", b"dev"))

    _status, checked = step(again, "check")
    step(again, "apply")

    assert (checked["added"], checked["updated"], checked["unchanged"]) == (0, 1, 1)
    assert [(row["old"], row["new"]) for row in checked["report"]["changed"]] == [("test", "dev")]
    assert sorted(dataset.pairs.values_list("split", flat=True)) == ["dev", "train"]


def test_rejected_rows_come_as_a_file(send, step, client) -> None:
    _status, sent = send(FILE + b"Alone.,,3,train\n")
    _status, checked = step(sent, "check")

    answer = client.get(checked["rejected_rows"], headers={"accept": "text/csv"})
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))

    assert checked["rejected"] == 1
    assert [(row["line"], row["sentence1"]) for row in rows] == [("4", "Alone.")]


def test_a_file_without_a_good_row_says_why(send, step) -> None:
    _status, sent = send(b"sentence1,sentence2\nAlone.,\n")

    _status, checked = step(sent, "check")
    status, refused = step(sent, "apply")

    assert "cannot be imported. Line 2" in checked["problem"]
    assert (status, refused["detail"]) == (400, checked["problem"])


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"a": "nothing"}, "a", "not one of the available choices"),
        ({"low": 1}, "high", "Give both ends of the scale"),
        ({"colour": "red"}, "colour", "no such parameter"),
        ({"a": ["x"]}, "a", "Give a text"),
        ({"rejected_rows": "some"}, "rejected_rows", "not one of the available choices"),
    ],
)
def test_choices_that_make_no_sense_are_refused_by_name(send, step, body, field, sentence) -> None:
    _status, sent = send()

    status, answer = step(sent, "check", **body)

    assert status == 400
    assert sentence in answer[field][0]


def test_an_unchecked_file_is_not_imported(send, step) -> None:
    _status, sent = send()

    status, answer = step(sent, "apply")

    assert status == 400
    assert "columns were not checked" in answer["detail"]


def test_a_large_file_names_the_run_that_goes_on(send, step, dataset, monkeypatch) -> None:
    monkeypatch.setattr(uploads, "CHECK_AT_ONCE_BYTES", 10)
    _status, sent = send()

    _status, checked = step(sent, "check")

    plan = {"dataset": dataset.slug, "batch": sent["id"]}
    assert checked["as_run"] == {"kind": "check_import", "plan": plan}
    ImportBatch.objects.update(rows=AT_ONCE_ROWS + 1, report={"rows": AT_ONCE_ROWS + 1})
    status, refused = step(sent, "apply")
    assert (status, "Start a run" in refused["detail"]) == (400, True)


def test_an_upload_is_discarded(send, client, address) -> None:
    _status, sent = send()

    assert client.delete(f"{address}{sent['id']}/").status_code == 204
    assert not ImportBatch.objects.exists()


@pytest.mark.parametrize(
    ("body", "more", "status", "sentence"),
    [
        (b"", {"CONTENT_LENGTH": "0"}, 400, "The file is empty"),
        (b"x" * 2000, {}, 413, "larger than 1000"),
        (b"--x--", {"content_type": "multipart/form-data; boundary=x"}, 415, "Send the file itself"),
        (b"x", {"CONTENT_LENGTH": ""}, 411, "length of the file is missing"),
    ],
)
def test_a_body_that_is_no_whole_file_is_refused_and_not_kept(
    send, home, settings, body, more, status, sentence
) -> None:
    settings.UPLOAD_MAX_BYTES = 1000

    answer = send(body, **more)

    assert answer[0] == status
    assert sentence in answer[1]["detail"]
    assert not ImportBatch.objects.exists()
    assert [path for path in (home / "imports").rglob("*") if path.is_file()] == []


def test_a_file_that_does_not_arrive_whole_is_not_kept(dataset, curator, home) -> None:
    request = RequestFactory().generic("POST", "/", b"a,b\nx,y\n", "text/csv")
    request.META["CONTENT_LENGTH"] = "9000"

    with pytest.raises(UserError, match="did not arrive whole"):
        uploads.import_upload(dataset=dataset, files=[HangingUp(request, "pairs.csv")], by=curator)

    assert not ImportBatch.objects.exists()
    assert [path for path in (home / "imports").rglob("*") if path.is_file()] == []


class HangingUp(BodyFile):
    """Its sender hangs up after the first block."""

    def __init__(self, request: HttpRequest, name: str) -> None:
        super().__init__(request, name)
        blocks = iter([b"a,b\n", b""])
        self._request.read = lambda size: next(blocks)  # type: ignore[method-assign]


def test_the_name_of_the_file_is_needed(client, address) -> None:
    answer = client.post(address, FILE, content_type="text/csv")

    assert answer.status_code == 400
    assert list(answer.json()) == ["filename"]


STEPS = [("get", ""), ("post", ""), ("get", "{batch}/"), ("post", "{batch}/check/"), ("post", "{batch}/apply/"),
         ("get", "{batch}/rejected/"), ("delete", "{batch}/")]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), STEPS)
def test_imports_are_for_those_who_may_curate(method, path, dataset, send, step, address, request) -> None:
    _status, sent = send(FILE + b"Alone.,,3,train\n")
    step(sent, "check")
    asked = address + path.format(batch=sent["id"]) + ("?filename=x.csv" if not path else "")
    refused = {"annotator": 403, "stranger": 404, "staff": 403}

    answers = {}
    for who in (*refused, "owner"):
        client = client_of(request.getfixturevalue(who))
        kind = "text/csv" if not path else "application/json"
        body = FILE if not path else b"{}"
        answer = client.generic(method.upper(), asked, body, kind)
        answers[who] = answer.status_code
        for (
            close
        ) in answer._resource_closers:  # without the signal of close(), which would close the database
            close()

    assert answers.pop("owner") in {200, 201, 204}
    assert answers == refused


def test_an_import_of_another_dataset_is_not_found(send, client, curator) -> None:
    _status, sent = send()
    other = DatasetFactory()
    MembershipFactory(dataset=other, user=curator, role="owner")

    for which in ("", "check/", "apply/", "rejected/"):
        path = f"/api/v1/datasets/{other.slug}/imports/{sent['id']}/{which}"
        answer = client.post(path) if which in {"check/", "apply/"} else client.get(path)
        assert answer.status_code == 404
    assert client.delete(f"/api/v1/datasets/{other.slug}/imports/{sent['id']}/").status_code == 404
    assert ImportBatch.objects.exists()


def test_an_archived_dataset_takes_no_file(send, dataset) -> None:
    type(dataset).objects.update(archived=True)

    status, answer = send()

    assert status == 403
    assert "is archived" in answer["detail"]


class Arriving(io.RawIOBase):
    """A body of so many bytes that nobody holds: rows of two sentences, made when they are read."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, most: int = -1) -> bytes:
        size = self.left if most < 0 else min(most, self.left)
        self.left -= size
        return (b"A dog runs along the fence.,A cat sleeps on the wall.\n" * (size // 54 + 1))[:size]


def test_of_a_large_file_a_part_is_in_memory_at_a_time(dataset, curator) -> None:
    handler = WSGIHandler()  # every middleware, and no signals, which would close the database
    path = f"/api/v1/datasets/{dataset.slug}/imports/?filename=pairs.csv"
    token = token_of(curator)

    def send(size: int) -> HttpResponse:
        environ = RequestFactory().generic("POST", path).environ
        environ |= {"HTTP_AUTHORIZATION": f"Token {token}", "CONTENT_TYPE": "text/csv"}
        return handler.get_response(
            WSGIRequest(environ | {"CONTENT_LENGTH": str(size), "wsgi.input": Arriving(size)})
        )

    send(1_000)  # loads what the first request loads
    tracemalloc.start()
    answer = send(50_000_000)
    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (answer.status_code, import_bytes(dataset.imports.latest("pk"))) == (201, 50_000_000)
    assert most < 30_000_000


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("%7D", "file"),
        (".part.csv", "file.part.csv"),
        ("%F0%9F%90%95.csv", "file.csv"),
        ("..", "file"),
        ("/", "file"),
        ("a%5C", "a"),
    ],
)
def test_a_name_that_no_file_can_have_gets_another(send, name, kept) -> None:
    status, sent = send(name=name)

    assert (status, sent["file_name"]) == (201, kept)


def test_a_mark_of_byte_order_alone_is_an_empty_file(send) -> None:
    status, answer = send(b"\xef\xbb\xbf\n")

    assert status == 400
    assert "news.csv is empty" in answer["detail"]
    assert not ImportBatch.objects.exists()


def test_a_cell_of_lists_in_lists_rejects_its_row(send, step) -> None:
    deep = b'{"sentence1": ' + b"[" * 900 + b"]" * 900 + b', "sentence2": "B."}\n'
    _status, sent = send(b'{"sentence1": "A.", "sentence2": "B."}\n' + deep, name="news.jsonl")

    status, checked = step(sent, "check")

    assert (status, checked["added"], checked["rejected"]) == (200, 1, 1)
    assert "nested too deeply" in checked["report"]["errors"][0]["reason"]
