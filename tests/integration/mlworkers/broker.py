"""What tests do with the message broker: read it, and take it away."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from curation.foundation.heartbeats import database_now
from mlworkers.plans.kinds import QUEUES
from mlworkers.runs.invitations import waiting_in
from semblance.celery import app


class InvitedRuns:
    """The runs that workers of the default queue are invited to claim, or to assist with."""

    def read(self, task: str = "mlworkers.execute") -> list[int]:
        """Reading empties the queue."""
        found = []
        with app.connection_for_read() as connection:
            queue = connection.SimpleQueue("default").queue
            while (message := queue.get(accept=["json"])) is not None:
                message.ack()
                if message.headers["task"] == task:
                    found.append(message.payload[0][0])
        return found


def sweep() -> None:
    """What an idle worker of all queues does with each heartbeat."""
    waiting_in(QUEUES, database_now()).invite()


@contextmanager
def broker_gone(instead: str = "redis://127.0.0.1:1/0") -> Iterator[None]:
    """Every message meanwhile goes to a port where nobody listens, or to another broker."""
    before = app.conf.broker_write_url
    try:
        _send_to(instead)
        yield
    finally:
        _send_to(before)


@contextmanager
def folder_broken(place: Path) -> Iterator[None]:
    """Every message meanwhile goes through the file system, to a folder that is none."""
    (place / "file").write_text("a file where the folder should be")
    before = app.conf.broker_transport_options
    try:
        app.conf.broker_transport_options = {
            "data_folder_in": str(place),
            "data_folder_out": str(place / "file"),
            "control_folder": str(place),
        }
        with broker_gone("filesystem://localhost"):
            yield
    finally:
        app.conf.broker_transport_options = before


def _send_to(url: str | None) -> None:
    app.conf.broker_write_url = url
    app.amqp._producer_pool = None  # it keeps connections to the broker it knew
