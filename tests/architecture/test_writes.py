"""Only services and the verbs with a file of their own write to the database; only settings read the environment."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("curation", "annotation", "mlworkers", "semblance")
WRITES = {"save", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "delete"}
PURE = (
    "annotation/bws",
    "curation/pairs",
    "curation/files",
    "mlworkers/encoders",
    "mlworkers/pretrained",
    "mlworkers/realism",
    "mlworkers/synthesis",
    "mlworkers/training",
)
WRITERS = {
    "curation/datasets/services.py",
    "curation/datasets/people.py",
    "curation/accounts/guessing.py",
    "curation/accounts/tokens.py",
    "curation/exchange/uploads.py",
    "curation/exchange/importing.py",
    "curation/exchange/exporting.py",
    "curation/exchange/pair_writing.py",
    "curation/exchange/generated.py",
    "curation/review/verdicts.py",
    "annotation/campaigns/services.py",
    "annotation/campaigns/gold.py",
    "annotation/judging/assignment.py",
    "annotation/judging/settling.py",
    "annotation/results/publishing.py",
    "annotation/results/importing.py",
    "annotation/results/study.py",
    "annotation/campaigns/rounds.py",
    "annotation/judging/repeats.py",
    "annotation/campaigns/adapting.py",
    "annotation/campaigns/growing.py",
    "annotation/campaigns/commissioning.py",
    "mlworkers/runs/services.py",
    "mlworkers/runs/lifecycle.py",
    "mlworkers/runs/invitations.py",
    "mlworkers/runs/presence.py",
    "semblance/demo/accounts.py",
    "semblance/cache.py",  # a cache has a delete of its own
}


def is_pure(path: Path) -> bool:
    """A folder named by its subject knows no database, and numpy has a delete of its own."""
    return any(path.is_relative_to(ROOT / folder) for folder in PURE)


def sources() -> list[Path]:
    return [
        path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts
    ]


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]


def test_only_services_write() -> None:
    written = [
        f"{path.relative_to(ROOT)}:{call.lineno} .{call.func.attr}()"
        for path in sources()
        if str(path.relative_to(ROOT)) not in WRITERS and not is_pure(path)
        for call in calls(path)
        if isinstance(call.func, ast.Attribute) and call.func.attr in WRITES
    ]

    assert written == []


def test_only_settings_read_the_environment() -> None:
    allowed = {"semblance/settings.py", "semblance/celery.py", "semblance/wsgi.py"}

    read = [
        name
        for path in sources()
        if (name := str(path.relative_to(ROOT))) not in allowed and "os.environ" in path.read_text()
    ]

    assert read == []
