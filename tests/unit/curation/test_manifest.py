"""A bundle against its manifest, as a folder and as a zip."""

import json
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from curation.files import manifest as manifests
from curation.files.drafts import FileError
from curation.files.manifest import manifest_faults, write_manifest
from curation.files.zipping import zip_folder

BROKEN = ["added.txt is not in the manifest.", "items.csv was changed.", "scores/counting.csv is missing."]


@pytest.fixture
def bundle(tmp_path) -> Path:
    folder = tmp_path / "bundle"
    (folder / "scores").mkdir(parents=True)
    (folder / "items.csv").write_text("id\na\n")
    (folder / "scores" / "counting.csv").write_text("item,score\na,1\n")
    write_manifest(folder, {"campaign": "Relatedness"})
    return folder


def spoil(bundle: Path) -> None:
    (bundle / "items.csv").write_text("id\nb\n")
    (bundle / "scores" / "counting.csv").unlink()
    (bundle / "added.txt").write_text("hello")


def zipped(bundle: Path, name: str = "relatedness-bundle") -> Path:
    path = bundle.with_suffix(".zip")
    with path.open("wb") as file:
        zip_folder(bundle, file, name=name)
    return path


@pytest.mark.parametrize("packed", [lambda bundle: bundle, zipped])
def test_a_bundle_that_nobody_touched_has_no_faults(bundle, packed) -> None:
    assert manifest_faults(packed(bundle)) == []


@pytest.mark.parametrize("packed", [lambda bundle: bundle, zipped])
def test_each_fault_is_told(bundle, packed) -> None:
    spoil(bundle)

    assert sorted(manifest_faults(packed(bundle))) == BROKEN


def test_a_zip_of_the_files_alone_is_a_bundle_too(bundle, tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "flat.zip", "w") as archive:
        for path in sorted(bundle.rglob("*")):
            archive.write(path, path.relative_to(bundle))

    assert manifest_faults(tmp_path / "flat.zip") == []


def test_what_lies_beside_the_bundle_in_its_zip_is_told(bundle) -> None:
    path = zipped(bundle)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("elsewhere/manifest.txt", "hello")

    assert manifest_faults(path) == ["elsewhere/manifest.txt is not in the manifest."]


def test_a_damaged_member_of_a_zip_cannot_be_read(bundle) -> None:
    path = zipped(bundle)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("relatedness-bundle/items.csv")
    content = bytearray(path.read_bytes())
    begins = info.header_offset + 30 + len(info.filename)
    content[begins : begins + info.compress_size] = b"\xff" * info.compress_size
    path.write_bytes(content)

    assert manifest_faults(path) == ["items.csv cannot be read."]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[" * 200_000,
        "[]",
        "{}",
        '{"files": []}',
        '{"files": {"a": 1}}',
        '{"files": {"a": {"bytes": 1}}}',
        "\xff",
    ],
)
def test_a_manifest_that_states_no_checksums_is_told(bundle, content) -> None:
    (bundle / "manifest.json").write_bytes(content.encode("latin-1"))

    with pytest.raises(FileError, match="contains no checksums that can be read"):
        manifest_faults(bundle)


def test_what_is_no_bundle_is_told(bundle, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("hello")

    for name, reason in (
        ("empty", "empty has no manifest.json"),
        ("text", "text is neither a folder nor a zip"),
        ("nowhere", "nowhere cannot be read: No such file"),
    ):
        with pytest.raises(FileError, match=reason):
            manifest_faults(tmp_path / name)


def test_a_manifest_reaches_nothing_outside_its_folder(bundle, tmp_path) -> None:
    (tmp_path / "secret").write_text("mine")
    manifest = json.loads((bundle / "manifest.json").read_text())
    manifest["files"]["../secret"] = manifest["files"]["items.csv"]
    (bundle / "manifest.json").write_text(json.dumps(manifest))

    assert manifest_faults(bundle) == ["../secret is missing."]


LARGE = 64 * 1024**2


def packed_large(path: Path, name: str, size: int = LARGE) -> None:
    """Add a member of so many zero bytes, which take some kilobytes in the zip."""
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as file:
        for _ in range(size // 1024**2):
            file.write(bytes(1024**2))


def test_a_manifest_that_unpacks_to_more_than_any_bundles_is_refused_before_it_fills_the_memory(
    tmp_path,
) -> None:
    packed_large(tmp_path / "bomb.zip", "manifest.json")

    tracemalloc.start()
    with pytest.raises(FileError, match=r"bomb.zip unpacks to more than 4 MB, which no bundle does"):
        manifest_faults(tmp_path / "bomb.zip")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (tmp_path / "bomb.zip").stat().st_size < 100_000
    assert peak < LARGE / 4


def test_members_that_unpack_to_more_than_any_bundle_are_refused(bundle, monkeypatch) -> None:
    for number in range(3):
        (bundle / f"large-{number}").write_bytes(bytes(1024**2))
    write_manifest(bundle, {})
    path = zipped(bundle)
    monkeypatch.setattr(manifests, "MOST_UNPACKED_BYTES", 2 * 1024**2)

    with pytest.raises(FileError, match=r"The files of .*bundle.zip unpack to more than 2 MB"):
        manifest_faults(path)


def test_a_large_member_is_hashed_in_pieces(bundle) -> None:
    path = zipped(bundle)
    with zipfile.ZipFile(path) as archive:
        stated = json.loads(archive.read("relatedness-bundle/manifest.json"))
    stated["files"]["large"] = stated["files"]["items.csv"]
    (bundle / "manifest.json").write_text(json.dumps(stated))
    path = zipped(bundle)
    packed_large(path, "relatedness-bundle/large")

    tracemalloc.start()
    faults = manifest_faults(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert faults == ["large was changed."]
    assert peak < LARGE / 4


def test_a_zip_of_more_files_than_any_bundle_is_refused(bundle, monkeypatch) -> None:
    monkeypatch.setattr(manifests, "MOST_MEMBERS", 2)

    with pytest.raises(FileError, match="holds more than 2 files"):
        manifest_faults(zipped(bundle))


def test_a_manifest_of_brackets_without_end_is_no_manifest(bundle) -> None:
    (bundle / "manifest.json").write_text("[" * 100_000)

    with pytest.raises(FileError, match="contains no checksums that can be read"):
        manifest_faults(bundle)
