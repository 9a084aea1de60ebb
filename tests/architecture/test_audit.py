"""The audit of packages: it fails when it audited nothing, and says what is weak by an export of OSV."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATED = "The pinned versions were last audited on 2026-11-01."
PINS = "".join(f"package-{n}==1.{n}\n" for n in range(1, 21))


def entry(name: str, *, modified: str = "2026-11-20T00:00:00Z", **affected: object) -> dict:
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": "GHSA-1", "modified": modified, "affected": [{"package": package, **affected}]}


def between(*events: dict[str, str]) -> dict:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


@pytest.fixture
def project(tmp_path) -> Path:
    """Twenty versions, which were audited on 1 November."""
    (tmp_path / "semblance" / "requirements").mkdir(parents=True)
    (tmp_path / ".ci").mkdir()
    (tmp_path / "semblance" / "requirements" / "web.txt").write_text(PINS)
    (tmp_path / "constraints.txt").write_text("# Comment\nPackage_1==1.1\n")
    (tmp_path / ".ci" / "audited.txt").write_text(PINS)
    (tmp_path / "SECURITY.md").write_text(f"# Security\n{DATED}\n")
    return tmp_path


def audit(project: Path, *arguments: object, today: str = "2026-11-28", **variables: str) -> tuple[int, str]:
    # An address of this machine at which nothing listens is the only way out.
    away = {"HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    kept = {name: os.environ[name] for name in os.environ if not name.startswith("AUDIT_")}
    command = [sys.executable, str(ROOT / ".ci" / "audit"), "--root", str(project), "--today", today]
    done = subprocess.run(
        [*command, *map(str, arguments)],
        env=kept | away | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def export_of(project: Path, *entries: dict) -> Path:
    path = project / "export.json"
    path.write_text(json.dumps(entries))
    return path


@pytest.mark.exhaustive
def test_an_audit_that_reaches_no_service_fails(project) -> None:
    status, said = audit(project)

    assert status == 1
    assert said.startswith("Nothing was audited: ")


def test_an_export_without_packages_of_python_audits_nothing(project) -> None:
    other = entry("package-1")
    other["affected"][0]["package"]["ecosystem"] = "npm"

    assert audit(project, "--osv", export_of(project, other))[0] == 1


def test_an_export_that_is_old_audits_nothing(project) -> None:
    old = export_of(project, entry("other", modified="2026-08-01T00:00:00Z"))

    status, said = audit(project, "--osv", old)

    assert status == 1
    assert "2026-08-01" in said


def test_without_a_network_it_ends_with_not_audited(project) -> None:
    status, said = audit(project, "--osv", project / "nothing", AUDIT_WITHOUT_NETWORK="1")

    assert status == 0
    assert said.startswith("NOT AUDITED: ")


@pytest.mark.parametrize(("today", "status"), [("2027-01-30", 0), ("2027-01-31", 1)])
def test_without_a_network_it_fails_90_days_after_the_last_audit(project, today: str, status: int) -> None:
    nothing = project / "nothing"

    assert audit(project, "--osv", nothing, today=today, AUDIT_WITHOUT_NETWORK="1")[0] == status


@pytest.mark.parametrize(("changed", "status"), [(2, 0), (3, 1)])
def test_without_a_network_it_fails_when_more_than_a_tenth_of_the_versions_changed(
    project, changed: int, status: int
) -> None:
    audited = PINS.splitlines()[changed:]
    (project / ".ci" / "audited.txt").write_text("\n".join(audited))

    assert audit(project, "--osv", project / "nothing", AUDIT_WITHOUT_NETWORK="1")[0] == status


@pytest.mark.parametrize(
    ("affected", "is_weak"),
    [
        ({"versions": ["1.1"]}, True),
        ({"versions": ["1.10"]}, False),
        (between({"introduced": "0"}), True),
        (between({"introduced": "0"}, {"fixed": "1.1"}), False),
        (between({"introduced": "0"}, {"fixed": "1.1.1"}), True),
        (between({"introduced": "1.2"}), False),
        (between({"introduced": "0"}, {"last_affected": "1.1"}), True),
        (between({"introduced": "0"}, {"last_affected": "1.0.9"}), False),
        (between({"introduced": "0"}, {"fixed": "1.0"}, {"introduced": "1.1"}), True),
        ({"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]}, False),
    ],
)
def test_a_version_is_weak_by_the_list_of_versions_and_by_ranges(
    project, affected: dict, is_weak: bool
) -> None:
    status, said = audit(project, "--osv", export_of(project, entry("Package.1", **affected)))

    assert status == is_weak
    assert ("package-1 1.1: GHSA-1" in said) == is_weak
    assert f"20 of 20 versions audited, {int(is_weak)} known weaknesses." in said


def test_an_entry_that_was_withdrawn_says_nothing(project) -> None:
    withdrawn = entry("package-1", versions=["1.1"]) | {"withdrawn": "2026-11-21T00:00:00Z"}

    status, said = audit(project, "--osv", export_of(project, entry("other", versions=["1"]), withdrawn))

    assert (status, said) == (0, "20 of 20 versions audited, 0 known weaknesses.\n")


def test_an_audit_of_a_zip_is_dated_and_its_versions_are_kept(project) -> None:
    export = project / "all.zip"
    with zipfile.ZipFile(export, "w") as held:
        held.writestr("GHSA-1.json", json.dumps(entry("other", versions=["1"])))

    status, _ = audit(project, "--osv", export, "--write")

    assert status == 0
    assert "The pinned versions were last audited on 2026-11-28." in (project / "SECURITY.md").read_text()
    assert len((project / ".ci" / "audited.txt").read_text().splitlines()) == 21


def test_an_audit_that_found_something_is_not_dated(project) -> None:
    status, _ = audit(project, "--osv", export_of(project, entry("package-1", versions=["1.1"])), "--write")

    assert status == 1
    assert DATED in (project / "SECURITY.md").read_text()
