"""Templates can be read: no long lines. `make check` formats and lints them."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 160


def test_no_line_of_a_template_is_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LONGEST
    ]

    assert long == []
