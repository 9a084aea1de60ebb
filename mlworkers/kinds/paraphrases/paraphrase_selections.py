"""What a balanced selection of paraphrases got of each cell, as its page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlworkers.science.paraphrasing.selection import CellReport


@dataclass(frozen=True)
class SplitShown:
    """columns: tags of similarity. rows: of each tag of BLEU, its cells in the order of the columns."""

    name: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[CellReport]]]

    @property
    def chosen(self) -> int:
        return sum(cell.chosen for _tag, cells in self.rows for cell in cells)

    @property
    def asked(self) -> int:
        return sum(cell.asked for _tag, cells in self.rows for cell in cells)

    @property
    def short(self) -> int:
        return sum(cell.shortfall > 0 for _tag, cells in self.rows for cell in cells)


def splits_shown(result: Mapping[str, Any]) -> list[SplitShown]:
    """Of a run's result; none where it has not ended well."""
    cells = [CellReport(*cell) for cell in result.get("cells", ())]
    shown = []
    for split in dict.fromkeys(cell.split for cell in cells):
        own = [cell for cell in cells if cell.split == split]
        columns = list(dict.fromkeys(cell.similarity for cell in own))
        tags = list(dict.fromkeys(cell.lexical for cell in own))
        rows = [(tag, [cell for cell in own if cell.lexical == tag]) for tag in tags]
        shown.append(SplitShown(split, columns, rows))
    return shown
