#!/usr/bin/env python3
"""The size of the code and the imports between its rooms: one line for each figure, with its start and its limit.

usage: python docs/experiments/house.py [--list NAME]        (in the project's environment; seconds)

--list: the places behind a figure, for example `--list voice`, `--list kinds` or `--list once`.
Figures of the start are those of commit START, counted by this script.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # grimp and Django read the packages of this checkout

from tests.architecture.rooms import APPS as PACKAGES  # noqa: E402
from tests.architecture.rooms import MOST_ARROWS, arrows  # noqa: E402

MATHEMATICAL = (
    "annotation/bws",
    "curation/statistics",
    "curation/pairs/sampling",
    *(
        f"mlworkers/science/{room}"
        for room in (
            "realism",
            "consistency",
            "contexts",
            "paraphrasing",
            "encoders",
            "synthesis",
            "training",
        )
    ),
)
# Patterns of docs that must be decoded (what to write instead is in CONTRIBUTING.md).
VOICE = (
    r"(?<![Tt]here )\b(?:is|are|was|were) no\b(?! (?:longer|more))",
    r"\bwho(?:ever)\b",
    r"\b(?:is|are|was|were|be|been) told\b",
    r"\bso many\b.{0,40}\bas many\b",
    r"\bin place of\b",
    r"\bof (?:its|their|one's|his|her|our) own\b",
    r"\bhangs? together\b",
    r"\bin the dress of\b",
    r"\banew\b",
    r"\bmeanwhile\b",
    r"\btaken up again\b",
    r"\bworked out\b",
    r"\bcame of it\b",
    r"\bspeaks? of\b",
    r"\btold apart\b",
)


@cache
def product() -> tuple[Path, ...]:
    return tuple(
        sorted(
            path
            for package in PACKAGES
            for path in (ROOT / package).rglob("*.py")
            if "migrations" not in path.parts
        )
    )


@cache
def source(path: Path) -> str:
    return path.read_text()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(source(path))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines_of(paths: Iterator[Path] | tuple[Path, ...]) -> int:
    return sum(source(path).count("\n") for path in paths)


FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def functions() -> tuple[tuple[Path, ast.FunctionDef], ...]:
    return tuple(
        (path, node) for path in product() for node in ast.walk(tree(path)) if isinstance(node, FUNCTION)
    )


WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


@cache
def names_used() -> Counter[str]:
    """The number of times each word is in product code and templates, definitions included."""
    files = (*product(), *(ROOT / "templates").rglob("*.html"))
    return Counter(word for path in files for word in WORD.findall(source(path)))


@cache
def names_in(path: Path) -> Counter[str]:
    return Counter(WORD.findall(source(path)))


def length(node: ast.FunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def once(*, private: bool) -> list[str]:
    """Functions named in one place besides their definition: private ones in their file, public ones anywhere but for
    those that a kind of run names, which is how they are called.
    """
    declared = "".join(source(path) for path in product() if path.name == "kinds.py")
    of_kinds = set(re.findall(r'"\w+\.(\w+)"', declared))
    return [
        f"{name_of(path)}: {node.name}"
        for path, node in functions()
        if node.name.startswith("_") == private
        and not node.name.startswith("__")
        and node.name not in of_kinds
        and (names_in(path) if private else names_used())[node.name] == 2
    ]


def docstrings() -> int:
    """Lines of docstrings."""
    documented = (ast.Module, ast.ClassDef, *FUNCTION)
    return sum(
        (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
        for path in product()
        for node in ast.walk(tree(path))
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    )


def comments(paths: list[Path]) -> int:
    return sum(
        token.type == tokenize.COMMENT and not re.match(r"# (?:noqa|type:)", token.string)
        for path in paths
        for token in tokenize.generate_tokens(io.StringIO(source(path)).readline)
    )


def mathematical() -> list[Path]:
    return [path for path in product() if name_of(path).startswith(MATHEMATICAL)]


def estimates() -> list[str]:
    return [
        f"{name_of(path)}:{node.lineno}: {node.name}"
        for path in product()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        and re.fullmatch(r"\w*Estimate", node.name)
        and "plan" not in name_of(path)
    ]


@cache
def kinds() -> dict[str, str]:
    """The folder of each kind's family, by the kind's name."""
    import django  # noqa: PLC0415 - only this figure needs the settings
    from django.conf import settings  # noqa: PLC0415

    if not settings.configured:
        import os  # noqa: PLC0415

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
        django.setup()
    from mlworkers.plans.kinds import KINDS  # noqa: PLC0415

    return {kind.name: kind.home.replace(".", "/") + "/" for kind in KINDS.values()}


def kinds_compared() -> list[str]:
    """Places of templates that compare something with the name of a kind."""
    pattern = re.compile(rf"""kind(?:\.name)?\s*(?:==|!=|in)\s*["'][^"']*(?:{"|".join(kinds())})""")
    return [
        f"{name_of(path)}:{number}: {line.strip()[:90]}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(source(path).splitlines(), start=1)
        if pattern.search(line)
    ]


def kinds_named() -> dict[str, list[str]]:
    """The files of the product in which a kind's name is a string, outside the folder that is its home."""
    named: dict[str, set[str]] = defaultdict(set)
    pattern = re.compile(rf"""["']({"|".join(kinds())})["']""")
    for path in (*product(), *(ROOT / "templates").rglob("*.html")):
        for kind in pattern.findall(source(path)):
            named[kind].add(name_of(path))
    return {
        kind: sorted(file for file in files if not file.startswith(kinds()[kind]))
        for kind, files in named.items()
    }


def longest_chain() -> list[str]:
    """The longest way along imports at the top of modules. Cycles, if there are any, count as one step."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    best: dict[str, list[str]] = {}
    underway: set[str] = set()

    def chain(module: str) -> list[str]:
        if module in best:
            return best[module]
        if module in underway:
            return []
        underway.add(module)
        found = max(
            (chain(other) for other in graph.find_modules_directly_imported_by(module)), key=len, default=[]
        )
        underway.discard(module)
        best[module] = [module, *found]
        return best[module]

    sys.setrecursionlimit(10_000)
    return max((chain(module) for module in sorted(graph.modules)), key=len)


def voice() -> list[str]:
    """Patterns that must be decoded, in docstrings and comments."""
    found = []
    for path in product():
        for token in tokenize.generate_tokens(io.StringIO(source(path)).readline):
            if token.type == tokenize.COMMENT or (
                token.type == tokenize.STRING and token.string.startswith('"""')
            ):
                for pattern in VOICE:
                    for match in re.finditer(pattern, token.string):
                        line = token.start[0] + token.string[: match.start()].count("\n")
                        found.append(f"{name_of(path)}:{line}: {match[0]}")
    return found


@dataclass(frozen=True)
class Figure:
    """One figure of the house.

    name: for --list.
    start: its value at commit START.
    limit: a number, or, as a text, a share of `start`, such as "88 %".
    least: whether the limit is the least, and not the most.
    places: what --list prints.
    """

    name: str
    what: str
    value: Callable[[], float]
    start: float
    limit: float | str
    least: bool = False
    places: Callable[[], list[str]] | None = None

    @property
    def bound(self) -> float:
        if isinstance(self.limit, str):
            return self.start * float(self.limit.removesuffix(" %")) / 100
        return self.limit


START = "29625f4d"


def tests_lines() -> int:
    return lines_of(tuple((ROOT / "tests").rglob("*.py")))


def template_lines() -> int:
    return lines_of(tuple((ROOT / "templates").rglob("*.html")))


def longest_functions() -> list[str]:
    longest = sorted(functions(), key=lambda each: -length(each[1]))[:40]
    return [f"{length(node)} {name_of(path)}: {node.name}" for path, node in longest]


def kinds_most() -> list[str]:
    ordered = sorted(kinds_named().items(), key=lambda each: -len(each[1]))
    return [f"{len(files)} {kind}: {', '.join(files)}" for kind, files in ordered]


def per_hundred_docstrings() -> float:
    return 100 * docstrings() / lines_of(product())


def per_hundred_comments() -> float:
    return 100 * comments(mathematical()) / lines_of(tuple(mathematical()))


def longest_function() -> int:
    return max(length(node) for _, node in functions())


def rooms(package: str, start: int) -> Figure:
    def between() -> list[str]:
        return arrows(package)

    what = f"arrows between rooms of {package}"
    return Figure(package, what, lambda: len(between()), start, MOST_ARROWS[package], places=between)


def figures() -> list[Figure]:
    decisions = ROOT / "docs" / "adr"
    return [
        Figure("python", "lines of product Python", lambda: lines_of(product()), 116_612, "88 %"),
        Figure("templates", "lines of templates", template_lines, 17_478, "80 %"),
        Figure("tests", "lines of tests", tests_lines, 92_371, "94 %"),
        Figure("docstrings", "lines of docstrings per 100", per_hundred_docstrings, 9.7, "100 %", least=True),
        Figure("comments", "comments per 100 lines of mathematics", per_hundred_comments, 2.4, 8, least=True),
        Figure("estimates", "classes of an estimate", lambda: len(estimates()), 9, 1, places=estimates),
        Figure(
            "compared",
            "kinds compared in templates",
            lambda: len(kinds_compared()),
            27,
            0,
            places=kinds_compared,
        ),
        Figure(
            "kinds",
            "most files that name one kind",
            lambda: max(map(len, kinds_named().values())),
            13,
            2,
            places=kinds_most,
        ),
        Figure(
            "once",
            "private functions named once",
            lambda: len(once(private=True)),
            1286,
            700,
            places=lambda: once(private=True),
        ),
        Figure(
            "public",
            "public functions named once",
            lambda: len(once(private=False)),
            318,
            "100 %",
            places=lambda: once(private=False),
        ),
        Figure(
            "longest", "lines of the longest function", longest_function, 94, 60, places=longest_functions
        ),
        rooms("annotation", 56),
        rooms("annotation.bws", 13),
        rooms("mlworkers", 105),
        rooms("curation", 126),
        Figure(
            "chain",
            "modules in the longest import chain",
            lambda: len(longest_chain()),
            25,
            18,
            places=longest_chain,
        ),
        Figure("voice", "patterns of the Voice list", lambda: len(voice()), 325, 50, places=voice),
        Figure("adrs", "decision records", lambda: len(list(decisions.glob("[0-9]*.md"))), 104, 45),
    ]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--list"]:
        [figure] = [each for each in figures() if each.name == arguments[1]]
        print("\n".join(figure.places() if figure.places else ["This figure has no list."]))
        return
    missed = 0
    print(f"{'':16} {START:>9} {'now':>9} {'limit':>9}")
    for figure in figures():
        value = figure.value()
        kept = value >= figure.bound if figure.least else value <= figure.bound
        missed += not kept
        verdict = "" if kept else "MISSED: "
        print(
            f"{figure.name:16} {figure.start:9.1f} {value:9.1f} {figure.bound:9.1f}  {verdict}{figure.what}"
        )
    print(f"{missed} figures miss their limit.")


if __name__ == "__main__":
    main(sys.argv[1:])
