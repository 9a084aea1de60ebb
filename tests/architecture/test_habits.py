"""What programs and editors read of the repository names things that are there."""

import json
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_for_programs_is_short_and_names_what_is_there() -> None:
    text = (ROOT / "AGENTS.md").read_text()
    paths = {
        name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", text) if not name.startswith((".venv", "/"))
    }
    named = paths | set(re.findall(r"\]\(([\w./-]+)\)", text))
    targets = set(re.findall(r"`make ([a-z][\w-]*)", text))
    makefile = (ROOT / "Makefile").read_text()

    assert len(text.splitlines()) <= 60
    assert not [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "mlworkers" / name).exists()
    ]
    assert not [target for target in targets if f"\n{target}:" not in makefile]


def test_the_checks_before_a_commit_are_those_of_make_check() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    makefile = (ROOT / "Makefile").read_text()

    for hook in hooks:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert f"$(BIN)/{program}" in makefile, hook["id"]


def test_the_container_for_developers_installs_as_make_does() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())

    assert container["postCreateCommand"].endswith("make .venv/installed-dev")
    assert ":3.11" in container["image"]


def test_the_notes_of_a_release_are_short_and_have_at_most_four_headings() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    *notes, before = releases

    assert before.startswith("Before 1.0.0")
    assert len(before.splitlines()) <= 40
    for release in notes:
        assert len(release.split()) <= 400, release.splitlines()[0]
        assert release.count("\n### ") <= 4, release.splitlines()[0]
