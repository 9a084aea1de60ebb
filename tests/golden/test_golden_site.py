"""The site of tests/golden, restored: every page opens, and every CSV file has the bytes that it had."""

import json
from pathlib import Path

import pytest

from tests.golden.visiting import ANSWERS, BACKUP, visit
from tests.integration.mlworkers.installation import Installation


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, list]:
    home: Path = tmp_path_factory.mktemp("golden")
    installed = Installation(home, "")
    installed.manage("restore", str(BACKUP))
    return visit(installed, sorted(json.loads(ANSWERS.read_text())))


@pytest.mark.own_site
def test_every_page_of_a_site_of_before_opens(answers) -> None:
    known = json.loads(ANSWERS.read_text())

    assert {address: answer[:2] for address, answer in answers.items()} == {
        address: answer[:2] for address, answer in known.items()
    }


@pytest.mark.own_site
def test_every_csv_file_has_the_bytes_of_before(answers) -> None:
    known = {
        address: answer for address, answer in json.loads(ANSWERS.read_text()).items() if len(answer) > 2
    }

    assert len(known) > 30
    assert {address: answers[address] for address in known} == known
