"""Several processes that do one work together, and the process that starts them, hears them and ends them.

Each has a rank, from 0. What rank 0 says is heard before it goes on, and what it returns is the result. No process
outlives the one that started it, and none outlives the work: the ranks keep nothing of their own. This module needs no
torch.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from pickle import PicklingError
from threading import Thread
from time import monotonic
from traceback import format_exception
from typing import Any, NamedTuple

from curation.files.progress import Interrupted

Say = Callable[[Any], None]
Work = Callable[[int, Say], Any]  # the rank, and how it says something

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_OF_GRACE = 5.0  # after a rank lost the others, until the one that ended is known

# How a message of a rank begins.
_SAID, _DONE, _FAILED, _LOST = "said", "done", "failed", "lost"
# The exit code of a rank whose last message says all. 0 may be that of a library that left by itself.
_EXITS_AFTER_WORDS = 3


class PeerLost(Exception):  # noqa: N818 - it names what happened
    """This rank can no longer reach the others: one of them ended."""


class RankLost(Interrupted):
    """A rank ended without saying why: it was killed, or crashed. One sentence."""


class _Rank(NamedTuple):
    process: BaseProcess
    messages: "Connection[Any, Any]"

    def answer(self) -> None:
        """What it said was heard."""
        with suppress(OSError):  # it ended in the meantime
            self.messages.send(None)


def together(
    work: Work, size: int, *, hear: Say = lambda message: None, look: Callable[[], object] = lambda: None
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
            ranks.append(_Rank(process, here))
            with _signals_kept():
                process.start()
            there.close()
        return _result(ranks, hear, look)
    finally:
        for rank in ranks:
            if rank.process.pid is not None:
                rank.process.kill()
                rank.process.join()
            rank.messages.close()


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


def _result(ranks: Sequence[_Rank], hear: Say, look: Callable[[], object]) -> Any:
    lost_at: float | None = None
    while True:
        look()
        # Until one of them says something or ends, or a look is due.
        talking = [rank.messages for rank in ranks if not rank.messages.closed]
        living = [rank.process.sentinel for rank in ranks if rank.process.is_alive()]
        wait([*talking, *living], timeout=SECONDS_BETWEEN_LOOKS)
        ended = [not rank.process.is_alive() for rank in ranks]  # before its last words are read
        for number, rank in enumerate(ranks):
            for kind, what in _messages(rank):
                if kind == _FAILED:
                    raise what
                if number == 0 and kind == _DONE:
                    return what
                if number == 0 and kind == _SAID:
                    hear(what)
                    rank.answer()
                if kind == _LOST:
                    lost_at = lost_at or monotonic()
            # A rank that lost the others says so, and is not the cause.
            if ended[number] and rank.process.exitcode != _EXITS_AFTER_WORDS:
                look()
                raise RankLost(_end_in_words(number, len(ranks), rank.process.exitcode))
        if lost_at is not None and monotonic() - lost_at > SECONDS_OF_GRACE:
            raise RankLost(f"The {len(ranks)} processes of the training lost their connection.")


def _messages(rank: _Rank) -> list[tuple[str, Any]]:
    found = []
    with suppress(EOFError, OSError):
        while not rank.messages.closed and rank.messages.poll():
            found.append(rank.messages.recv())
        return found
    rank.messages.close()
    return found


def _end_in_words(number: int, size: int, code: int | None) -> str:
    how = f"with code {code}"
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        how = f"by the signal {name}"
    return f"Process {number + 1} of the {size} that train together ended {how}."


def _rank(work: Work, number: int, messages: "Connection[Any, Any]") -> None:
    """What a new process does."""
    Thread(target=_end_with_parent, daemon=True).start()

    def say(message: Any) -> None:
        if number == 0:  # nobody hears the others
            messages.send((_SAID, message))
            messages.recv()

    try:
        last = (_DONE, work(number, say))
    except PeerLost as lost:
        last = (_LOST, str(lost))
    except Exception as error:
        last = (_FAILED, _sendable(error))
    messages.send(last)
    messages.close()
    os._exit(_EXITS_AFTER_WORDS)


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
