"""Tables of results: of a page, where a cell may have an interval, marks and notes, and of a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

from curation.results.estimates import Estimate

if TYPE_CHECKING:
    import pandas as pd

Value = str | int | float | Estimate | None


@dataclass(frozen=True)
class Mark:
    """A word or two, or a sign that `title` explains."""

    words: str
    tone: Literal["", "good", "doubtful"] = ""
    title: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell with more than a value.

    strong: whether it stands out, such as a difference that is distinguishable from 0.
    mark: a word or two, such as “chosen on dev”.
    notes: lighter lines below the value. An estimate among them has the digits of the column.
    href: the address that the value leads to.
    """

    value: Value = None
    strong: bool = False
    mark: Mark | None = None
    notes: Sequence[str | Estimate] = ()
    href: str = ""


Row = Sequence[Value | Cell]


@dataclass(frozen=True)
class Column:
    """A column.

    name: its name in files.
    label: its heading on pages; without one, its name.
    note: a lighter line below the heading.
    mark: a word or two in the heading.
    over: a heading over this column and its neighbours with the same one.
    form: what the values are. Text is at the start of a line and never has digits.
    digits: after the point.
    """

    name: str = ""
    label: str = ""
    note: str = ""
    mark: Mark | None = None
    over: str = ""
    form: Literal["number", "signed", "percent", "text"] = "number"
    digits: int = 3

    @property
    def heading(self) -> str:
        return self.label or self.name

    def text(self, value: str | float | None) -> str:
        """A number as pages and papers have it, "–" for none."""
        if value is None or isinstance(value, str):
            return "–" if value is None else value
        if isinstance(value, int) and self.form == "number":
            return f"{value:,}"
        form = {"signed": f"+.{self.digits}f", "percent": ".0%"}.get(self.form, f",.{self.digits}f")
        return f"{value:{form}}".replace("-", "−")


@dataclass(frozen=True)
class Table:
    """Rows under columns; the first cell of a row is its name.

    groups: where rows are divided, the heading and the number of rows of each part, in order.
    style: further classes of the page's table.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    groups: Sequence[tuple[str, int]] = ()
    style: str = ""

    @property
    def parts(self) -> Iterator[tuple[str, list[list[tuple[Column, Cell]]]]]:
        """The heading and the rows of each group; without groups, "" and all rows."""
        rows = iter(self.rows)
        for heading, count in self.groups or [("", len(self.rows))]:
            yield (
                heading,
                [list(zip(self.columns, cells_of(row), strict=True)) for row in islice(rows, count)],
            )

    @property
    def over(self) -> list[tuple[str, int]]:
        """The headings over columns and how many columns each is over; none where no column has one."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and column.over and found[-1][0] == column.over:
                found[-1] = (column.over, found[-1][1] + 1)
            else:
                found.append((column.over, 1))
        return found if any(column.over for column in self.columns) else []

    @property
    def values(self) -> dict[str, list[object]]:
        """The values of each column by its name; of one with estimates also their ends, by the name with `_low` and the
        like. None where a cell is empty.
        """
        found: dict[str, list[object]] = {}
        for column, cells in zip(self.columns, zip(*map(cells_of, self.rows), strict=True), strict=False):
            name, values = column.name or column.label, [cell.value for cell in cells]
            if not any(isinstance(each, Estimate) for each in values):
                found[name] = [None if each == "" else each for each in values]
                continue
            estimates = [each if isinstance(each, Estimate) else Estimate() for each in values]
            for end in ("value", "low", "high", "sd", "n"):
                known = [getattr(each, end) for each in estimates]
                if end == "value" or any(each is not None for each in known):
                    found[name if end == "value" else f"{name}_{end}"] = known
        return found

    def frame(self) -> "pd.DataFrame":
        import pandas as pd  # noqa: PLC0415 - it takes long to load, and pages do without

        return pd.DataFrame(self.values)

    def parquet(self) -> bytes:
        import pyarrow as pa  # noqa: PLC0415 - takes long to load
        import pyarrow.parquet as pq  # noqa: PLC0415

        written = pa.BufferOutputStream()
        pq.write_table(pa.table(self.values), written)
        return bytes(written.getvalue().to_pybytes())

    def markdown(self, text: Callable[[str], str]) -> str:
        """A table in which `text` escapes each cell."""
        head, *rows = [list(map(text, line)) for line in self._lines()]
        rule = ["---" if each == "l" else "---:" for each in self._sides]
        return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *rows))

    def latex(self, text: Callable[[str], str]) -> str:
        """A table for the package booktabs, in which `text` escapes each cell."""
        head, *rows = [" & ".join(map(text, line)) + r" \\" for line in self._lines()]
        lines = [
            rf"\begin{{tabular}}{{{self._sides}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
        ]
        return "\n".join([*lines, r"\end{tabular}", ""])

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def _sides(self) -> str:
        """Of each column, whether its cells begin (l) or end (r) together."""
        return "".join(
            "l" if column.form == "text" or not place else "r" for place, column in enumerate(self.columns)
        )

    def _lines(self) -> Iterator[list[str]]:
        yield [column.heading for column in self.columns]
        for row in self.rows:
            yield [
                _shown(column, cell.value) for column, cell in zip(self.columns, cells_of(row), strict=True)
            ]


def cells_of(row: Row) -> list[Cell]:
    return [each if isinstance(each, Cell) else Cell(each) for each in row]


def _shown(column: Column, value: Value) -> str:
    if not isinstance(value, Estimate):
        return column.text(value)
    deviation = "" if value.sd is None else f" ± {value.sd:.{column.digits}f}"
    interval = "" if value.low is None else f" [{column.text(value.low)}, {column.text(value.high)}]"
    return column.text(value.value) + deviation + interval
