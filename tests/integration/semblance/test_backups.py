"""Backups, restoring them, and moving to PostgreSQL: every row and file, or nothing."""

import contextlib
import hashlib
import json
import os
import shutil
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, transaction
from django.utils.timezone import now

from annotation.models import Judgement
from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.files.sums import content_sum, sums_of
from curation.files.writing import sha256_of
from curation.foundation.database import migrations_applied
from curation.foundation.shared_files import shared_remove
from curation.models import Dataset, ScoreSet, Snapshot, User
from semblance.backups import archive
from semblance.backups.archive import FileCopy, Manifest, backup_reading
from semblance.backups.files import Reference, damaged_of
from semblance.backups.making import backup_make
from semblance.backups.rows import MADE_BY_MIGRATING, rows_remove, tables_of
from tests.factories import ArtifactFactory, DatasetFactory, PairFactory, RunFactory, UserFactory
from tests.integration.mlworkers.installation import Installation
from tests.integration.semblance.filled import AWKWARD, installation_filled
from tests.template_databases import database_of_its_own

BACKUPS = Path(__file__).parent / "backups"
TOO_OLD = BACKUPS / "0.1.0.zip"
KEPT = sorted(set(BACKUPS.glob("*.zip")) - {TOO_OLD})
pytestmark = pytest.mark.django_db(transaction=True)


def sums(manifest: Manifest) -> dict[str, tuple[int, str]]:
    return {table.label: (table.rows, table.sha256) for table in manifest.tables}


def manifest_of(path: Path) -> Manifest:
    with backup_reading(path) as backup:
        return backup.manifest


def emptied(home: Path) -> None:
    """The database and the folder as they are before anybody has used them."""
    tables = tables_of(migrations_applied("default"), "default")
    with transaction.atomic():
        rows_remove([one for one in tables if one._meta.label_lower not in MADE_BY_MIGRATING], "default")
    for folder in home.iterdir():
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """Where the first test that needs the backup leaves it for the others."""
    return tmp_path_factory.mktemp("written") / "backup.zip"


@pytest.fixture
def backup(written, home) -> Path:
    """Of an installation with something of everything; the one that is here is empty."""
    if not written.exists():
        installation_filled(home)
        backup_make(path=written, at=now())
        emptied(home)
    return written


def test_a_restored_installation_has_every_row_and_file(home, tmp_path, capsys) -> None:
    installation_filled(home)
    before = {path.relative_to(home): path.read_bytes() for path in home.rglob("*") if path.is_file()}
    backup_make(path=tmp_path / "backup.zip", at=now())
    emptied(home)

    call_command("restore", str(tmp_path / "backup.zip"), json=True)

    again = tmp_path / "again.zip"
    backup_make(path=again, at=now())
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["restored"] is True
    assert sums(manifest_of(again)) == sums(manifest_of(tmp_path / "backup.zip"))
    assert len(before) > 2
    assert {p.relative_to(home): p.read_bytes() for p in home.rglob("*") if p.is_file()} == before
    assert ScoreSet.objects.get(name="reference").parameters == AWKWARD


def test_a_restored_installation_goes_on(backup) -> None:
    call_command("restore", str(backup))

    rows = {table.label: table.rows for table in manifest_of(backup).tables}
    assert Judgement.objects.count() == rows["annotation.judgement"] > 20
    assert PairFactory(dataset=Dataset.objects.get(slug="moods")).pk > 0  # numbers go on after the last
    connection.check_constraints()


@pytest.mark.exhaustive
def test_a_backup_has_files_that_are_not_on_this_machine_and_restores_them_for_all(
    machines, home, tmp_path
) -> None:
    dataset = DatasetFactory()
    PairFactory(dataset=dataset)
    snapshot = snapshot_create(dataset=dataset)
    with machines.another() as elsewhere:
        made = backup_make(path=tmp_path / "backup.zip", at=now())
        emptied(elsewhere)
    with contextlib.suppress(CommandError):  # a store is as much in use as a folder
        call_command("restore", str(tmp_path / "backup.zip"))
        assert not machines.shared
    if machines.shared:
        assert not Dataset.objects.exists()
        shared_remove("snapshots")
        shutil.rmtree(home / "snapshots")
        call_command("restore", str(tmp_path / "backup.zip"))

    assert (made.missing, made.damaged, made.files) == ([], [], 1)
    with machines.another():
        path = snapshot_path(Snapshot.objects.get())
        assert path.name == snapshot.path.rpartition("/")[2]
        assert sha256_of(path) == snapshot.sha256


def test_an_account_has_its_password_after_it_is_restored(home, tmp_path) -> None:
    User.objects.create_user("olga", password="a long password")
    backup_make(path=tmp_path / "backup.zip", at=now())
    emptied(home)

    call_command("restore", str(tmp_path / "backup.zip"))

    assert authenticate(username="olga", password="a long password") is not None


def test_sessions_are_not_in_a_backup(backup) -> None:
    with zipfile.ZipFile(backup) as archive:
        tables = archive.namelist()
    assert "tables/curation.user.jsonl" in tables
    assert "tables/sessions.session.jsonl" not in tables


def test_a_folder_in_use_is_not_overwritten(backup, home) -> None:
    (home / "runs" / "1").mkdir(parents=True)
    (home / "runs" / "1" / "log.txt").write_text("of somebody")

    with pytest.raises(CommandError, match="it has files in runs") as refused:
        call_command("restore", str(backup))

    assert refused.value.returncode == 2
    assert not Dataset.objects.exists()
    assert (home / "runs" / "1" / "log.txt").read_text() == "of somebody"


def test_a_database_in_use_is_not_overwritten(backup) -> None:
    UserFactory(username="early")

    with pytest.raises(CommandError, match=r"rows in curation\.user"):
        call_command("restore", str(backup))

    assert User.objects.get().username == "early"


@pytest.mark.parametrize("part", ["tables/annotation.judgement.jsonl", "files/"])
def test_a_backup_with_another_byte_is_refused_before_anything_is_written(
    backup, home, tmp_path, part: str
) -> None:
    changed = tmp_path.joinpath("changed.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith(part):
                content = content[:-3] + bytes([content[-3] ^ 1]) + content[-2:]
            new.writestr(name, content)

    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", str(changed))

    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


def test_half_a_backup_is_refused(backup, tmp_path) -> None:
    half = tmp_path.joinpath("half.zip")
    half.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])

    with pytest.raises(CommandError, match="is not a backup, or only a part"):
        call_command("restore", str(half))


def test_a_backup_whose_file_leads_out_of_the_folder_is_refused(backup, home, tmp_path) -> None:
    evil = tmp_path.joinpath("evil.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(evil, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"runs/', b'"../runs/'))

    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", str(evil))

    assert not (home.parent / "runs").exists()


def rewritten(backup: Path, there: Path, change: Callable[[dict], None], **more: bytes) -> Path:
    """The backup with another manifest, and with more parts."""
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(there, "w", zipfile.ZIP_DEFLATED) as new:
        manifest = json.loads(old.read("manifest.json"))
        change(manifest)
        for name in old.namelist():
            if name != "manifest.json" and name not in more:
                new.writestr(name, old.read(name))
        for name, content in more.items():
            new.writestr(name, content)
        new.writestr("manifest.json", json.dumps(manifest))
    return there


def copy_of(path: str, content: bytes, size: int | None = None) -> dict:
    sha256 = hashlib.sha256(content).hexdigest()
    return {"path": path, "size": len(content) if size is None else size, "sha256": sha256}


@pytest.mark.parametrize(
    "paths",
    [
        ["runs/x", "runs/x"],
        ["runs/x", "runs/./x"],
        ["runs/x", "runs/x/y"],
        ["runs/x/y/z", "runs/x"],
        ["runs/\0"],
    ],
)
def test_a_backup_with_one_path_twice_or_within_another_is_damaged(
    backup, home, tmp_path, paths: list[str]
) -> None:
    files = [copy_of(path, b"abc") for path in paths]
    parts = {f"files/{path}": b"abc" for path in paths}
    evil = rewritten(backup, tmp_path / "evil.zip", lambda manifest: manifest["files"].extend(files), **parts)

    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", str(evil))

    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


@pytest.mark.parametrize("check", [True, False])
def test_a_backup_unpacks_to_no_more_than_its_manifest_says(backup, home, tmp_path, check: bool) -> None:
    content = b"0" * 5_000_000
    file = copy_of("runs/bomb", content, size=3)
    evil = rewritten(
        backup,
        tmp_path / "evil.zip",
        lambda manifest: manifest["files"].append(file),
        **{"files/runs/bomb": content},
    )

    with pytest.raises(CommandError, match=r"damaged \(files/runs/bomb is not what was written\)"):
        call_command("restore", str(evil), check=check)

    assert not list(home.iterdir())


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b"7\n", None), (b'{"a": 1}\n', None), (b"[]\n", None), (b"null\n", None), (b"[" * 5_000 + b"\n", None),
        (b"[1" + b",{}" * 20 + b"]\n", None), (b"[" + b"9" * 400 + b"]\n", None),
        (b"", 'id") SELECT 1; --'), (b"[1]\n", 'id") SELECT 1; --'), (b"[1]\n", "nothing"),
    ],
)  # fmt: skip
def test_rows_that_somebody_made_up_are_one_sentence_and_keep_nothing(
    backup, home, tmp_path, line: bytes, field: str | None
) -> None:
    def change(manifest: dict) -> None:
        table = next(one for one in manifest["tables"] if one["label"] == "curation.sentence")
        width = line.count(b",") + 1
        fields = [field] if field else (table["fields"] * 9)[:width] if width > 1 else ["id"]
        table |= {"rows": 1, "sha256": hashlib.sha256(line).hexdigest(), "fields": fields}

    evil = rewritten(backup, tmp_path / "evil.zip", change, **{"tables/curation.sentence.jsonl": line})

    with pytest.raises(CommandError) as refused:
        call_command("restore", str(evil))

    assert refused.value
    assert str(evil) not in {os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()}
    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


def test_a_row_without_an_end_is_not_read_into_memory(backup, home, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(archive, "LINE_MAX_BYTES", 4_000)
    line = b"[" + b" " * 10_000 + b"]\n"

    def change(manifest: dict) -> None:
        table = next(one for one in manifest["tables"] if one["label"] == "curation.sentence")
        table |= {"rows": 1, "sha256": hashlib.sha256(line).hexdigest()}

    evil = rewritten(backup, tmp_path / "evil.zip", change, **{"tables/curation.sentence.jsonl": line})

    with pytest.raises(CommandError, match="is not what was written"):
        call_command("restore", str(evil))

    assert not Dataset.objects.exists()


def test_a_backup_that_has_no_room_is_refused_before_it_is_unpacked(backup, home, tmp_path) -> None:
    file = copy_of("runs/huge", b"", size=10**15)
    evil = rewritten(
        backup,
        tmp_path / "evil.zip",
        lambda manifest: manifest["files"].append(file),
        **{"files/runs/huge": b""},
    )

    with pytest.raises(
        CommandError, match=r"This backup takes 909\.5.TB once it is unpacked, and the disk of .* has room"
    ):
        call_command("restore", str(evil))

    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


@pytest.mark.parametrize("check", [True, False])
def test_a_backup_of_a_newer_version_is_refused(backup, tmp_path, check: bool) -> None:
    newer = tmp_path.joinpath("newer.zip")
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"0001_squashed"', b'"9999_tomorrow"'))

    with pytest.raises(CommandError, match="newer version"):
        call_command("restore", str(newer), check=check)


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_backup_of_an_earlier_version_is_restored_and_migrated(kept: Path, tmp_path) -> None:
    site = Installation(tmp_path / "site", "")  # without tables: those of the tests are migrated already

    site.manage("restore", str(kept))

    rows = {table.label: table.rows for table in manifest_of(kept).tables}
    assert site.row("SELECT count(*) FROM annotation_judgement") == (rows["annotation.judgement"],)
    assert rows["annotation.judgement"] > 20
    assert site.row("SELECT count(*) FROM django_migrations WHERE name = '0002_jobs_share_a_row'") == (2,)


@pytest.mark.parametrize("check", [True, False])
def test_a_backup_that_is_too_old_is_refused_with_the_version_that_reads_it(home, check: bool) -> None:
    with pytest.raises(CommandError, match=r"1\.0\.0rc1, which is the last version that reads it"):
        call_command("restore", str(TOO_OLD), check=check)

    assert not User.objects.exists()
    assert not list(home.iterdir())


def test_checking_a_backup_writes_nothing(backup, home) -> None:

    call_command("restore", str(backup), check=True)

    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


def test_rows_that_the_database_refuses_keep_nothing(backup, home, tmp_path) -> None:
    """As where a value of SQLite does not fit PostgreSQL: the other tables are not left behind either."""
    wrong = tmp_path.joinpath("wrong.zip")
    with backup_reading(backup) as reader, zipfile.ZipFile(backup) as old, zipfile.ZipFile(wrong, "w") as new:
        sentences = next(one for one in reader.manifest.tables if one.label == "curation.sentence")
        for name in old.namelist():
            content = b"" if "sentence.jsonl" in name else old.read(name)
            new.writestr(name, content.replace(sentences.sha256.encode(), _sha(b"")))

    with pytest.raises(CommandError, match="does not take the rows"):
        call_command("restore", str(wrong))

    assert not Dataset.objects.exists()
    assert not list(home.iterdir())


def _sha(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def test_a_full_disk_leaves_no_half_backup(home, small_disk) -> None:
    (home / "runs" / "1").mkdir(parents=True)
    (home / "runs" / "1" / "weights.safetensors").write_bytes(os.urandom(2**21))

    with pytest.raises(CommandError, match="The disk is full"):
        call_command("backup", str(small_disk / "backup.zip"))

    assert not list(small_disk.iterdir())


def test_folders_of_any_names_are_whole_until_a_file_changes(tmp_path) -> None:
    for name in ("a-b/x", "a/x", "a.x"):
        (tmp_path / "model" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "model" / name).write_text(name)
    found = sums_of(tmp_path / "model")
    named = [Reference("runs/1/model", content_sum(found))]
    copies = [FileCopy(f"runs/1/model/{one.name}", one.size, one.sha256) for one in found]
    changed = [*copies[1:], replace(copies[0], sha256="0" * 64)]

    assert damaged_of(named, copies) == []
    assert damaged_of(named, changed) == ["runs/1/model"]


def test_files_that_are_lost_or_changed_are_named(home, tmp_path, capsys) -> None:
    run = RunFactory()
    ArtifactFactory(run=run, path="runs/1/gone.csv")
    changed = home / "runs" / "1" / "changed.csv"
    changed.parent.mkdir(parents=True)
    changed.write_text("not what was written")
    ArtifactFactory(run=run, path="runs/1/changed.csv")
    (home / "runs" / "1" / "link").symlink_to("/etc/hostname")
    (home / "notes.txt").write_text("of the owner")

    call_command("backup", str(tmp_path / "backup.zip"), json=True)

    warnings = " ".join(json.loads(capsys.readouterr().out.splitlines()[-1])["warnings"])
    assert all(
        name in warnings for name in ("runs/1/gone.csv", "runs/1/changed.csv", "runs/1/link", "notes.txt")
    )
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert "files/runs/1/link" not in archive.namelist()


def rows_of(path: Path, label: str) -> list[dict[str, object]]:
    with backup_reading(path) as backup:
        table = next(one for one in backup.manifest.tables if one.label == label)
        return [dict(zip(table.fields, json.loads(line), strict=True)) for line in backup.lines(table)]


@pytest.fixture
def busy(home) -> Iterator[Callable[[], int]]:
    """Somebody who writes all the time: each transaction a file, a row that names it, and a row of another table; then
    the file before goes, with its row. Returns how many there were so far.
    """
    stop, count = threading.Event(), [0]
    run, dataset = RunFactory(), DatasetFactory()
    folder = home / "runs" / str(run.pk)
    folder.mkdir(parents=True)

    def write() -> None:
        before = None
        while not stop.is_set():
            number = count[0]
            path = folder / f"{number}.csv"
            path.write_text(str(number))
            _both(run, dataset, home, path, number, before)
            before = number
            count[0] += 1
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    yield lambda: count[0]
    stop.set()
    thread.join()


def _both(run, dataset, home: Path, path: Path, number: int, before: int | None) -> None:
    with transaction.atomic():
        ArtifactFactory(run=run, path=str(path.relative_to(home)), sha256=_sha(str(number).encode()).decode())
        ScoreSet.objects.create(dataset=dataset, name=str(number), kind="reference", low=0, high=1)
        if before is not None:
            run.artifacts.filter(path__endswith=f"/{before}.csv").delete()
            ScoreSet.objects.filter(dataset=dataset, name=str(before)).delete()
    if before is not None:
        path.with_name(f"{before}.csv").unlink()


@pytest.mark.exhaustive
def test_a_backup_of_a_busy_site_is_of_one_moment(busy, home, tmp_path) -> None:
    for number in range(4):
        path = tmp_path / f"{number}.zip"
        until = busy() + 3
        while busy() < until:
            time.sleep(0.01)

        made = backup_make(path=path, at=now())

        [artifact] = rows_of(path, "mlworkers.artifact")
        [score_set] = rows_of(path, "curation.scoreset")
        assert Path(artifact["path"]).stem == score_set["name"]
        assert artifact["path"] in {file.path for file in manifest_of(path).files}
        assert made.missing == made.damaged == []
    assert not list(home.glob(".backup-*"))


@pytest.mark.skipif(
    "SEMBLANCE_KEEP_BACKUP" not in os.environ, reason="writes the backup of a released version"
)
def test_a_backup_is_kept_for_the_tests_of_later_versions(backup) -> None:
    shutil.copyfile(backup, os.environ["SEMBLANCE_KEEP_BACKUP"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_an_earlier_version_is_restored_on_an_empty_machine_and_moved_to_postgresql(
    kept: Path, tmp_path
) -> None:
    """Everything as processes, from an empty folder on: what an operator does."""
    there = manifest_of(kept)
    small = Installation(tmp_path / "small", "")
    small.manage("restore", str(kept))
    small.manage("backup", str(tmp_path / "small.zip"))

    with database_of_its_own(f"semblance_moved_{os.getpid()}") as url:
        if url:
            proof = json.loads(small.manage("move_database", url, "--json").splitlines()[-1])
            large = Installation(tmp_path / "large", url)
            shutil.copytree(small.home / "runs", large.home / "runs")
            shutil.copytree(small.home / "snapshots", large.home / "snapshots")
            doctor = json.loads(large.manage("doctor", "--json").splitlines()[-1])

    then = sums(manifest_of(tmp_path / "small.zip"))
    lost = {label for label, (rows, _sum) in sums(there).items() if then.get(label, (0, ""))[0] < rows}
    assert lost == set()
    if url:
        assert {label: tuple(sums) for label, sums in proof["tables"].items() if label in then} == then
        assert doctor["problems"] == 0


@pytest.mark.postgres
def test_an_installation_on_postgresql_is_not_moved(home) -> None:
    with pytest.raises(CommandError, match="on PostgreSQL already"):
        call_command("move_database", "postgres://nobody@127.0.0.1:1/none")
