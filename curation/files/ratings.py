"""Files with one rating in each row: each pair once, with the mean of its ratings, their number and their spread."""

import math
from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from curation.files.cells import Span
from curation.files.columns import ASSIGNMENT_STATUS_NAMES, PEOPLE_NAMES, is_rejected, plain_names
from curation.files.drafts import DraftPair, Guess, Layout, RowError

Row = DraftPair | RowError
RATING_COLUMNS = {"worker": PEOPLE_NAMES, "assignment_status": ASSIGNMENT_STATUS_NAMES}


@dataclass
class RatingFacts:
    """What became of the ratings of a file.

    ratings: those that count.
    raters: people who gave them, 0 where no column says who did.
    rejected_assignments, second_ratings (of a pair by the same person), unrated: rows left out.
    disagreeing: pairs with different scores.
    scores: of those that count.
    table: of each rating that counts, the numbers of its pair and of its rater (-1: not known), and its value.
    """

    ratings: int = 0
    raters: int = 0
    pairs: int = 0
    rejected_assignments: int = 0
    second_ratings: int = 0
    unrated: int = 0
    disagreeing: int = 0
    scores: Span = field(default_factory=Span)
    table: "tuple[array[int], array[int], array[float]]" = field(
        default_factory=lambda: (array("q"), array("q"), array("d")), repr=False
    )

    def as_json(self) -> dict[str, int]:
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in {"scores", "table"}
        }

    def guess(self, worker: str) -> Guess:
        """What is said of a file whose pairs have several scores. worker: the column of who rated, "" for none."""
        counts = f"{self.pairs:,} pairs have {self.ratings:,} scores"
        if worker and self.ratings:
            reason = (
                f"Each row is one rating: {counts}, and the column “{worker}” says who gave them. To store a pair for "
                f"each row, choose that on the page, or --no-ratings in a command."
            )
            return Guess("ratings", worker, reason)
        if worker:
            reason = (
                f"Each row is a pair, but may be a rating: the rows have {self.pairs:,} different pairs, and the "
                f"column “{worker}” says who rated them. To store each pair once with its mean rating, name "
                f"the "
                f"column of the ratings as the score."
            )
            return Guess("ratings", "", reason)
        reason = (
            f"Each row is a pair, but may be a rating: {counts}, and {self.disagreeing:,} of them several different "
            f"ones. To store each pair once with its mean rating, choose that on the page, or --ratings in a command."
        )
        return Guess("ratings", "", reason)

    def count(self, pair: int, rater: int, score: float) -> None:
        self.ratings += 1
        self.scores.add(score)
        pairs, raters, values = self.table
        pairs.append(pair)
        raters.append(rater)
        values.append(score)


@dataclass
class _Rated:
    """A pair and its ratings so far (Welford 1962). first: its first row, without a score. place: its number from 0."""

    first: DraftPair
    place: int
    number: int = 0
    total: float = 0.0
    mean: float = 0.0
    squares: float = 0.0  # of the differences from the mean
    same_id: bool = True
    raters: set[str] = field(default_factory=set)

    def add(self, score: float) -> None:
        self.number += 1
        self.total += score
        before = score - self.mean
        self.mean += before / self.number
        self.squares += before * (score - self.mean)

    @property
    def pair(self) -> DraftPair:
        known = self.first if self.same_id else self.first._replace(external_id="")
        if not self.number:
            return known
        error = None
        if self.number > 1:
            error = math.sqrt(self.squares / (self.number - 1) / self.number)
        return known._replace(score=self.total / self.number, ratings=self.number, standard_error=error)


def with_rating_columns(layout: Layout, worker: str | None = None) -> Layout:
    """The layout with the columns of the worker and of the assignment's status, where the file has them.

    worker: "" where nobody's name is to be used.
    """
    mapping = dict(layout.mapping)
    if layout.header:
        plain = plain_names(layout.columns)
        for role, names in RATING_COLUMNS.items():
            place = next((plain.index(name) for name in names if name in plain), None)
            unwanted = role == "worker" and worker == ""
            if place is not None and place not in mapping.values() and not unwanted:
                mapping.setdefault(role, place)
    return replace(layout, mapping=mapping)


def ratings_gathered(rows: Iterable[Row], mapping: Mapping[str, int], facts: RatingFacts) -> Iterator[Row]:
    """The errors among the rows as they come, and then each pair once, in the order of first rows.

    A pair is two sentences in this order in one source and split; it keeps an id that all of its rows have. Rows of
    rejected assignments count for nothing but the pair, and so does a second rating of a pair by the same person.
    """
    pairs: dict[Hashable, _Rated] = {}
    people: dict[str, int] = {}  # with their numbers from 0
    worker_in, status_in = _cell_reader(mapping, "worker"), _cell_reader(mapping, "assignment_status")
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        key = (row.a, row.b, row.source, row.split)
        rated = pairs.get(key)
        if rated is None:
            rated = pairs[key] = _Rated(row._replace(score=None), len(pairs))
        rated.same_id = rated.same_id and row.external_id == rated.first.external_id
        worker = worker_in(row)
        if is_rejected(status_in(row)):
            facts.rejected_assignments += 1
        elif row.score is None:
            facts.unrated += 1
        elif worker and worker in rated.raters:
            facts.second_ratings += 1
        else:
            if worker:
                rated.raters.add(worker)
                people.setdefault(worker, len(people))
            rated.add(row.score)
            facts.count(rated.place, people.get(worker, -1), row.score)
    facts.raters, facts.pairs = len(people), len(pairs)
    facts.disagreeing = sum(rated.squares > 0 for rated in pairs.values())
    yield from (rated.pair for rated in pairs.values())


def _cell_reader(mapping: Mapping[str, int], role: str) -> Callable[[DraftPair], str]:
    place = mapping.get(role)
    if place is None:
        return lambda _row: ""

    def read(row: DraftPair) -> str:
        cell = row.cells[place] if place < len(row.cells) else None
        return "" if cell is None else str(cell).strip()

    return read
