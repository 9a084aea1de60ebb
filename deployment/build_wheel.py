#!/usr/bin/env python3
"""Build the wheel so that the same source gives the same bytes, whatever the clock and the umask are.

usage: build_wheel.py FOLDER        (with the setuptools of constraints.txt installed)
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = (
    *("semblance", "curation", "annotation", "mlworkers", "templates", "static", "locale", "docs/guide"),
    *("pyproject.toml", "README.md", "LICENSE"),
)
LEFT = shutil.ignore_patterns("__pycache__", "*.egg-info")
# A zip knows no time before 1980. The time is no part of what a release is: its version is.
EPOCH = "315532800"


def source_copy(copy: Path) -> None:
    for name in SOURCE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=LEFT)
        else:
            shutil.copy(ROOT / name, copy / name)
    for path in copy.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


def wheel_build(out: Path) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        copy, made = Path(folder, "source"), Path(folder, "made")
        copy.mkdir()
        source_copy(copy)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        pip += ["--disable-pip-version-check", "--wheel-dir", str(made), str(copy)]
        environment = os.environ | {"SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH)}
        subprocess.run(pip, check=True, cwd=folder, env=environment, umask=0o022)
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(next(made.glob("*.whl")), out))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(wheel_build(Path(sys.argv[1])))
