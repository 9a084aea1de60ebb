"""Several processes that do one work together, and the process that starts them, hears them and ends them.

Each has a rank, from 0. What rank 0 says is heard before it goes on, and what it returns is the result. No process
outlives the one that started it, and none outlives the work: the ranks keep nothing of their own. This module needs no
torch.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import inf
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from threading import Thread
from time import monotonic
from traceback import format_exception
from typing import Any

from curation.files.progress import Interrupted

Say = Callable[..., None]
Hear = Callable[..., object]
Work = Callable[[int, Say], Any]  # the rank, and how it says something
_Rank = tuple[BaseProcess, "Connection[Any, Any]"]  # a process, and where its messages arrive

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_OF_GRACE = 5.0  # after a rank lost the others, until the one that ended is known

# What comes of a rank next. After any but the first two it says nothing more.
_NOTHING, _SAID, _DONE, _FAILED, _LOST, _ENDED = "nothing", "said", "done", "failed", "lost", "ended"


class PeerLost(Exception):  # noqa: N818 - it names what happened
    """This rank can no longer reach the others: one of them ended."""


class RankLost(Interrupted):
    """A rank ended without saying why: it was killed, or crashed. One sentence."""


def together(
    work: Work, size: int, *, hear: Hear = lambda *what: None, look: Callable[[], object] = lambda: None
) -> Any:
    """What rank 0 of so many processes returns, each of which does work(rank, say).

    work: can be pickled. hear: receives what rank 0 says, which waits for its return; look: called again and again
    in the meantime. Either may raise, and then all ranks end. Raises what a rank raises, and RankLost where one ends
    without a word.
    """
    context = get_context("spawn")  # CUDA does not work in a forked process
    ranks: list[_Rank] = []
    try:
        for number in range(size):
            here, there = context.Pipe()
            name = f"rank {number} of {size}"
            process = context.Process(target=_rank, args=(work, number, there), name=name, daemon=True)
            ranks.append((process, here))
            with _signals_kept():
                process.start()
            there.close()
        return _result(ranks, hear, look)
    finally:
        for started, messages in ranks:
            if started.pid is not None:
                started.kill()
                started.join()
            messages.close()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ctrl+C, and a manager that asks all processes of a service to end, are for this process: those that the block
    starts never see them.
    """
    # The first process that is started starts another beside it, and that would take the mask away.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _result(ranks: Sequence[_Rank], hear: Hear, look: Callable[[], object]) -> Any:
    talking = dict(enumerate(ranks))
    given_up_at = inf
    while monotonic() < given_up_at:
        look()
        wait([messages for _process, messages in talking.values()], timeout=SECONDS_BETWEEN_LOOKS)
        for number, (process, messages) in list(talking.items()):
            kind, what = _next_words(process, messages)
            if kind == _SAID:
                hear(*what)
                with suppress(OSError):  # it ended in the meantime
                    messages.send(None)
            elif kind == _FAILED:
                raise what
            elif kind == _ENDED:
                look()
                raise RankLost(_end_in_words(number, ranks))
            elif kind == _DONE and number == 0:
                return what
            elif kind == _LOST:  # it is not the cause: the rank that ended becomes known soon
                given_up_at = min(given_up_at, monotonic() + SECONDS_OF_GRACE)
            if kind in (_DONE, _LOST):
                del talking[number]
    raise RankLost(f"The {len(ranks)} processes of the training lost their connection.")


def _next_words(process: BaseProcess, messages: "Connection[Any, Any]") -> tuple[str, Any]:
    ended = not process.is_alive()  # before its last words are read
    with suppress(EOFError, OSError):  # the system closed its end
        if messages.poll():
            found: tuple[str, Any] = messages.recv()
            return found
        if not ended:
            return _NOTHING, None
    return _ENDED, None


def _end_in_words(number: int, ranks: Sequence[_Rank]) -> str:
    process = ranks[number][0]
    process.join(SECONDS_OF_GRACE)
    code = process.exitcode
    how = f"with code {code}"
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        how = f"by the signal {name}"
    return f"Process {number + 1} of the {len(ranks)} that train together ended {how}."


def _rank(work: Work, number: int, messages: "Connection[Any, Any]") -> None:
    """What a new process does."""
    Thread(target=_end_with_parent, daemon=True).start()

    def say(*what: Any) -> None:
        if number == 0:  # nobody hears the others
            messages.send((_SAID, what))
            messages.recv()

    try:
        last = (_DONE, work(number, say))
    except PeerLost as lost:
        last = (_LOST, str(lost))
    except Exception as error:
        last = (_FAILED, _sendable(error))
    messages.send(last)
    os._exit(0)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    """The error with its traceback as a note; another with its words where it cannot be sent."""
    error.add_note("".join(format_exception(error)))
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except (PicklingError, TypeError, ValueError, AttributeError):
        told = RuntimeError(f"{type(error).__name__}: {error}")
        told.add_note(error.__notes__[-1])
        return told
    return error
