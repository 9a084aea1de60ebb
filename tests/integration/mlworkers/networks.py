"""Machines with a network each: a network namespace of Linux, from which nothing can be reached but the services.

    a machine ---- link ---- the services' namespace ---- relays ---- the services on 127.0.0.1 of this machine

The namespace of the services forwards nothing and listens only for its relays, so that machines cannot reach each
other, this machine, or what it reaches. No link of ours ends in this machine's own network.
"""

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from tests.integration.mlworkers.installation import Installation
from tests.shared_store import Line

NAMED = Path("/run/netns")  # where `ip netns` keeps them
PREFIX = "semblance-tests-"
CLONE_NEWNET = 0x40000000  # <linux/sched.h>
SERVICES, MACHINES = (
    "192.0.2.1",
    "198.51.100.{}",
)  # addresses of documentation (RFC 5737), which no network has
ADDRESSES = (
    "DATABASE_URL",
    "REDIS_URL",
    "AWS_ENDPOINT_URL_S3",
)  # of the services, in an installation's environment
Answer = TypeVar("Answer")


class Network:
    """A network namespace, made at once; `close` removes it, with the links that end in it."""

    def __init__(self, name: str, address: str) -> None:
        self.name = f"{PREFIX}{os.getpid()}-{name}"
        self.path = NAMED / self.name
        self.address = address
        ip("netns", "add", self.name)
        self.inside(alone)
        self.ip("link", "set", "lo", "up")

    def ip(self, *arguments: str) -> str:
        return ip("-n", self.name, *arguments)

    def inside(self, do: Callable[[], Answer]) -> Answer:
        """Call it in a thread of this network: the sockets that it makes stay in there."""
        with ThreadPoolExecutor(1, initializer=partial(enter, self.path)) as thread:
            return thread.submit(do).result()

    def listening(self, port: int = 0) -> socket.socket:
        return self.inside(partial(socket.create_server, (self.address, port), backlog=64))

    def refusal(self, address: str, port: int, *, seconds: float = 5.0) -> str:
        """How the system refuses a connection from here; "" where somebody answers."""

        def connect() -> str:
            try:
                socket.create_connection((address, port), timeout=seconds).close()
            except OSError as error:
                return type(error).__name__ if error.errno is None else os.strerror(error.errno)
            return ""

        return self.inside(connect)

    def holds(self, process: int) -> bool:
        """Whether the process lives in this network."""
        return Path(f"/proc/{process}/ns/net").stat().st_ino == self.path.stat().st_ino

    def close(self) -> None:
        ip("netns", "delete", self.name)


@contextmanager
def networks(names: Sequence[str], ports: Sequence[int]) -> Iterator[list[Network]]:
    """A network for each machine, with these ports of 127.0.0.1 at SERVICES, and with nothing else."""
    remove_leftovers()
    with ExitStack() as made:
        services = Network("services", SERVICES)
        made.callback(services.close)
        machines = []
        for number, name in enumerate(names, 1):
            machine = Network(name, MACHINES.format(number))
            made.callback(machine.close)
            connect(services, machine)
            machines.append(machine)
        for port in ports:
            made.callback(Line(port, services.listening).cut)
        yield machines


def moved(installed: Installation, network: Network) -> Installation:
    """A machine of the installation is from now on in that network: its workers, and what `manage` calls."""
    installed.network = network.path
    for name in ADDRESSES:
        url = urlsplit(installed.environment[name])
        there = url.netloc.replace(str(url.hostname), SERVICES)
        installed.environment[name] = url._replace(netloc=there).geturl()
    return installed


def ports_of(installed: Installation) -> list[int]:
    """Of the services that it uses, which are on this machine. Raises AssertionError where one is elsewhere."""
    urls = [urlsplit(installed.environment[name]) for name in ADDRESSES]
    assert {url.hostname for url in urls} <= {"127.0.0.1", "localhost", SERVICES}
    return [url.port or {"redis": 6379}.get(url.scheme, 5432) for url in urls]


def connect(services: Network, machine: Network) -> None:
    """A link whose machine has one route, to the one address at the other end."""
    link = machine.name.rpartition("-")[2]
    services.ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", machine.name)
    for network, device, peer in ((services, link, machine), (machine, "eth0", services)):
        network.ip("address", "add", network.address, "peer", peer.address, "dev", device)
        network.ip("link", "set", device, "up")


def addresses_here() -> list[str]:
    """Those of this machine in its own network, without the loopback's."""
    found = [line.split()[3] for line in ip("-4", "-oneline", "address", "show").splitlines()]
    return [each.split("/")[0] for each in found if not each.startswith("127.")]


def alone() -> None:
    """The network of this thread forwards nothing, and has no addresses that it gave itself."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("0")
    for which in Path("/proc/sys/net/ipv6/conf").glob("*/disable_ipv6"):
        which.write_text("1")


def enter(path: Path) -> None:
    """This thread is in that network from now on. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    with path.open() as file:
        if libc.setns(file.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def remove_leftovers() -> None:
    """Of tests that were killed."""
    for path in NAMED.glob(f"{PREFIX}*"):
        if not Path("/proc", path.name.removeprefix(PREFIX).split("-")[0]).exists():
            with suppress(subprocess.CalledProcessError):  # another process may be at it
                ip("netns", "delete", path.name)


def ip(*arguments: str) -> str:
    """What iproute2's command answers. Raises subprocess.CalledProcessError."""
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout
