"""Settings whose text is a list of rows, such as “news | gold; film | target | p_D”: what the text means, and back.

Commands and the API write the text; a form shows a control for each cell. Both go through `RowSyntax`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mlworkers.plans.fields import PlanError, SettingName, setting

Cells = tuple[str, ...]


class RowError(PlanError):
    """A row that cannot be read. A command adds how rows are written; a page shows a control for each cell."""

    def __init__(self, sentence: str, *, written: str, **words: Any) -> None:
        super().__init__(f"{sentence}.", **words)
        self.args = (f"{sentence % words}; give {written}.",)


@dataclass(frozen=True)
class Column:
    """One cell of each row.

    name: in the names of a form's controls.
    label: as forms and sentences call it.
    required: whether every row fills it in.
    offered: what a form offers (`mlworkers.forms.row_choices`).
    kinds: of the score sets that it offers.
    """

    name: str
    label: str
    required: bool = False
    offered: str = ""
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowSyntax:
    """written: a row as one types it. between_cells, between_rows: one character each."""

    columns: tuple[Column, ...]
    written: str
    between_cells: str = "|"
    between_rows: str = ";"

    @property
    def sentence(self) -> str:
        """For the help of a command."""
        begin = "Write each row as" if len(self.columns) > 1 else "Give"
        return f"{begin} {self.written}, with “{self.between_rows}” between rows."

    @property
    def separators(self) -> str:
        """What no cell may contain: between rows, and between cells where there are several."""
        return (self.between_cells if len(self.columns) > 1 else "") + self.between_rows

    def split(self, text: str) -> tuple[Cells, ...]:
        """The cells of each row, one for every column, "" where it is left out. The last holds whatever is too much."""
        parts = (each.strip() for each in text.split(self.between_rows))
        return tuple(self.row_split(part) for part in parts if part)

    def row_split(self, text: str) -> Cells:
        most = len(self.columns)
        cells = [cell.strip() for cell in text.split(self.between_cells, most - 1)]
        return (*cells, *[""] * (most - len(cells)))

    def join(self, rows: Iterable[Sequence[str]]) -> str:
        """The text of these rows, without those whose cells are all empty."""
        kept = (tuple(cell.strip() for cell in cells) for cells in rows)
        return f"{self.between_rows} ".join(self.row_join(cells).strip() for cells in kept if any(cells))

    def row_join(self, cells: Cells) -> str:
        between = self.between_cells if self.between_cells == "=" else f" {self.between_cells} "
        return between.join(_without_empty_end(cells))

    def read(self, text: str, name: str) -> tuple[Cells, ...]:
        """The rows of the setting of that name. Raises RowError with the first wrong row and its column."""
        rows = self.split(text)
        self.check(rows, name)
        return rows

    def check(self, rows: Iterable[Sequence[str]], name: str) -> None:
        """Raises RowError for a required cell that is empty, and for one with a character that separates cells."""
        for number, cells in enumerate(rows, start=1):
            for column, cell in zip(self.columns, cells, strict=True):
                words = {"row": number, "column": column.label, "setting": SettingName(name), "value": cell}
                sentence = ""
                if column.required and not cell:
                    sentence = "Row %(row)d of “%(setting)s” has no “%(column)s”"
                elif separators := [each for each in self.separators if each in cell]:
                    words["character"] = separators[0]
                    sentence = (
                        "Row %(row)d of “%(setting)s” has “%(value)s” as “%(column)s”, which may not contain "
                        "“%(character)s”"
                    )
                if sentence:
                    raise RowError(sentence, written=self.written, **words)


def rows_setting(label: str, help: str, *, rows: RowSyntax, **more: Any) -> Any:  # noqa: A002 - as `setting`
    """A setting that is a list of rows. Its help says how rows are written, which forms leave out."""
    return setting(label, f"{help} {rows.sentence}", rows=rows, **more)


def _without_empty_end(cells: Cells) -> Cells:
    filled = max(place for place, cell in enumerate(cells, start=1) if cell)
    return cells[:filled]
