"""Files of sentence pairs that people scored or labelled: what an encoder is measured on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.files.drafts import Guess
from curation.files.parsing import Columns, FileError, RowError, read_pairs

FEWEST_PAIRS = 3  # two always correlate perfectly


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs of sentences, and the score or the label (0 or 1) that people gave each, in the file's order.

    warnings: sentences for people, about how the file had to be read. guesses: what was decided although nobody said
    it. sources: the genre or subset of each pair, or nothing where the file says none.
    """

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]
    values: tuple[float, ...]
    warnings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    guesses: tuple[Guess, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def taken(self, rows: Sequence[int]) -> "JudgedPairs":
        """The pairs at those places."""
        first, second = (tuple(side[row] for row in rows) for side in (self.first, self.second))
        values = tuple(self.values[row] for row in rows)
        sources = tuple(self.sources[row] for row in rows) if self.sources else ()
        return JudgedPairs(self.name, first, second, values, self.warnings, sources, self.guesses)

    def shared_with(self, other: "JudgedPairs") -> int:
        """How many of these pairs stand in the other file too, in either order of their sentences."""
        theirs = {frozenset(pair) for pair in zip(other.first, other.second, strict=True)}
        return sum(frozenset(pair) in theirs for pair in zip(self.first, self.second, strict=True))


def read_judged_pairs(
    path: Path,
    columns: Columns,
    *,
    header: bool = True,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> JudgedPairs:
    """Read a whole file: its labels where `columns` names their column, else its scores.

    Every row counts: one that cannot be read, or has no value in a column that was named, is an error. Header rows
    among the others, and pairs without a value in a column that was recognised, are left out with a warning. Raises
    FileError for the errors, for a file that cannot be read, and where pairs are too few or their values all equal.
    """
    layout, pairs, errors = read_pairs(path, columns, header=header, delimiter=delimiter, encoding=encoding)
    kind = "label" if columns.label else "score"
    if kind not in layout.mapping:
        why = next((f" {guess.reason}" for guess in layout.guesses if guess.what == "score"), "")
        raise FileError(
            f"No column of {path.name} is known to hold scores; name one of scores or of labels.{why}"
        )
    warnings = [*layout.warnings]
    if headers := [error for error in errors if error.is_header]:
        warnings.append(
            f"{len(headers)} header rows stand among the pairs and are left out, the first on line "
            f"{headers[0].line}: {headers[0].reason}."
        )
        errors = [error for error in errors if not error.is_header]
    lacking = [pair for pair in pairs if getattr(pair, kind) is None]
    if kind in layout.guessed:
        if lacking:
            warnings.append(
                f"{len(lacking):,} of {len(pairs):,} pairs have no score and are left out, the first on "
                f"line {lacking[0].line}."
            )
        pairs = [pair for pair in pairs if getattr(pair, kind) is not None]
    else:
        errors += [RowError(pair.line, f"it has no {kind}", pair.row) for pair in lacking]
    if errors:
        first = min(errors, key=lambda error: error.line)
        more = f" (and {len(errors) - 1:,} rows more)" if len(errors) > 1 else ""
        raise FileError(f"{path.name}, line {first.line}: {first.reason}{more}; mend or remove such rows.")
    values = tuple(float(getattr(pair, kind)) for pair in pairs)
    if len(values) < FEWEST_PAIRS:
        raise FileError(
            f"{path.name} holds too few pairs, {len(values)}; measuring needs {FEWEST_PAIRS} or more."
        )
    if len(set(values)) == 1:  # no correlation with a constant
        raise FileError(f"Every {kind} in {path.name} is {values[0]:g}; measuring needs values that differ.")
    return JudgedPairs(
        path.name,
        tuple(pair.a for pair in pairs),
        tuple(pair.b for pair in pairs),
        values,
        tuple(warnings),
        guesses=layout.guesses,
    )
