"""Several programs run as one: started together, their lines marked with their names, stopped together."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NamedTuple

LOOK_EVERY = 0.1  # seconds
GRACE = 20.0  # seconds that a program has to end in by itself; a worker lets go of its run in that time
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


class Program(NamedTuple):
    """A Python program: what it is called in lines and sentences, and what the interpreter is called with."""

    name: str
    arguments: Sequence[str]
    descriptors: tuple[int, ...] = ()


class ProgramEnd(NamedTuple):
    """The program that ended by itself, and its status (negative: the signal that killed it)."""

    name: str
    status: int


class Group:
    """Programs that live and die together. `write` gets every line they print, with the program's name
    before it.

    Where this process itself is killed, Linux ends the programs too; elsewhere they would have to be ended
    by hand.
    """

    def __init__(self, programs: Sequence[Program], *, folder: Path, write: Callable[[str], None]) -> None:
        self._programs = programs
        self._folder = folder
        self._write = write
        self.processes: dict[str, subprocess.Popen[str]] = {}
        self._readers: list[threading.Thread] = []
        self._asked_to_stop = 0

    def run(self, *, meanwhile: Callable[[], object] = lambda: None) -> ProgramEnd | None:
        """Start all and wait until one ends (it is returned) or a signal asks to stop (None); then stop the
        others.

        in the meantime: called about ten times a second.
        """
        before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            with self.running():
                while not self._asked_to_stop:
                    if ended := self.ended():
                        return ended
                    meanwhile()
                    time.sleep(LOOK_EVERY)
            return None
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Start all, for as long as the block lasts, and stop them at its end."""
        try:
            for program in self._programs:
                # In its own process group: Ctrl+C reaches this process alone, which then stops them in order.
                self.processes[program.name] = subprocess.Popen(  # noqa: S603 - our own programs
                    [sys.executable, "-u", *program.arguments],
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    process_group=0,
                    pass_fds=program.descriptors,
                    preexec_fn=_ends_with(os.getpid()),  # noqa: PLW1509 - no thread has been started yet
                )
            width = max(len(program.name) for program in self._programs)
            for name, process in self.processes.items():
                reader = threading.Thread(target=self._read, args=[name.ljust(width), process], daemon=True)
                reader.start()
                self._readers.append(reader)
            yield
        finally:
            # Ask all to end, and end those that do not; a second signal waits no longer.
            for process in self.processes.values():
                process.terminate()
            asked, until = self._asked_to_stop, time.monotonic() + GRACE
            while any(process.poll() is None for process in self.processes.values()):
                if time.monotonic() >= until or self._asked_to_stop > max(asked, 1):
                    break
                time.sleep(LOOK_EVERY)
            for process in self.processes.values():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for reader in self._readers:
                reader.join()

    def ended(self) -> ProgramEnd | None:
        """The first program that has ended by itself, if one has."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                return ProgramEnd(name, process.returncode)
        return None

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked_to_stop += 1

    def _read(self, name: str, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            if line.strip():
                self._write(f"{name} │ {line.rstrip()}")


def _ends_with(parent: int) -> Callable[[], None] | None:
    """What a new process does first on Linux: ask to be ended when its parent dies, even by kill -9."""
    if _prctl is None:
        return None

    def ask() -> None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we could ask
            os._exit(1)

    return ask
