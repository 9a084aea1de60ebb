"""The check of the site's scripts (ADR 5)."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / ".ci" / "scripts"


def test_where_there_is_no_npm_the_check_says_that_scripts_were_not_checked() -> None:
    bash = shutil.which("bash")
    assert bash

    ended = subprocess.run(
        [bash, str(SCRIPTS / "check")],
        env={"PATH": "/nonexistent"}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("Scripts were not checked: there is no npm here.")
    assert ended.stdout.count("\n") == 1


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (SCRIPTS / "package-lock.json").read_text()
