"""Which modules are pure: pyproject.toml declares it, in import-linter's contract, and the tests read it there."""

import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def pure_modules() -> list[str]:
    """The packages and modules that know no Django and no Celery."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    modules: list[str] = next(
        contract["source_modules"] for contract in contracts if contract["name"].startswith("Pure")
    )
    return modules
