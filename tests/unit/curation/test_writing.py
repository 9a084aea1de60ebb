"""Folders that are there whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from curation.files.drafts import FileError
from curation.files.writing import disk_is_full, folder_replacing, replacing

FULL = r"^The disk is full, so model was not written; free some space and try again\.$"


@pytest.fixture
def place(tmp_path) -> Path:
    return tmp_path / "model"


def older(place: Path) -> None:
    place.mkdir()
    (place / "weights").write_text("older")


def fail_in_the_middle(place: Path, error: BaseException) -> None:
    with folder_replacing(place) as folder:
        (folder / "weights").write_text("half")
        raise error


def content(place: Path) -> dict[str, str]:
    return {
        file.relative_to(place).as_posix(): file.read_text() for file in place.rglob("*") if file.is_file()
    }


def test_a_folder_appears_only_when_it_is_whole(place) -> None:
    with folder_replacing(place) as folder:
        (folder / "weights").write_text("new")
        (folder / "tokenizer").mkdir()
        (folder / "tokenizer" / "words").write_text("a b")
        meanwhile = place.exists()

    assert not meanwhile
    assert content(place) == {"weights": "new", "tokenizer/words": "a b"}
    assert list(place.parent.iterdir()) == [place]


def test_an_older_folder_gives_way(place) -> None:
    older(place)
    (place / "left over").write_text("older")

    with folder_replacing(place) as folder:
        (folder / "weights").write_text("new")

    assert content(place) == {"weights": "new"}
    assert list(place.parent.iterdir()) == [place]


def test_where_somebody_was_faster_a_folder_that_is_written_once_stays(place) -> None:
    with folder_replacing(place, once=True) as folder:
        older(place)
        (folder / "weights").write_text("late")

    assert content(place) == {"weights": "older"}
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("error", [RuntimeError("stopped"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_an_error_while_filling_keeps_the_older_folder(place, error: BaseException) -> None:
    older(place)

    with pytest.raises(type(error)):
        fail_in_the_middle(place, error)

    assert content(place) == {"weights": "older"}
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        Exception("Error while serializing: I/O error: No space left on device (os error 28)"),
    ],
    ids=["disk", "quota", "safetensors"],
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(place, error: Exception) -> None:
    with pytest.raises(FileError, match=FULL):
        fail_in_the_middle(place, error)

    assert list(place.parent.iterdir()) == []


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EROFS, os.strerror(errno.EROFS)),
        Exception("I/O error: Read-only file system (os error 30)"),
    ],
    ids=["system", "safetensors"],
)
def test_a_read_only_disk_is_one_sentence_too(place, error: Exception) -> None:
    sentence = r"^The disk is read-only, so model was not written; make it writable and try again\.$"

    with pytest.raises(FileError, match=sentence):
        fail_in_the_middle(place, error)

    assert list(place.parent.iterdir()) == []


def test_a_file_on_a_read_only_disk_is_the_same_sentence(place, monkeypatch) -> None:
    def refuse(path: Path, *arguments: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "open", refuse)

    with (
        pytest.raises(FileError, match=r"^The disk is read-only, so model was not written"),
        replacing(place),
    ):
        pass


def test_a_disk_that_is_full_only_when_the_folder_is_synced_is_one_sentence_too(place, monkeypatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(FileError, match=FULL), folder_replacing(place) as folder:
        (folder / "weights").write_text("new")

    assert list(place.parent.iterdir()) == []


def test_a_folder_in_no_folder_is_named(tmp_path) -> None:
    with (
        pytest.raises(FileError, match=r"The folder .*/none does not exist, so model was not written"),
        folder_replacing(tmp_path / "none" / "model"),
    ):
        pass


def test_an_error_of_its_own_is_not_taken_for_a_full_disk() -> None:
    assert not disk_is_full(OSError(errno.EACCES, os.strerror(errno.EACCES)))


def write(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")


def test_a_folder_is_no_place_for_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    for path in (tmp_path, Path(), Path("/")):
        with pytest.raises(FileError, match="is a folder; give the name of a file in it"):
            write(path)


def test_a_device_is_never_replaced_by_a_file(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path / "pipe", Path("/dev/null"), Path("/dev/stdout")):
        with pytest.raises(FileError, match="is a device or a pipe"):
            write(path)

    assert (tmp_path / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()


def test_a_file_is_no_folder_to_write_into(tmp_path) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(FileError, match="file is not a folder, so scores was not written"):
        write(tmp_path / "file" / "scores")
