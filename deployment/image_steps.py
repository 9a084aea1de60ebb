#!/usr/bin/env python3
"""Carry out the steps of an image in a folder, where no image can be built: do its files exist, do its commands work?

usage: image_steps.py web|worker FOLDER [NAME=VALUE ...]        (NAME: an ARG of the Dockerfile, such as DEVICE)

FOLDER gets a folder for each stage, which stands for its disk; paths of the Dockerfile that begin with / are below it.
The image of Python is a new virtual environment of this Python. Steps that make users are left out, and said.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Paths of an image that its steps write to or read from.
PLACES = re.compile(r"(?<![\w./-])/(?=opt/|wheel\b|src\b)")


@dataclass
class Stage:
    """One FROM of a Dockerfile: the stage or image below it, and its instructions with what they say."""

    name: str
    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    here: str = ""  # the folder that the last WORKDIR names, of this stage or the one below


def stages_read(dockerfile: str) -> tuple[dict[str, Stage], dict[str, str]]:
    """The stages by name, and the arguments that stand before the first of them."""
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE)).splitlines()
    stages: dict[str, Stage] = {}
    arguments: dict[str, str] = {}
    stage = None
    for line in filter(str.strip, lines):
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            base, _, name = rest.split()
            stage = stages[name] = Stage(name, base)
        elif stage is None:
            name, _, value = rest.partition("=")
            arguments[name] = value
        else:
            stage.steps.append((instruction, " ".join(rest.split())))
    return stages, arguments


def order(stages: dict[str, Stage], target: str) -> list[Stage]:
    """The stages that the target needs, each after those it is made from."""
    stage = stages[target]
    copied = [name for _, rest in stage.steps for name in re.findall(r"--from=(\S+)", rest)]
    needed = [name for name in (stage.base, *copied) if name in stages]
    before = [each for name in needed for each in order(stages, name)]
    return list({each.name: each for each in (*before, stage)}.values())


def source_copy(sources: list[str], to: Path) -> None:
    """Files of the checkout that git knows, without those that .dockerignore keeps away."""
    ignored = (ROOT / ".dockerignore").read_text().split()
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *sources]
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    if not files:
        raise SystemExit(f"The checkout has nothing called {' '.join(sources)}.")
    for file in files:
        if any(file == name or file.startswith(f"{name}/") for name in ignored):
            continue
        [source] = [name for name in sources if name in {".", file} or file.startswith(f"{name}/")]
        inside = file if source == "." else Path(file).relative_to(source)
        place = to / (Path(file).name if inside == Path() else inside)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, place, follow_symlinks=False)


def stage_make(stage: Stage, stages: dict[str, Stage], folder: Path, given: dict[str, str]) -> None:
    disk = folder / stage.name
    if stage.base in stages:
        stage.here = stages[stage.base].here
        shutil.copytree(folder / stage.base, disk, symlinks=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", str(disk / "python")], check=True)
    environment = os.environ | {"PATH": f"{disk}/python/bin:{os.environ['PATH']}"}
    here = disk / stage.here
    for instruction, rest in stage.steps:
        if instruction == "ARG":
            name, _, value = rest.partition("=")
            environment[name] = given.get(name, value)
        elif instruction == "WORKDIR":
            stage.here = rest.lstrip("/")
            here = disk / stage.here
            here.mkdir(parents=True, exist_ok=True)
        elif instruction == "COPY" and rest.startswith("--from="):
            source, path, to = rest.removeprefix("--from=").split()
            # A virtual environment works only where it was made.
            (disk / to.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (disk / to.lstrip("/")).symlink_to(folder / source / path.lstrip("/"))
        elif instruction == "COPY":
            *sources, to = rest.split()
            source_copy(sources, here / to)
        elif instruction == "RUN" and "useradd" in rest:
            print(f"{stage.name}: left out: {rest}", flush=True)
        elif instruction == "RUN":
            print(f"{stage.name}: {rest}", flush=True)
            command = PLACES.sub(f"{disk}/", rest)
            subprocess.run(["/bin/sh", "-ec", command], cwd=here, env=environment, check=True)
        elif instruction not in {"ENV", "USER", "VOLUME", "STOPSIGNAL", "EXPOSE", "CMD"}:
            raise SystemExit(f"{stage.name} has an instruction that this script does not know: {instruction}")


def command_check(stage: Stage, folder: Path) -> None:
    """Check that the image's command starts: gunicorn reads its configuration, a command of ours prints its help."""
    program, *arguments = shlex.split(re.sub(r'[\[\],"]', " ", dict(stage.steps)["CMD"]))
    home = folder / "data"
    home.mkdir(exist_ok=True)
    asked = "--check-config" if program == "gunicorn" else "--help"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SEMBLANCE_HOME": str(home)}
    binary = folder / stage.name / "opt/semblance/bin" / program
    subprocess.run(
        [str(binary), *arguments, asked], cwd=home, env=environment, check=True, stdout=subprocess.DEVNULL
    )


def parts_check(environment: Path) -> int:
    """The number of packages in the image's list of parts. Ends the program if an installed one is not in it."""
    text = (environment / "parts.cdx.json").read_text(encoding="utf-8")
    listed = json.loads(text)["components"]  # noqa: TID251 - a script of its own, which reads its own file
    packages = {(part["name"], part["version"]) for part in listed}
    folders = map(str, environment.glob("lib/python*/site-packages"))
    installed = {
        (re.sub(r"[-_.]+", "-", each.name).lower(), each.version) for each in distributions(path=[*folders])
    }
    if missing := sorted(installed - packages):
        raise SystemExit(f"The list of parts lacks {', '.join(' '.join(each) for each in missing)}.")
    return len(packages)


def main(target: str, folder: Path, given: dict[str, str]) -> None:
    stages, _ = stages_read((ROOT / "Dockerfile").read_text())
    folder.mkdir(parents=True)
    for stage in order(stages, target):
        stage_make(stage, stages, folder, given)
    command_check(stages[target], folder)
    packages = parts_check(folder / target / "opt/semblance")
    used = subprocess.run(
        ["/usr/bin/du", "-smL", str(folder / target / "opt/semblance")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()[0]
    print(f"The image {target} would have {used} MB in /opt/semblance, and starts its command.")
    print(f"Its list of parts, parts.cdx.json, has all of its {packages} packages.")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in {"web", "worker"}:
        raise SystemExit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]).resolve(), dict(each.split("=", 1) for each in sys.argv[3:]))
