"""The documents name files and decisions that exist."""

import re
import runpy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
DOCUMENTS = (
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    *(f"docs/adr/{decision.name}" for decision in DECISIONS),
)
# A path of the repository between backticks, such as `curation/pairs/text.py` or `docs/adr/`.
PATH = re.compile(
    r"`((?:curation|annotation|mlworkers|semblance|templates|static|tests|docs|benchmarks)/[\w./-]*)`"
)
FOLDERS = (
    ".ci",
    "annotation",
    "benchmarks",
    "curation",
    "deployment",
    "docs",
    "mlworkers",
    "semblance",
    "static/js",
    "templates",
    "tests",
)
log_index = runpy.run_path(str(ROOT / "docs" / "experiments" / "log_index.py"))
LOG = log_index["subjects"]()
# A link to an entry: [R-07](../../experiments/log/reliability.md#r-07), or [R-07](#r-07) in the same file.
LOG_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]*)#([a-z]-\d\d+)\)")
READ = {".css", ".html", ".js", ".md", ".py", ".sh", ".toml", ".ts", ".txt", ".yaml", ".yml"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_in_the_documents_exist(document: str) -> None:
    named = PATH.findall((ROOT / document).read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("subject", LOG, ids=lambda subject: subject.file)
def test_the_newest_entry_of_a_subject_is_at_the_top_with_the_next_number(subject) -> None:
    numbers = [entry.number for entry in subject.entries]
    dates = [entry.date for entry in subject.entries]

    assert numbers == list(range(len(numbers), 0, -1))
    assert dates == sorted(dates, reverse=True)
    assert [entry.name for entry in subject.entries if entry.name.lower() != entry.anchor] == []
    assert len({entry.letter for entry in subject.entries}) == 1


def test_two_subjects_of_the_log_have_two_letters() -> None:
    letters = [subject.entries[0].letter for subject in LOG]

    assert len(set(letters)) == len(letters) > 5


def test_the_index_of_the_log_has_every_entry() -> None:
    index = (ROOT / "docs" / "experiments" / "LOG.md").read_text()

    assert log_index["index_text"](index, LOG) == index


def test_a_heading_of_the_log_without_an_id_is_named_with_its_line(tmp_path) -> None:
    page = tmp_path / "scores.md"
    page.write_text("# Scores\n\n## 2026-11-29 · Without an id\n")

    with pytest.raises(ValueError, match=r"scores\.md, line 3: ## 2026-11-29"):
        log_index["subject"](page)


def test_each_link_to_the_log_leads_to_the_entry_that_it_names() -> None:
    folder = ROOT / "docs" / "experiments" / "log"
    entries = {(folder / each.file, entry.anchor): entry.name for each in LOG for entry in each.entries}
    linked = [
        (path.relative_to(ROOT).as_posix(), words, ((path.parent / file).resolve() if file else path, anchor))
        for path in written_files()
        if path.suffix == ".md"
        for words, file, anchor in LOG_LINK.findall(path.read_text())
    ]

    assert len(linked) > 200
    assert [link for link in linked if entries.get(link[2]) != link[1]] == []
    index = [path.name for path in written_files() if path.suffix == ".md" and "LOG.md#" in path.read_text()]
    assert index == [], "link to the entry, not to a place in the index"


def test_code_and_pages_name_entries_of_the_log_that_exist() -> None:
    names = {entry.name for subject in LOG for entry in subject.entries}
    named = [
        (path.relative_to(ROOT).as_posix(), name)
        for path in written_files()
        for name in re.findall(r"log of experiments, ([A-Z]-\d+)", path.read_text(errors="ignore"))
    ]

    assert len(named) > 5
    assert [each for each in named if each[1] not in names] == []


def test_translators_read_about_how_many_sentences_a_language_has() -> None:
    said = re.search(r"sentences \(about (\d+)\)", (ROOT / "docs/guide/run-a-site/translate.md").read_text())
    catalogue = (ROOT / "locale/de/LC_MESSAGES/django.po").read_text()

    sentences = len(re.findall("^msgid ", catalogue, re.MULTILINE)) - 1  # the first one is the head
    assert said
    assert int(said[1]) == pytest.approx(sentences, rel=0.1)


def test_the_walk_through_the_security_standard_has_each_requirement_once_with_its_test_or_its_day() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| [^|]+ \| ([^|]+) \| ([^|]*) \|$", text, re.MULTILINE)
    tests = {path.name for path in (ROOT / "tests").rglob("test_*.py")}

    assert len({number for number, _result, _where in rows}) == len(rows) == 253
    results = Counter(result.split(",")[0] for _number, result, _where in rows)
    said = re.search(
        r"(\d+) are met, (\d+) partly, (\d+) not, (\d+) are the operator's, and (\d+) do not apply", text
    )
    assert [int(count) for count in said.groups()] == [
        results[result] for result in ("met", "partly", "not met", "operator", "n/a")
    ]
    for number, result, where in rows:
        assert re.fullmatch(r"met|partly|operator|n/a|not met, \d{4}-\d{2}-\d{2}", result), number
        assert result not in ("met", "partly", "n/a") or where, number
    named = re.findall(r"`(?:[\w/]+/)?(test_\w+\.py)`", text)
    assert len(named) > 150
    assert set(named) <= tests


def written_files() -> Iterator[Path]:
    """Files of the repository that people write and that can refer to a decision."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.suffix in {*READ, ""})
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in {*READ, ""} and "__pycache__" not in path.parts:
                yield path


def test_each_reference_to_a_decision_names_a_record_that_exists() -> None:
    names = {decision.name for decision in DECISIONS}
    numbers = {int(name[:4]) for name in names}
    found, lost = 0, []

    for path in written_files():
        text = path.read_text(errors="ignore")
        for number in re.findall(r"\bADRs? (\d+)", text):
            found += 1
            if int(number) not in numbers:
                lost.append(f"{path.relative_to(ROOT)}: ADR {number}")
        linked = re.findall(r"adr/(\d{4}-[\w-]+\.md)", text)
        if path.parent.name == "adr":
            linked += re.findall(r"\]\((\d{4}-[\w-]+\.md)", text)
        lost += [f"{path.relative_to(ROOT)}: {name}" for name in linked if name not in names]

    assert lost == []
    assert found > 20


def test_a_link_to_a_decision_names_the_number_of_the_record_that_it_leads_to() -> None:
    linked = [
        (int(number), int(target))
        for path in written_files()
        for number, target in re.findall(
            r"\[ADR (\d+)\]\((?:[\w./]*/)?(\d{4})-", path.read_text(errors="ignore")
        )
    ]

    assert len(linked) > 5
    assert [pair for pair in linked if pair[0] != pair[1]] == []


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.stem)
def test_each_decision_has_the_one_format_and_a_line_in_the_index(decision: Path) -> None:
    text = decision.read_text()
    index = (decision.parent / "README.md").read_text()

    title = re.match(
        r"# (\d+)\. (.+)\n\nDate: \d{4}-\d\d-\d\d( to \d{4}-\d\d-\d\d)?\. Status: accepted\.", text
    )
    assert title
    assert int(title[1]) == int(decision.name[:4])
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert [each for each in headings if each != "Measured and rejected"] == [
        "Context",
        "Decision",
        "Consequences",
    ]
    assert index.count(f"* [{title[1]}. {title[2]}]({decision.name})\n") == 1


def test_the_decisions_stay_few_and_are_numbered_without_gaps() -> None:
    numbers = [int(decision.name[:4]) for decision in DECISIONS]
    index = (ROOT / "docs" / "adr" / "README.md").read_text()

    assert numbers == list(range(1, len(DECISIONS) + 1))
    assert len(DECISIONS) <= 45, "Merge a new decision into the record of its subject."
    assert len(re.findall(r"^\* \[", index, re.MULTILINE)) == len(DECISIONS)
