"""The site of tests/golden, restored: every page opens, and every CSV file has the bytes that it had."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.visiting import ANSWERS, BACKUP, visit
from tests.integration.mlworkers.installation import Installation

KNOWN = json.loads(ANSWERS.read_text())
CSV_FILES = sorted(address for address, answer in KNOWN.items() if len(answer) > 2)


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installation:
    restored = Installation(tmp_path_factory.mktemp("golden"), "")
    restored.manage("restore", str(BACKUP))
    return restored


@pytest.mark.exhaustive
@pytest.mark.own_site
def test_every_page_of_a_site_of_before_opens(installed) -> None:
    answers = visit(installed, sorted(KNOWN))

    assert {address: answer[:2] for address, answer in answers.items()} == {
        address: answer[:2] for address, answer in KNOWN.items()
    }


@pytest.mark.own_site
def test_every_csv_file_has_the_bytes_of_before(installed) -> None:
    assert len(CSV_FILES) > 30
    assert visit(installed, CSV_FILES) == {address: KNOWN[address] for address in CSV_FILES}


@pytest.mark.exhaustive
@pytest.mark.own_site
def test_forms_show_few_fields_at_first_and_pages_few_links() -> None:
    root = Path(__file__).parents[2]
    script = [sys.executable, root / "docs" / "experiments" / "first_hour.py", "--no-clicks"]
    environment = os.environ | {"DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": str(root)}

    ran = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
