"""The programs of a running site: the web server on its socket, the workers, and beat."""

import errno
import socket
from collections.abc import Sequence
from urllib.error import HTTPError
from urllib.request import urlopen

from django.conf import settings
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from mlworkers.plans.kinds import QUEUES
from mlworkers.plans.settings import listed
from mlworkers.runs.presence import worker_arguments
from semblance.serving.processes import Program

ANY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - recognised, not chosen


def listening(host: str, port: int) -> socket.socket:
    """The socket that the web server will answer on, taken before anything else is started."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        why = _(
            "Nothing can listen on %(host)s, port %(port)s: %(reason)s. Choose another with --host or --port."
        )
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            why = _(
                "Port %(port)s on %(host)s is in use. Stop the program that uses it, or choose "
                "another port with --port."
            )
        raise UserError(
            why, host=host, port=port, reason=getattr(error, "strerror", None) or error
        ) from error


def web(listener: socket.socket, processes: int) -> Program:
    descriptor = listener.fileno()
    arguments = [
        *("-m", "gunicorn", "semblance.wsgi:application", "--config", "python:semblance.serving.web_server"),
        *("--bind", f"fd://{descriptor}", "--workers", str(processes)),
    ]
    return Program("web", arguments, descriptors=(descriptor,))


def workers(queues: str) -> list[Program]:
    """One worker process for each queue. They need not hear of each other, so they do not talk.

    queues: their names, with commas between. Raises UserError for a queue that no run waits in.
    """
    return [
        Program(queue, worker_call(worker_arguments(queue), name=queue)) for queue in queues_named(queues)
    ]


def worker_of(queues: str, *, name: str = "") -> list[str]:
    """What the interpreter is called with for one worker of all these queues, which reads them in their order.

    name: what pages and logs call it; without one, what its queues are called. Raises UserError as `workers` does.
    """
    names = queues_named(queues)
    if not names:
        raise UserError(_("Name at least one queue. The queues are %(queues)s."), queues=listed(QUEUES))
    return worker_call(worker_arguments(",".join(names)), name=name or "-".join(names))


def worker_call(arguments: Sequence[str], *, name: str) -> list[str]:
    quietly = ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
    if not settings.CELERY_WORKER_SEND_TASK_EVENTS:
        quietly.append("--without-heartbeat")
    return ["-m", "celery", "--quiet", *arguments, "--hostname", f"{name}@%h", *quietly]


def queues_named(queues: str) -> list[str]:
    """Each once. Raises UserError for a queue that no run waits in."""
    names = list(dict.fromkeys(filter(None, (name.strip() for name in queues.split(",")))))
    for name in names:
        if name not in QUEUES:
            sentence = _("There is no queue “%(name)s”. The queues are %(queues)s.")
            raise UserError(sentence, name=name, queues=listed(QUEUES))
    return names


def beat() -> Program:
    return Program("beat", ["-m", "celery", "--quiet", "-A", "semblance", "beat", "--loglevel", "WARNING"])


def address_of(listener: socket.socket) -> str:
    """The address of the home page, of whatever part of the host the site is."""
    host, port = listener.getsockname()[:2]
    if host in ANY_ADDRESS:
        host = "127.0.0.1"
    home = f"{settings.SITE_PATH}/"
    return f"http://[{host}]:{port}{home}" if ":" in host else f"http://{host}:{port}{home}"


def answers(address: str) -> bool:
    """Whether the web server answers at all: a refusal (a host name that is not allowed) is an answer too."""
    try:
        urlopen(f"{address}healthz", timeout=1).close()  # noqa: S310 - our own address
    except OSError as error:
        return isinstance(error, HTTPError)
    return True
