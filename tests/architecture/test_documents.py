"""The documents name files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")
# A path of the repository between backticks, such as `curation/pairs/text.py` or `docs/adr/`.
PATH = re.compile(
    r"`((?:curation|annotation|mlworkers|semblance|templates|static|tests|docs|benchmarks)/[\w./-]*)`"
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_the_documents_exist(document: str) -> None:
    named = PATH.findall((ROOT / document).read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []
