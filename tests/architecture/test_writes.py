"""What translates or reads never writes to the database; only settings read the environment."""

import ast
import re
from pathlib import Path

from tests.architecture.purity import pure_modules

ROOT = Path(__file__).resolve().parents[2]
APPS = ("curation", "annotation", "mlworkers", "semblance")
WRITES = {"save", "create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "delete"}
# Files and folders that write nothing, in every app: the ways in, and what only reads. The other verbs of the feature
# folders write.
READERS = {
    "access",
    "admin",
    "api",
    "charts",
    "forms",
    "management",
    "models",
    "selectors",
    "serializers",
    "templatetags",
    "urls",
    "views",
}
MAY_WRITE = {
    "curation/models/accounts.py",  # a new hash of the same password keeps the token valid
    "curation/models/audit.py",  # erasing a person's data writes another name
}


def only_reads(path: Path) -> bool:
    """Whether the file is one of those that write nothing. Pure packages know no database (numpy has a `delete`)."""
    name = path.relative_to(ROOT)
    module = ".".join(name.with_suffix("").parts)
    pure = any(module == pure or module.startswith(f"{pure}.") for pure in pure_modules())
    return not pure and bool(READERS & {*name.parts[:-1], name.stem})


def is_write(call: ast.Call) -> bool:
    """Whether the call's name writes rows: `.save()`, or `.update(column=value)`, which no dict needs."""
    if not isinstance(call.func, ast.Attribute):
        return False
    updates_rows = call.func.attr == "update" and not call.args and bool(call.keywords)
    return call.func.attr in WRITES or updates_rows


def sources() -> list[Path]:
    return [
        path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts
    ]


def calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]


def test_what_translates_or_reads_writes_nothing() -> None:
    written = [
        f"{path.relative_to(ROOT)}:{call.lineno} {ast.unparse(call.func)}()"
        for path in sources()
        if only_reads(path) and str(path.relative_to(ROOT)) not in MAY_WRITE
        for call in calls(path)
        if is_write(call)
    ]

    assert written == []


def test_only_settings_read_the_environment() -> None:
    # The last two hand prometheus_client the folder that the processes of the web server share.
    names = ("__init__", "settings", "celery", "wsgi", "request_times", "serving/web_server")
    allowed = {f"semblance/{name}.py" for name in names}

    read = [
        name
        for path in sources()
        if (name := str(path.relative_to(ROOT))) not in allowed and "os.environ" in path.read_text()
    ]

    assert read == []


def test_one_module_writes_separated_cells() -> None:
    """What is a formula to a spreadsheet is decided there, so a file that is written elsewhere escapes it."""
    writers = {
        str(path.relative_to(ROOT))
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute | ast.alias) and {"writer", "DictWriter"} & {_name(node)}
    }

    assert writers == {"curation/files/tables.py"}


def test_score_sets_are_made_by_publishing_and_by_imports_alone() -> None:
    """A score set never changes, and its name is taken under the dataset's lock: `score_set_publish` sees to both."""
    makers = {
        "ScoreSet",
        "ScoreSet.objects.create",
        "ScoreSet.objects.bulk_create",
        "ScoreSet.objects.get_or_create",
    }

    found = {
        str(path.relative_to(ROOT))
        for path in sources()
        for call in calls(path)
        if ast.unparse(call.func) in makers
    }

    assert found == {"curation/datasets/services.py", "curation/exchange/importing.py"}


def _name(node: ast.Attribute | ast.alias) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.name


def test_each_exception_of_a_rule_of_security_says_why() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"# noqa: S\d+\b(?! - \S)", line)
    ]

    assert silent == []
