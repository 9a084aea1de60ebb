"""A first reading of a whole file, before anything is written: its rows, and what its scores span."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from curation.files.drafts import FileError, RowError
from curation.files.identity import IdentifiedPair
from curation.files.progress import Report

_ROWS_BETWEEN_REPORTS = 5000


@dataclass
class Survey:
    """lowest, highest: of the scores of the good rows, None where there are none.

    ids: hashes of the external ids of the good rows. first_error: the first bad row.
    """

    rows: int = 0
    pairs: int = 0
    lowest: float | None = None
    highest: float | None = None
    ids: set[int] = field(default_factory=set)
    first_error: RowError | None = None

    def add(self, row: IdentifiedPair | RowError) -> None:
        self.rows += 1
        if isinstance(row, RowError):
            self.first_error = self.first_error or row
            return
        self.pairs += 1
        self.ids.add(hash(row.external_id))
        score = row.draft.score
        if score is not None:
            self.lowest = score if self.lowest is None else min(self.lowest, score)
            self.highest = score if self.highest is None else max(self.highest, score)


class TooManyRowsError(FileError):
    """The file has more rows than were to be read."""


def survey_rows(
    rows: Iterable[IdentifiedPair | RowError], *, most: int, report: Report, message: str
) -> Survey:
    """Read all rows. report hears of it now and then, with a total of 0 because nobody knows it yet.

    Raises TooManyRowsError where there are more than `most`.
    """
    survey = Survey()
    for row in rows:
        survey.add(row)
        if survey.rows > most:
            raise TooManyRowsError(f"The file has more than {most:,} rows; split it.")
        if survey.rows % _ROWS_BETWEEN_REPORTS == 0:
            report(survey.rows, 0, message)
    return survey
