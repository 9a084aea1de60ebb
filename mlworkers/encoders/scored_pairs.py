"""Files of sentence pairs that people scored or labelled: what an encoder is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.files.parsing import Columns, FileError, RowError, read_pairs

FEWEST_PAIRS = 3  # two always correlate perfectly


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs of sentences, and the score or the label (0 or 1) that people gave each, in the file's order.

    warnings: sentences for people, about how the file had to be read. sources: the genre or subset of each pair, or
    nothing where the file says none.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    values: tuple[float, ...]
    warnings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def taken(self, rows: Sequence[int]) -> "JudgedPairs":
        """The pairs at those places."""
        first, second = (tuple(side[row] for row in rows) for side in (self.first, self.second))
        values = tuple(self.values[row] for row in rows)
        sources = tuple(self.sources[row] for row in rows) if self.sources else ()
        return JudgedPairs(self.name, first, second, values, self.warnings, sources)

    def shared_with(self, other: "JudgedPairs") -> int:
        """How many of these pairs stand in the other file too, in either order of their sentences."""
        theirs = {frozenset(pair) for pair in zip(other.first, other.second, strict=True)}
        return sum(frozenset(pair) in theirs for pair in zip(self.first, self.second, strict=True))


def read_judged_pairs(path: Path, columns: Columns, *, header: bool = True) -> JudgedPairs:
    """Read a whole file: its labels where `columns` names their column, else its scores.

    Every row counts: one that cannot be read or has no value is an error, never left out. Raises FileError
    for that, for a file that cannot be read, and where pairs are too few or their values all equal.
    """
    layout, pairs, errors = read_pairs(path, columns, header=header)
    kind = "label" if columns.label else "score"
    if kind not in layout.mapping:
        raise FileError(f"No column of {path.name} is known to hold scores; name one of scores or of labels.")
    errors += [
        RowError(pair.line, f"it has no {kind}", pair.row) for pair in pairs if getattr(pair, kind) is None
    ]
    if errors:
        first = min(errors, key=lambda error: error.line)
        more = f" (and {len(errors) - 1:,} rows more)" if len(errors) > 1 else ""
        raise FileError(f"{path.name}, line {first.line}: {first.reason}{more}; mend or remove such rows.")
    values = tuple(float(getattr(pair, kind)) for pair in pairs)
    if len(values) < FEWEST_PAIRS:
        raise FileError(
            f"{path.name} holds too few pairs, {len(values)}; measuring needs {FEWEST_PAIRS} or more."
        )
    if len(set(values)) == 1:
        raise FileError(f"Every {kind} in {path.name} is {values[0]:g}; measuring needs values that differ.")
    return JudgedPairs(
        path.name, tuple(pair.a for pair in pairs), tuple(pair.b for pair in pairs), values, layout.warnings
    )
