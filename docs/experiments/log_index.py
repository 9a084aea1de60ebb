"""Write the tables of LOG.md from the entries in log/, so that the index has every entry.

usage: docs/experiments/log_index.py        (a test compares)

An entry begins with a heading such as `## R-07 · 2026-11-22 · Title <a id="r-07"></a>`. The letter is that of its
file; the numbers of a file rise with the date, and the newest entry is at the top.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
INDEX = FOLDER / "LOG.md"
HEADING = re.compile(r'## ([A-Z])-(\d\d+) · (\d{4}-\d\d-\d\d) · (.+) <a id="([a-z]-\d+)"></a>')


@dataclass(frozen=True)
class Entry:
    letter: str
    number: int
    date: str
    title: str
    anchor: str

    @property
    def name(self) -> str:
        return f"{self.letter}-{self.number:02d}"


@dataclass(frozen=True)
class Subject:
    """A file of the log. entries: as they stand in it."""

    file: str
    title: str
    entries: Sequence[Entry]


def subject(path: Path) -> Subject:
    """Raises ValueError where a heading is not that of an entry, or where no blank line is before it."""
    lines = path.read_text("utf-8").splitlines()
    entries, code = [], False
    for place, line in enumerate(lines):
        code ^= line.startswith("```")
        if code or not line.startswith("## "):
            continue
        found = HEADING.fullmatch(line)
        if not found or lines[place - 1]:
            raise ValueError(f"{path.name}, line {place + 1}: {line}")
        letter, number, date, title, anchor = found.groups()
        entries.append(Entry(letter, int(number), date, title, anchor))
    return Subject(path.name, lines[0].removeprefix("# "), entries)


def subjects(folder: Path = FOLDER / "log") -> list[Subject]:
    return sorted(map(subject, folder.glob("*.md")), key=lambda each: each.title)


def tables(found: Sequence[Subject]) -> str:
    """The subjects, then all entries, the newest first."""
    lines = ["| | subject | entries |", "|---|---|---:|"]
    lines += [
        f"| {each.entries[0].letter} | [{each.title}](log/{each.file}) | {len(each.entries)} |"
        for each in found
    ]
    lines += ["", "## Entries", "", "| id | date | title |", "|---|---|---|"]
    rows = [(entry, each.file) for each in found for entry in each.entries]
    rows.sort(key=lambda row: row[0].date, reverse=True)
    lines += [
        f"| [{entry.name}](log/{file}#{entry.anchor}) | {entry.date} | {entry.title} |"
        for entry, file in rows
    ]
    return "\n".join(lines) + "\n"


def index_text(text: str, found: Sequence[Subject]) -> str:
    """The index with its tables written again; what stands before them stays."""
    head, mark, _old = text.partition("## Subjects\n\n")
    return head + mark + tables(found)


if __name__ == "__main__":
    INDEX.write_text(index_text(INDEX.read_text("utf-8"), subjects()), "utf-8")
