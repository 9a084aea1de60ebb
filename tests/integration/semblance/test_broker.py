"""The embedded broker: messages are there whole or not at all."""

from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings
from kombu import Connection, Exchange, Queue
from kombu.exceptions import EncodeError, OperationalError

import semblance.celery  # noqa: F401 - registers the transport
from mlworkers.plans.kinds import QUEUES
from semblance.broker import IN_ORDER, RedisOrder, Transport, in_order


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


def first_read(broker: Connection, name: str) -> list[str]:
    """The queues in the order in which a worker of all of them reads messages that were sent in the other order."""
    queues = {short: Queue(short, Exchange(f"{name}-{short}"), f"{name}-{short}") for short in IN_ORDER}
    read = []

    def take(body: dict[str, str], message) -> None:
        read.append(body["queue"])
        message.ack()

    for short in reversed(IN_ORDER):
        for _twice in range(2):
            broker.Producer().publish(
                {"queue": short},
                exchange=queues[short].exchange,
                routing_key=queues[short].routing_key,
                declare=[queues[short]],
            )
    with broker.Consumer(
        [queues[short] for short in ("gpu", "playground", "default")], callbacks=[take]
    ) as one:
        one.qos(prefetch_count=1)
        for _message in range(2 * len(IN_ORDER)):
            broker.drain_events(timeout=10)
    return read


TWICE_EACH = ["playground", "playground", "default", "default", "gpu", "gpu"]


def test_a_worker_of_all_queues_reads_what_people_wait_for_first(folder: Path, name: str) -> None:
    with connection(folder) as broker:
        assert first_read(broker, name) == TWICE_EACH


@pytest.mark.redis
def test_a_worker_of_all_queues_reads_what_people_wait_for_first_with_redis_too(name: str) -> None:
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, "global_keyprefix": f"{name}:"}
    with Connection(settings.CELERY_BROKER_URL, transport_options=options) as broker:
        assert first_read(broker, name) == TWICE_EACH


def test_every_queue_has_its_place_in_the_order_and_others_come_last() -> None:
    assert set(IN_ORDER) == set(QUEUES)
    assert in_order(["z", "gpu", "a", "default"]) == ["default", "gpu", "a", "z"]
    assert RedisOrder(["gpu", "default"]).consume(1) == ["default"]
