"""Processes that work together: what they give back, and that none is left, however one of them ends."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from mlworkers.science.training.ranks import PeerLost, RankLost, together


@pytest.fixture(autouse=True)
def nobody_is_left():
    yield
    assert active_children() == []


def waits(rank: int, say) -> None:
    say(f"{rank} waits")
    while True:
        time.sleep(60)


def counts(rank: int, say) -> int:
    for number in range(3):
        say((rank, number))
    return 10 + rank


def ends(rank: int, say, *, who: int, how) -> None:
    """One rank ends so; the others wait."""
    if rank == who:
        how()
    waits(rank, say)


def fails() -> None:
    raise FileNotFoundError(2, "No such file", "pairs.jsonl")


class Unsendable(Exception):  # noqa: N818
    def __init__(self, left: str, right: str) -> None:
        super().__init__(f"{left} and {right}")


def fails_with_what_no_pipe_takes() -> None:
    raise Unsendable("this", "that")


def loses_the_others() -> None:
    raise PeerLost("Connection closed by peer")


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_the_first_one_is_heard_and_gives_the_result() -> None:
    heard = []

    result = together(counts, 3, hear=heard.append)

    assert (result, heard) == (10, [(0, 0), (0, 1), (0, 2)])


@pytest.mark.parametrize("who", [0, 1])
def test_one_that_is_killed_is_named_and_the_others_end(who) -> None:
    with pytest.raises(RankLost) as lost:
        together(partial(ends, who=who, how=killed), 2)

    assert str(lost.value) == f"Process {who + 1} of the 2 that train together ended by the signal SIGKILL."


@pytest.mark.parametrize("code", [0, 7])
def test_one_that_leaves_by_itself_is_named(capfd, code) -> None:
    with pytest.raises(RankLost, match=rf"^Process 2 of the 2 that train together ended with code {code}\.$"):
        together(partial(ends, who=1, how=partial(sys.exit, code)), 2)


def test_what_one_of_them_raises_is_raised_with_its_traceback() -> None:
    with pytest.raises(FileNotFoundError) as raised:
        together(partial(ends, who=1, how=fails), 2)

    assert (raised.value.errno, raised.value.filename) == (2, "pairs.jsonl")
    assert "in fails" in raised.value.__notes__[0]


def test_an_error_that_cannot_be_sent_keeps_its_words() -> None:
    with pytest.raises(RuntimeError) as raised:
        together(partial(ends, who=0, how=fails_with_what_no_pipe_takes), 2)

    assert str(raised.value) == "Unsendable: this and that"
    assert "in fails_with_what_no_pipe_takes" in raised.value.__notes__[0]


def test_one_that_lost_the_others_is_not_taken_for_the_cause(monkeypatch) -> None:
    monkeypatch.setattr("mlworkers.science.training.ranks.SECONDS_OF_GRACE", 0.0)
    with pytest.raises(RankLost, match=r"^The 2 processes of the training lost their connection\.$"):
        together(partial(ends, who=0, how=loses_the_others), 2)


class Cancelled(Exception):  # noqa: N818
    """The run was cancelled."""


def cancels(*_message) -> None:
    raise Cancelled


@pytest.mark.parametrize("who", ["hear", "look"])
def test_whoever_listens_can_stop_them_all(who) -> None:
    with pytest.raises(Cancelled):
        together(waits, 2, **{who: cancels})


PARENT = """
import sys
from pathlib import Path
from functools import partial
from mlworkers.science.training.ranks import together
from tests.unit.mlworkers.training.test_ranks import locks
if __name__ == "__main__":
    together(partial(locks, path=Path(sys.argv[1])), 2, hear=lambda message: print(message, flush=True))
"""


def locks(rank: int, say, *, path: Path) -> None:
    """Holds a lock of its own as long as it lives; rank 0 says when both do."""
    files = [path / str(number) for number in range(2)]
    held = files[rank].open("w")
    fcntl.flock(held, fcntl.LOCK_EX)
    (path / f"held-{rank}").touch()
    while not all((path / f"held-{number}").exists() for number in range(2)):
        time.sleep(0.01)
    waits(rank, say)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_they_end_with_the_process_that_started_them_even_where_it_is_killed(tmp_path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    root = Path(__file__).parents[4]
    parent = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "0 waits\n"
    with (tmp_path / "1").open("w") as free, pytest.raises(BlockingIOError):
        fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)

    parent.kill()
    parent.wait()

    for number in range(2):  # the system lets go of the lock when its holder has ended
        with (tmp_path / str(number)).open("w") as free:
            fcntl.flock(free, fcntl.LOCK_EX)
    parent.stdout.close()


def test_a_request_to_end_is_for_the_process_that_started_them() -> None:
    """A service manager asks all processes of a worker at once; the worker hands its run back, and ends them then."""
    stopped = []

    def hear(message) -> None:
        for process in active_children():
            os.kill(process.pid, signal.SIGTERM)
        stopped.append(message)

    result = together(counts_after_a_pause, 2, hear=hear)

    assert (result, stopped) == (1, ["ready"])


def counts_after_a_pause(rank: int, say) -> int:
    say("ready")
    time.sleep(0.3)
    return 1
