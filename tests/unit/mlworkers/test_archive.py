"""What leaves the installation when a model is downloaded."""

import hashlib
import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from curation.files.zipping import BLOCK, zip_blocks
from mlworkers.models import Artifact
from mlworkers.runs.storage import artifact_path


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = tmp_path / "encoder"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 8192)
    (folder / "1_Pooling" / "config.json").write_text("{}")
    return folder


def zipped(folder: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(zip_blocks(folder))))


def test_the_zip_holds_every_file_of_the_folder_as_it_is(folder) -> None:
    archive = zipped(folder)

    held = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    written = {
        f"encoder/{file.relative_to(folder).as_posix()}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }
    assert archive.testzip() is None
    assert held == written


def test_the_same_folder_makes_the_same_bytes(folder) -> None:
    first = b"".join(zip_blocks(folder))
    (folder / "model.safetensors").touch()

    assert b"".join(zip_blocks(folder)) == first


def test_links_and_what_lies_behind_them_stay_where_they_are(folder, tmp_path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.txt").write_text("s")
    (folder / "link.txt").symlink_to(tmp_path / "secret" / "key.txt")
    (folder / "behind").symlink_to(tmp_path / "secret")

    names = zipped(folder).namelist()

    assert sorted(names) == ["encoder/1_Pooling/config.json", "encoder/model.safetensors"]


def test_memory_holds_a_few_blocks_however_large_the_file_is(folder) -> None:
    with (folder / "large.safetensors").open("wb") as file:
        file.truncate(64 * BLOCK)
    tracemalloc.start()

    passed = sum(len(block) for block in zip_blocks(folder))

    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert passed > 64 * BLOCK
    assert peak < 8 * BLOCK


@pytest.mark.parametrize("path", ["runs/7", "runs/7/../8/1/model", "runs/8/1/model", "runs/7/1/link", "/etc"])
def test_an_artefact_lies_in_its_run_s_own_folder_or_nowhere(home, path) -> None:
    for run in ("7", "8"):
        (home / "runs" / run / "1" / "model").mkdir(parents=True)
    (home / "runs" / "7" / "1" / "link").symlink_to(home / "runs" / "8" / "1" / "model")

    with pytest.raises(ValueError, match="lies outside"):
        artifact_path(Artifact(run_id=7, path=path))
