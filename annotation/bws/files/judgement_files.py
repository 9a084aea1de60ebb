"""The file of judgements: its one reader and its one writer.

CSV with Item1 ... ItemN, BestItem and WorstItem among other columns, as Kiritchenko and Mohammad's scripts know it.
Real files hold more than that. A row that is not a judgement is reported with its line and the reason, and whatever
could be read in another way is said in a warning.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from annotation.bws.files.choices import TIE, names_a_tie
from annotation.bws.files.columns import ColumnIndexes, Columns
from annotation.bws.files.names import ItemRegister, NameRegister
from annotation.bws.files.notices import Notice, ReadingError, Remedy
from annotation.bws.files.rows import MOST_ROWS, Fault, FileRows, Rejected, read_rows
from annotation.bws.files.settling import (
    BestIsWorst,
    SettledRows,
    Spaces,
    Spacing,
    padded,
    repeats,
    settle,
    spacing_of,
)
from annotation.bws.files.tables import find_table, writing_text
from annotation.bws.judgements import IntArray, Judgements, second_judgements, tuple_numbers
from curation.files.drafts import FileError, Guess
from curation.files.tables import csv_lines

_EMPTY = {"nan", "none", "null", "<na>", "n/a", "na", "-"}
_MANY_REJECTED = 0.05  # of all rows: above this a reader hears of it first


@dataclass(frozen=True, eq=False)
class JudgementFile:
    """The contents of a file of judgements, or of several.

    items, annotators: names, as most rows spell them; a number in `judgements` is an index of these.
    repeated_items: rows that name an item twice, kept. rejected: the rows that are not judgements.
    left_out: rows that hold an item that was to be left out, that the file calls duplicates, whose assignment was
    rejected, or that are a second judgement of a tuple by the same person; twice_by_one: those of the last kind.
    merged_items: texts of items that were taken as another item although they differ, in their spaces.
    notices: what a reader of the figures should know about the file, the weightiest first.
    guesses: what was decided about each file although nobody said it, by the file's name.
    """

    judgements: Judgements
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    repeated_items: int
    rejected: tuple[Rejected, ...] = ()
    left_out: int = 0
    twice_by_one: int = 0
    merged_items: int = 0
    notices: tuple[Notice, ...] = ()
    guesses: Mapping[str, Sequence[Guess]] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notices as sentences for users of the command."""
        return tuple(notice.for_command for notice in self.notices)


def write_judgements(
    path: Path, items: Sequence[str], judgements: Judgements, annotators: Sequence[str] | None = None
) -> None:
    """Write the file that `read_judgements` reads; arguments as of `judgement_lines`."""
    with writing_text(path) as file:
        file.writelines(judgement_lines(items, judgements, annotators))


def judgement_lines(
    items: Sequence[str],
    judgements: Judgements,
    annotators: Sequence[str] | None = None,
    *,
    spreadsheet: bool = False,
) -> Iterator[str]:
    """The lines of a file of judgements, each with its line end: Item1 ... ItemN, BestItem, WorstItem, Annotator.

    items, annotators: the names behind the numbers of `judgements`. Without annotators, there or here, their column is
    left out. In a tie both BestItem and WorstItem are "tie". spreadsheet: no name is a formula to a spreadsheet.
    Raises ValueError if there are ties and an item is called so.
    """
    if judgements.ties.any() and any(map(names_a_tie, items)):
        raise ValueError(f'An item is called "{TIE}", as ties are in a file; give it another name.')
    rows = _rows_named(items, judgements, annotators)
    return csv_lines(rows, spreadsheet=spreadsheet, line_end="\n")


def _rows_named(
    items: Sequence[str], judgements: Judgements, annotators: Sequence[str] | None
) -> Iterator[list[str]]:
    columns = [*(f"Item{position + 1}" for position in range(judgements.size)), "BestItem", "WorstItem"]
    people = None if annotators is None else judgements.annotators
    yield [*columns, *(["Annotator"] if people is not None else [])]
    chosen = np.column_stack([judgements.best, judgements.worst])  # (n, 2)
    for number, row in enumerate(judgements.items):
        person = [] if annotators is None or people is None else [annotators[people[number]]]
        shown = ["" if item < 0 else items[item] for item in row.tolist()]
        choice = [TIE if item < 0 else items[item] for item in chosen[number].tolist()]
        yield [*shown, *choice, *person]


def read_judgements(
    paths: Path | Sequence[Path],
    columns: Columns | None = None,
    *,
    best_is_worst: BestIsWorst = BestIsWorst.REJECT,
    strict: bool = False,
    without: Collection[str] = (),
    spaces: Spaces = Spaces.AUTO,
    keep_duplicates: bool = False,
    keep_repeats: bool = False,
    keep_rejected: bool = False,
    delimiter: str | None = None,
    encoding: str | None = None,
    most_rows: int = MOST_ROWS,
) -> JudgementFile:
    """Read judgements from tables: text with a header, JSONL or Parquet.

    paths: a file, or several with one set of items and annotators.
    columns: their names, if they are not those of the field.
    strict: raise FileError for the first row that is not a judgement, instead of rejecting it.
    without: items whose rows are left out, for example those of attention checks.
    keep_duplicates, keep_rejected: also count rows that a column is_duplicate marks, or whose assignment was rejected.
    keep_repeats: also count a second judgement of a tuple by the same person, if a column names annotators.
    delimiter, encoding: of text; None to find them out.

    Raises FileError if a file or its columns cannot be read, or if no judgement is left. Raises TooManyRowsError if a
    file has more rows than `most_rows`.
    """
    names = _file_names([paths] if isinstance(paths, Path) else list(paths))
    items, annotators = ItemRegister(), NameRegister()
    files = {
        name: read_rows(
            find_table(path, columns or Columns(), delimiter=delimiter, encoding=encoding),
            items,
            annotators,
            keep_duplicates=keep_duplicates,
            keep_rejected=keep_rejected,
            most=most_rows,
        )
        for name, path in names.items()
    }
    drafts = [draft for file in files.values() for draft in file.drafts]
    respelled = np.array([draft.respelled for draft in drafts], dtype=np.int64)
    texts = padded([draft.items for draft in drafts])
    spacing = spacing_of(texts, respelled, items.alike, spaces)
    held = spacing.item_of[texts[texts >= 0]]
    unwanted = []
    for name in without:
        text = items.find(name)
        item = -1 if text is None else int(spacing.item_of[text])
        if not (held == item).any():  # a mistake in its name
            raise FileError(f'No row of {", ".join(files)} holds the item "{name}" that is to be left out.')
        unwanted.append(item)
    settled = {name: settle(file, spacing, best_is_worst, unwanted) for name, file in files.items()}
    # Raises FileError for the first rejected row if there is to be none, or for the first whose best is its worst.
    for name, rows in settled.items():
        for row in rows.rejected:
            if strict or (best_is_worst is BestIsWorst.FAIL and row.fault is Fault.ALIKE):
                raise FileError(f"Line {row.line} of {name}: {row.reason}; correct the row.")
    return _Reading(files, settled, spacing, items, annotators, keep_repeats).judgement_file()


def _file_names(paths: Sequence[Path]) -> dict[str, Path]:
    """What messages call the files. Raises FileError if one is given twice: its judgements would count twice."""
    if len({path.name for path in paths}) == len(paths):
        return {path.name: path for path in paths}
    names = {str(path): path for path in paths}
    if len({path.resolve() for path in paths}) < len(paths):
        raise FileError(f"The same file is given twice among {', '.join(names)}; give each file once.")
    return names


@dataclass(frozen=True, eq=False)
class _Reading:
    """Everything that was read, by the name of the file."""

    files: Mapping[str, FileRows]
    settled: Mapping[str, SettledRows]
    spacing: Spacing
    items: ItemRegister
    annotators: NameRegister
    keep_repeats: bool

    def judgement_file(self) -> JudgementFile:
        """Raises FileError if no judgement is left."""
        every = list(self.settled.values())
        items = _stacked([rows.items for rows in every])
        texts = _stacked([rows.texts for rows in every])
        best, worst, people = (
            np.concatenate([getattr(rows, name) for rows in every])
            for name in ("best", "worst", "annotators")
        )
        left_out = sum(rows.left_out for rows in every)
        if not len(items):
            raise ReadingError(self._nothing(left_out=left_out > 0))
        annotated = all(file.annotated for file in self.files.values())
        # Which rows (n,) are a second judgement by the same person and are not to be counted.
        twice = np.zeros(len(items), dtype=np.bool_)
        if annotated and not self.keep_repeats:
            unnamed = self.annotators.find("")
            twice = second_judgements(tuple_numbers(items), np.where(people == unnamed, -1, people))
        items, texts, best, worst, people = (array[~twice] for array in (items, texts, best, worst, people))
        used = np.unique(items)
        used = used[used >= 0]  # (m,)
        numbers = _searched(used, items)
        numbers = numbers[:, (numbers >= 0).any(axis=0)]
        persons, person_of = np.unique(people, return_inverse=True)
        judgements = Judgements(
            numbers,
            _searched(used, best),
            _searched(used, worst),
            len(used),
            person_of if annotated else None,
        )
        flagged = sum(file.flagged for file in self.files.values())
        refused = sum(file.refused for file in self.files.values())
        # Of each item the text that most rows have; of equally frequent ones the first.
        known, counts = np.unique(texts[texts >= 0], return_counts=True)
        spelled: dict[int, int] = {}
        for text in known[np.argsort(-counts, kind="stable")].tolist():
            spelled.setdefault(int(self.spacing.item_of[text]), text)
        names = tuple(self.items.spellings[spelled[item]] for item in used.tolist())
        return JudgementFile(
            judgements=judgements,
            items=names,
            annotators=tuple(self.annotators.spellings[person] for person in persons) if annotated else (),
            repeated_items=int((repeats(numbers) > 0).sum()),
            rejected=tuple(self._rejected()),
            left_out=left_out + flagged + refused + int(twice.sum()),
            twice_by_one=int(twice.sum()),
            merged_items=self.spacing.differing if self.spacing.merged else 0,
            notices=tuple(self._notices(judgements, names, int(twice.sum()))),
            guesses={name: file.table.guesses() for name, file in self.files.items()},
        )

    def _nothing(self, *, left_out: bool) -> Notice:
        why = "every row holds an item to leave out" if left_out else "there is no row below the header"
        remedy = None
        if any(file.flagged for file in self.files.values()):
            why, remedy = "every row is left out because its column is_duplicate says so", Remedy.DUPLICATES
        if any(file.refused for file in self.files.values()):
            why, remedy = "every assignment was rejected", Remedy.REJECTED
        if rejected := list(self._rejected()):
            more = f"; all {len(rejected):,} rows are rejected" if len(rejected) > 1 and not left_out else ""
            why, remedy = f"line {rejected[0].line}, {rejected[0].reason}{more}", None
        return Notice(f"{', '.join(self.files)} holds no judgement: {why}.", remedy)

    def _rejected(self) -> Iterator[Rejected]:
        several = len(self.files) > 1
        for name, rows in self.settled.items():
            yield from (row._replace(file=name) for row in rows.rejected) if several else rows.rejected

    def _notices(self, judgements: Judgements, names: Sequence[str], twice: int) -> Iterator[Notice]:
        """What a reader should know, the weightiest first. names: (m,) of the items."""
        yield from self._many_rejected()
        several = len(self.files) > 1
        # How each file is read, where its columns, its encoding or its cells leave a doubt.
        for name, file in self.files.items():
            doubts, indexes = [], file.table.indexes
            if isinstance(indexes, ColumnIndexes) and indexes.left_out:
                extra = ", ".join(f'"{column}"' for column in indexes.left_out)
                doubts = [f"The file also has the columns {extra}, which are not among those of the items."]
            doubts += [file.table.warning, self.settled[name].warning]
            notices = map(Notice, filter(None, doubts))
            yield from (notice.of_file(name) if several else notice for notice in notices)
        if self.spacing.notice:
            yield self.spacing.notice
        yield from self._doubtful(names, judgements.items)
        if ties := int(judgements.ties.sum()):
            yield Notice(
                f"{_counted(ties, 'row is a tie', 'rows are ties')}: the items were too close to call."
            )
        if flagged := sum(file.flagged for file in self.files.values()):
            rows = _counted(flagged, "row is", "rows are")
            yield Notice(f"{rows} left out because the column is_duplicate says so.", Remedy.DUPLICATES)
        if refused := sum(file.refused for file in self.files.values()):
            rows = _counted(refused, "row is", "rows are")
            yield Notice(f"{rows} left out because the assignment was rejected.", Remedy.REJECTED)
        if twice:
            one, more = "is a second judgement of a tuple", "are second judgements of a tuple"
            verb = "is" if twice == 1 else "are"
            rows = _counted(twice, f"row {one}", f"rows {more}")
            yield Notice(f"{rows} by the same person and {verb} left out; the first counts.", Remedy.REPEATS)
        sizes = judgements.sizes
        if smaller := int((sizes < judgements.size).sum()):
            yield Notice(
                f"{_counted(smaller, 'row has', 'rows have')} fewer than {judgements.size} items (the smallest "
                f"{sizes.min()}); all {len(judgements):,} are scored together."
            )
        unnamed = [name for name, file in self.files.items() if not file.annotated]
        if unnamed and len(unnamed) < len(self.files):
            yield Notice(
                f"{', '.join(unnamed)} names no annotators, so those of the other files are not used."
            )

    def _doubtful(self, names: Sequence[str], items: IntArray) -> Iterator[Notice]:
        """Items that are probably empty cells, as programs write them."""
        for item, name in enumerate(names):
            if name.casefold() in _EMPTY:
                rows = _counted(int((items == item).any(axis=1).sum()), "row", "rows")
                yield Notice(f'"{name}" is counted as an item, in {rows}.', Remedy.WITHOUT)

    def _many_rejected(self) -> Iterator[Notice]:
        faults = Counter(row.fault for row in self._rejected())
        rejected = faults.total()
        rows = rejected + sum(len(rows.items) + rows.left_out for rows in self.settled.values())
        if rejected > _MANY_REJECTED * rows:
            fault, number = faults.most_common(1)[0]
            count = "all" if number == rejected else f"{number:,}"
            yield Notice(
                f"{rejected:,} of {rows:,} rows ({rejected / rows:.0%}) are not judgements and are left out; "
                f"{count} of them because {fault}."
            )


def _counted(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _searched(used: IntArray, items: IntArray) -> IntArray:
    """The indexes of items, in an array of any shape, in those that are used, ascending; -1 for none."""
    return np.where(items < 0, -1, np.searchsorted(used, items))


def _stacked(arrays: Sequence[IntArray]) -> IntArray:
    """Rows (n, k) of several files as one array; smaller rows are filled with -1."""
    width = max(array.shape[1] for array in arrays)
    return np.concatenate(
        [np.pad(array, ((0, 0), (0, width - array.shape[1])), constant_values=-1) for array in arrays]
    )
