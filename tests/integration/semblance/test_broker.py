"""The embedded broker: messages are there whole or not at all."""

from pathlib import Path
from uuid import uuid4

import pytest
from kombu import Connection
from kombu.exceptions import EncodeError, OperationalError

import semblance.celery  # noqa: F401 - registers the transport
from semblance.broker import Transport


@pytest.fixture
def folder(tmp_path) -> Path:
    for name in ("messages", "control"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def name() -> str:
    """A queue of the test's own: kombu remembers, for the whole process, which queues it has made."""
    return uuid4().hex


def connection(folder: Path) -> Connection:
    options = {
        "data_folder_in": str(folder / "messages"),
        "data_folder_out": str(folder / "messages"),
        "control_folder": str(folder / "control"),
    }
    return Connection("filesystem://localhost", transport_options=options)


def test_messages_are_read_whole_and_in_the_order_they_were_sent(folder: Path, name: str) -> None:
    with connection(folder) as broker:
        queue = broker.SimpleQueue(name)
        for number in range(20):
            queue.put({"run": number})

        read = [queue.get(block=False).payload["run"] for _number in range(20)]

    assert read == list(range(20))


def test_a_message_that_cannot_be_written_leaves_nothing_for_a_worker_to_stumble_over(
    folder: Path, name: str
) -> None:
    with connection(folder) as broker:
        channel = broker.default_channel

        with pytest.raises((TypeError, EncodeError)):
            channel._put(name, {"run": object()})

    assert list((folder / "messages").iterdir()) == []


def test_a_folder_that_is_gone_is_an_error_of_the_broker(folder: Path, name: str) -> None:
    with connection(folder) as broker:
        queue = broker.SimpleQueue(name)
        (folder / "messages").rmdir()

        with pytest.raises(OperationalError, match="Cannot write"), broker._reraise_as_library_errors():
            queue.put({"run": 1})


def test_the_filesystem_transport_is_ours(folder: Path) -> None:
    with connection(folder) as broker:
        assert isinstance(broker.transport, Transport)
