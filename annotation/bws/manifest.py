"""A folder of files that says what it holds: its manifest with checksums, and the folder as one zip."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from curation.files.checksum import sha256_of

MANIFEST = "manifest.json"
# A zip holds a time for each file, and nothing before 1980; the same files give the same zip.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


def write_manifest(folder: Path, about: Mapping[str, Any]) -> dict[str, str]:
    """Write `manifest.json`: `about`, and the size and SHA-256 of each other file. Returns the checksums."""
    paths = [path for path in _files(folder) if path.name != MANIFEST]
    files = {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": sha256_of(path)}
        for path in paths
    }
    text = json.dumps({**about, "files": files}, indent=2, ensure_ascii=False, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return {name: str(facts["sha256"]) for name, facts in files.items()}


def manifest_faults(folder: Path) -> list[str]:
    """What is not as the folder's manifest says, a sentence each; none for a folder that is whole."""
    stated = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    there = {path.relative_to(folder).as_posix() for path in _files(folder)} - {MANIFEST}
    faults = [f"{name} is missing." for name in sorted(stated.keys() - there)]
    faults += [f"{name} is not in the manifest." for name in sorted(there - stated.keys())]
    changed = [name for name in stated.keys() & there if sha256_of(folder / name) != stated[name]["sha256"]]
    return faults + [f"{name} was changed." for name in sorted(changed)]


def zip_folder(folder: Path, file: IO[bytes], *, name: str) -> None:
    """Write the folder's files as a zip in which they stand under `name`/; the same files, the same bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        for path in _files(folder):
            inside = zipfile.ZipInfo(f"{name}/{path.relative_to(folder).as_posix()}", date_time=_NO_TIME)
            inside.compress_type = zipfile.ZIP_DEFLATED
            inside.external_attr = 0o644 << 16
            archive.writestr(inside, path.read_bytes())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
