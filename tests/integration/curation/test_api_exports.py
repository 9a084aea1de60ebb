"""The export of a dataset to a program: sent while it is written, by a real web server where that matters."""

import http.client
import io
import os
import shutil
import socket
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from curation.datasets.rows import rows_add
from curation.exchange.exporting import pairs_export, pairs_stream
from curation.files.tables import FORMATS
from curation.models import Pair
from tests.factories import SentenceFactory, token_of

PATIENCE = 60.0  # seconds; a machine may be busy


def many_pairs(dataset, count: int, *, characters: int) -> None:
    """Pairs of two long sentences, which all share."""
    a, b = (SentenceFactory(dataset=dataset, text=letter * characters) for letter in "ab")
    shared = {"dataset_id": dataset.pk, "a_id": a.pk, "b_id": b.pk}
    rows_add(Pair, shared=shared, columns=["external_id"], rows=[(f"pair-{row}",) for row in range(count)])


@pytest.mark.django_db
@pytest.mark.parametrize("format_", FORMATS)
def test_what_is_sent_is_the_file_that_a_run_writes(
    dataset, curator, client_of, fill, tmp_path, format_
) -> None:
    fill(5)
    pairs_export(dataset=dataset, path=tmp_path / "pairs", format=format_)

    answer = client_of(curator).get(f"/api/v1/datasets/{dataset.slug}/export/?format={format_}")

    assert answer.streaming
    assert b"".join(answer.streaming_content) == (tmp_path / "pairs").read_bytes()
    assert answer["Export-Rows"] == "5"
    assert answer["Content-Disposition"] == f'attachment; filename="{dataset.slug}.{format_}"'


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["format=xls", "score_set=nobody", "sorce=news"])
def test_what_a_person_can_mend_is_refused_before_the_first_byte(dataset, curator, client_of, query) -> None:
    answer = client_of(curator).get(f"/api/v1/datasets/{dataset.slug}/export/?{query}")

    assert answer.status_code == 400
    assert not answer.streaming


@pytest.mark.django_db
def test_of_a_large_dataset_a_part_is_in_memory_at_a_time(dataset) -> None:
    many_pairs(dataset, 10_000, characters=1_000)
    tracemalloc.start()

    sent = sum(map(len, pairs_stream(dataset=dataset, format="csv").blocks))

    _now, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sent > 20_000_000
    assert most < 15_000_000


@pytest.mark.django_db
def test_no_query_is_open_while_a_part_is_sent(dataset) -> None:
    """A reader that takes an hour must keep neither a transaction nor a cursor open for an hour."""
    many_pairs(dataset, 3_000, characters=100)
    blocks = iter(pairs_stream(dataset=dataset, format="csv").blocks)

    next(blocks)
    Pair.objects.filter(external_id="pair-100").update(source="changed")
    rest = b"".join(blocks)

    assert b"changed" not in rest


@dataclass
class Served:
    """A web server, and what it wrote into its log since this test began."""

    address: tuple[str, int]
    log: Path
    before: int = 0

    @property
    def told(self) -> str:
        return self.log.read_bytes()[self.before :].decode()


@pytest.fixture(scope="module")
def server(django_db_setup, tmp_path_factory) -> Iterator[Served]:
    """The web server as `serve` starts it, on the database of the tests."""
    name, url = str(connection.settings_dict["NAME"]), os.environ.get("DATABASE_URL", "")
    url = (
        f"sqlite:///{name}"
        if connection.vendor == "sqlite"
        else urlsplit(url)._replace(path=f"/{name}").geturl()
    )
    home = tmp_path_factory.mktemp("served")
    environment = {**os.environ, "SEMBLANCE_HOME": str(home), "DATABASE_URL": url, "REDIS_URL": ""}
    environment |= {"SECRET_KEY": "tests-only", "ALLOWED_HOSTS": "127.0.0.1", "HTTPS": "false"}
    with socket.create_server(("127.0.0.1", 0)) as listener, (home / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "semblance.wsgi:application", "--workers", "1"),
                *("--config", "python:semblance.serving.web_server", "--bind", f"fd://{listener.fileno()}"),
            ],
            cwd=settings.BASE_DIR,
            env=environment,
            pass_fds=[listener.fileno()],
            stderr=log,
        )
        try:
            yield Served(listener.getsockname(), home / "log.txt")
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture
def served(server, curator) -> Served:
    """The server of all these tests, for one of them."""
    return replace(server, before=server.log.stat().st_size)


@contextmanager
def asked(
    served: Served,
    slug: str,
    user,
    *,
    method: str = "GET",
    version: str = "1.1",
    format_: str = "csv",
) -> Iterator[http.client.HTTPResponse]:
    """The beginning of the server's answer, whose body nobody has read."""
    with closing(http.client.HTTPConnection(*served.address, timeout=PATIENCE)) as client:
        client._http_vsn_str = f"HTTP/{version}"
        client.sock = socket.socket()
        # Little is on its way, so that the server cannot be far ahead of the reader.
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sock.settimeout(PATIENCE)
        client.sock.connect(served.address)
        token = {"Authorization": f"Token {token_of(user)}"}
        client.request(method, f"/api/v1/datasets/{slug}/export/?format={format_}", headers=token)
        with client.getresponse() as answer:
            yield answer


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("format_", ["csv", "jsonl"])
def test_a_program_sees_an_error_where_an_export_fails_in_the_middle(
    served, dataset, curator, format_
) -> None:
    many_pairs(dataset, 8_000, characters=2_000)
    with asked(served, dataset.slug, curator, format_=format_) as answer:
        beginning = answer.read(1000)
        Pair.objects.filter(external_id="pair-7999").delete()
        with pytest.raises(http.client.IncompleteRead):
            shutil.copyfileobj(answer, io.BytesIO())

    assert (answer.status, answer.headers["Export-Rows"], len(beginning)) == (200, "8000", 1000)
    assert "1 of the pairs were deleted" in served.told


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_whole_export_has_an_end_and_an_old_client_gets_its_length(served, dataset, curator) -> None:
    many_pairs(dataset, 3_000, characters=10)

    with asked(served, dataset.slug, curator) as new:
        whole = new.read()
    with asked(served, dataset.slug, curator, version="1.0") as old:
        same = old.read()

    assert whole == same
    assert whole.count(b"\n") == 3_001
    assert (new.headers["Transfer-Encoding"], new.headers["Content-Length"]) == ("chunked", None)
    assert int(old.headers["Content-Length"]) == len(whole)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_who_asks_for_the_head_alone_has_nothing_written(served, dataset, curator) -> None:
    many_pairs(dataset, 10, characters=10)

    with asked(served, dataset.slug, curator, method="HEAD") as answer:
        assert answer.read() == b""

    assert answer.headers["Export-Rows"] == "10"
    assert "body bytes" not in served.told  # gunicorn complains of bytes that it has to drop
