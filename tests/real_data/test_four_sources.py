"""The commands of docs/examples/four_sources.sh, as they stand, on the first 200 lines of each of its files."""

import re
import shlex
from pathlib import Path

import datasets
import pytest
from django.conf import settings
from django.core.management import call_command

from curation.models import Pair

pytestmark = [pytest.mark.real_data, pytest.mark.django_db]
LINES = 200
EXAMPLE = Path(settings.BASE_DIR) / "docs" / "examples" / "four_sources.sh"


def commands() -> list[list[str]]:
    return [
        shlex.split(line)[1:] for line in re.findall(r"^(semblance .*)$", EXAMPLE.read_text(), re.MULTILINE)
    ]


@pytest.mark.exhaustive
def test_the_example_goes_from_raw_files_to_a_folder_that_loads_and_a_methods_section(
    real_data, tmp_path, monkeypatch, capsys
) -> None:
    named = set(re.findall(r"\$DATA/(\S+)", EXAMPLE.read_text()))
    for name in named:
        shorter = tmp_path / "data" / name
        shorter.parent.mkdir(parents=True, exist_ok=True)
        lines = (real_data / name).read_text(encoding="utf-8").splitlines(keepends=True)
        shorter.write_text("".join(lines[:LINES]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    for name, *arguments in commands():
        call_command(name, *(argument.replace("$DATA", str(tmp_path / "data")) for argument in arguments))

    assert len(named) == 5
    assert set(Pair.objects.values_list("subset", flat=True)) == {"overlap", "percentiles", "labels", "score"}
    printed = capsys.readouterr().out
    assert "No split shares a sentence with another." in printed
    methods = (tmp_path / "composed-1" / "METHODS.md").read_text()
    assert methods in printed
    for subset in ("overlap", "percentiles", "labels", "score"):
        rows = [line for line in methods.splitlines() if f"| imported | {subset} |" in line]
        counted = sum(int(line.split("|")[-2].replace(",", "")) for line in rows)
        assert counted == Pair.objects.filter(subset=subset, status="active").count() > 0
    scored = datasets.load_dataset(str(tmp_path / "composed-1"), "scored", cache_dir=str(tmp_path / "cache"))
    assert sum(scored.num_rows.values()) == Pair.objects.filter(subset="score").count() > 50
