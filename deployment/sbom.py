#!/usr/bin/env python3
"""Write a list of parts (CycloneDX 1.6, JSON) of a wheel or of an environment into which one was installed.

usage: sbom.py WHEEL OUT.json             every file of the wheel, and the packages that it pins
       sbom.py --environment FOLDER OUT.json   every package in the environment, with every file it recorded

The same input gives the same bytes. It needs nothing but Python, so that an image can call it.
"""

import base64
import csv
import hashlib
import io
import json
import re
import sys
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from pathlib import Path
from typing import Any

Component = dict[str, Any]
PIN = re.compile(r"^([\w.-]+)==([\w.!+]+)", re.MULTILINE)


def package(name: str, version: str, parts: Iterable[Component] = ()) -> Component:
    """A package of Python, as its purl names it."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    purl = f"pkg:pypi/{name}@{version.replace('+', '%2B')}"
    made = {"type": "library", "name": name, "version": version, "purl": purl, "bom-ref": purl}
    parts = list(parts)
    return made | {"components": parts} if parts else made


def file(path: str, digest: str | None) -> Component:
    made: Component = {"type": "file", "name": path}
    return made | {"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else made


def pinned(texts: Iterable[str]) -> list[Component]:
    """The packages of requirement files, each once."""
    found = {}
    for text in texts:
        for name, version in PIN.findall(text):
            found[name] = package(name, version)
    return [found[name] for name in sorted(found)]


def of_wheel(wheel: Path) -> Component:
    with zipfile.ZipFile(wheel) as held:
        names = sorted(held.namelist())
        about = Parser().parsestr(
            held.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
        )
        files = [file(name, hashlib.sha256(held.read(name)).hexdigest()) for name in names]
        pins = [held.read(name).decode() for name in names if name.startswith("semblance/requirements/")]
    return document(package(about["Name"], about["Version"]), [*files, *pinned(pins)])


def of_environment(folder: Path) -> Component:
    packages = []
    for info in sorted(folder.glob("lib/python*/site-packages/*.dist-info")):
        about = Parser().parsestr((info / "METADATA").read_text(encoding="utf-8"))
        rows = csv.reader(io.StringIO((info / "RECORD").read_text(encoding="utf-8")))
        files = [file(path, _digest(recorded)) for path, recorded, *_ in sorted(rows)]
        packages.append(package(about["Name"], about["Version"], files))
    if not packages:
        raise SystemExit(f"{folder} has no installed package.")
    whole: Component = {"type": "container", "name": "semblance", "bom-ref": "semblance"}
    return document(whole, packages)


def _digest(recorded: str) -> str | None:
    """RECORD has SHA-256 in base64 without its padding; for itself, and for what was compiled later, nothing."""
    kind, _, encoded = recorded.partition("=")
    return base64.urlsafe_b64decode(encoded + "==").hex() if kind == "sha256" else None


def document(whole: Component, components: list[Component]) -> Component:
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": whole}}
    return {**head, "components": components}


def main(arguments: list[str]) -> None:
    match arguments:
        case ["--environment", folder, out]:
            made = of_environment(Path(folder))
        case [wheel, out]:
            made = of_wheel(Path(wheel))
        case _:
            raise SystemExit(__doc__)
    Path(out).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
