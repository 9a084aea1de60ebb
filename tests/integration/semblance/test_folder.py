"""The installation's folder is closed to everybody else, whatever made it and however open it was before."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from semblance.folder import folder_private

pytestmark = pytest.mark.own_site
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def umask_as_usual() -> Iterator[None]:
    """What most machines have: files that everybody may read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def written(path: Path, permissions: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("secret")
    path.chmod(permissions)
    return path


def open_to_others(home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in (home, *home.rglob("*")) if mode(path) & 0o077]


def manage(home: Path, *arguments: str, **environment: str) -> None:
    """A command of an embedded installation, whichever services the tests use."""
    services = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS"}
    inherited = {name: value for name, value in os.environ.items() if name not in services}
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    subprocess.run(command, env={**inherited, "SEMBLANCE_HOME": str(home), **environment}, check=True)


@pytest.mark.exhaustive
def test_what_a_command_makes_is_private(tmp_path) -> None:
    home = tmp_path / "home"

    manage(home, "migrate", "--verbosity", "0")

    assert mode(home) == 0o700
    assert mode(home / "semblance.sqlite3") == 0o600
    assert mode(home / "secret_key") == 0o600
    assert open_to_others(home) == []


def test_an_installation_that_was_open_is_closed_at_the_next_start(tmp_path) -> None:
    home = tmp_path / "home"
    for name in (
        "semblance.sqlite3",
        "semblance.sqlite3-wal",
        "semblance.sqlite3-shm",
        "secret_key",
        "beat-schedule",
        "broker/messages/1_2.default.msg",
        "imports/a/pairs.csv",
        "runs/1/1/model/model.safetensors",
        "snapshots/mine/1.parquet",
    ):
        written(home / name)
    home.chmod(0o755)

    folder_private(home, umask=0o077)

    assert open_to_others(home) == []
    assert mode(home / "runs/1/1/model/model.safetensors") == 0o600


def test_links_lead_to_nothing_that_is_changed(tmp_path) -> None:
    outside = written(tmp_path / "disk" / "model.safetensors")
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    (home / "runs").symlink_to(outside.parent)
    (home / "snapshots").mkdir()
    (home / "snapshots" / "1.parquet").symlink_to(outside)

    folder_private(home, umask=0o077)

    assert mode(outside) == 0o644
    assert mode(outside.parent) == 0o755


def test_a_folder_that_holds_other_folders_stays_open_and_ours_in_it_is_closed(tmp_path) -> None:
    theirs = written(tmp_path / "website" / "index.html")
    ours = [written(tmp_path / "semblance.sqlite3"), written(tmp_path / "runs" / "1" / "log.txt")]
    tmp_path.chmod(0o755)

    folder_private(tmp_path, umask=0o077)

    assert mode(tmp_path) == 0o755
    assert mode(theirs) == 0o644
    assert [mode(path) for path in (*ours, tmp_path / "runs")] == [0o600, 0o600, 0o700]


def test_a_folder_that_everybody_writes_to_stays_as_it_is(tmp_path) -> None:
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)

    folder_private(shared, umask=0o077)

    assert mode(shared) == 0o1777


@pytest.mark.exhaustive
@pytest.mark.parametrize("given", ["007", "0007"])
def test_a_group_shares_the_folder_where_its_operator_says_so(tmp_path, given: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o2775)

    manage(home, "migrate", "--verbosity", "0", SEMBLANCE_UMASK=given)

    assert mode(home) == 0o2770
    assert mode(home / "secret_key") == 0o660
    assert not any(mode(path) & 0o007 for path in home.rglob("*"))


@pytest.mark.parametrize("given", ["private", "77", "0o077", "999"])
def test_a_umask_that_is_none_stops_the_start_with_a_sentence(tmp_path, given: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as stopped:
        manage(tmp_path / "home", "migrate", SEMBLANCE_UMASK=given)

    assert stopped.value.returncode == 2
    assert not (tmp_path / "home").exists()


def test_a_folder_on_a_read_only_disk_is_left_as_it_is(small_disk) -> None:
    written(small_disk / "runs/1/log.txt")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    folder_private(small_disk, umask=0o077)

    assert open_to_others(small_disk) != []
