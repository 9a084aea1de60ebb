"""Encoder runs as the methods section of a published folder tells them: comparisons of weightings."""

from mlworkers.kinds.comparisons.comparison import Cell, comparison_of
from mlworkers.kinds.published import Told, interval_in_words
from mlworkers.models import Run


def compared(run: Run) -> Told:
    found = comparison_of(run.result, run.evaluations.all())
    rows = []
    for row in found.rows:
        cell = row.cells[0] if row.cells else Cell()
        beside = cell.beside
        spread = "" if cell.sd is None else f" ± {cell.sd:.3f}"
        rows.append(
            [
                row.label,
                "–" if cell.mean is None else f"{cell.mean:.3f}{spread}",
                interval_in_words(cell.mean, cell.low, cell.high),
                interval_in_words(cell.difference, cell.difference_low, cell.difference_high, signed=True),
                "–" if cell.p_holm is None else f"{cell.p_holm:.3f}",
                "–" if beside is None else interval_in_words(beside.mean, beside.low, beside.high),
            ]
        )
    notes = [
        (
            f"Each row is the mean over {len(found.seeds)} seeds ({', '.join(map(str, found.seeds))}) on "
            f"{found.pairs:,} test pairs; {found.training_pairs:,} pairs were trained on. P-values "
            f"are adjusted by Holm's method for {found.tests} differences."
        )
    ]
    if not found.judged:
        notes.append("There are too few seeds to test a difference.")
    header = [
        "Weighting",
        "Mean ± sd",
        "Mean (95 %)",
        "Difference from plain (95 %)",
        "p (Holm)",
        "All pairs (95 %)",
    ]
    return Told("a comparison of weightings", header, rows, notes, realism=True)
