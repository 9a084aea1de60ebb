"""docs/openapi.yaml describes the API as it is."""

import difflib
from pathlib import Path

import pytest
from django.core.management import call_command

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.exhaustive
def test_the_written_schema_is_up_to_date(tmp_path: Path) -> None:
    made = tmp_path / "openapi.yaml"

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(made))

    written = (ROOT / "docs" / "openapi.yaml").read_text().splitlines()
    now = made.read_text().splitlines()
    difference = "\n".join(
        difflib.unified_diff(written, now, "docs/openapi.yaml", "the API", lineterm="", n=1)
    )
    assert not difference, f"run `make schema`:\n{difference}"
