"""What tests do with the message broker: read it, and take it away."""

from collections.abc import Iterator
from contextlib import contextmanager

from celery import current_app


class InvitedRuns:
    """The runs that workers of the default queue are invited to claim, or to assist with."""

    def read(self, task: str = "mlworkers.execute") -> list[int]:
        """Reading empties the queue."""
        found = []
        with current_app.connection_for_read() as connection:
            queue = connection.SimpleQueue("default").queue
            while (message := queue.get(accept=["json"])) is not None:
                message.ack()
                if message.headers["task"] == task:
                    found.append(message.payload[0][0])
        return found


@contextmanager
def broker_gone() -> Iterator[None]:
    """Every message meanwhile goes to a port where nobody listens."""
    before = current_app.conf.broker_write_url
    try:
        _send_to("redis://127.0.0.1:1/0")
        yield
    finally:
        _send_to(before)


def _send_to(url: str | None) -> None:
    current_app.conf.broker_write_url = url
    current_app.amqp._producer_pool = None  # it keeps connections to the broker it knew
