"""Adding a kind of run is adding a folder."""

import os
import subprocess
import sys
from pathlib import Path

from tests.template_databases import file_copied, tables_template

ROOT = Path(__file__).resolve().parents[3]
FAMILIES = Path(__file__).with_name("families")


def test_a_kind_is_one_folder_with_its_form_estimate_page_files_command_and_api(tmp_path, shared) -> None:
    database = tmp_path / "database.sqlite3"
    file_copied(tables_template(shared, ""), database)
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{database}", "SEMBLANCE_HOME": str(tmp_path)}
    environment |= {"SECRET_KEY": "of a test, " * 5, "ALLOWED_HOSTS": "localhost", "REDIS_URL": ""}

    done = subprocess.run(
        [sys.executable, FAMILIES / "program.py"],
        cwd=ROOT, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.endswith("all seen\n"), done.stderr
    assert sum(len(path.read_text().splitlines()) for path in (FAMILIES / "toy").glob("*.py")) <= 120
