"""A command whose reader leaves before the end, as behind `| head -n 1`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from curation.foundation.command import READER_LEFT

ROOT = Path(__file__).parents[3]
AT_ONCE, AT_ITS_END = "1", ""  # when Python hands over what a command prints


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [
        ("run --list", AT_ONCE),
        ("run --list", AT_ITS_END),
        ("bws forecast --items 20 --judgements 1 --json", AT_ITS_END),
        ("evaluate --help", AT_ITS_END),
    ],
)
def test_a_command_that_nobody_reads_ends_without_a_word(command, unbuffered, home) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    ended = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *command.split()],
        env=os.environ | {"SEMBLANCE_HOME": str(home), "PYTHONUNBUFFERED": unbuffered},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )

    os.close(writing)
    assert (ended.returncode, ended.stderr) == (READER_LEFT, "")
