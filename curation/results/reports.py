"""What a page of results shows, in its order, and the table of its file; to and from JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal

from curation.results.estimates import Estimate
from curation.results.tables import Cell, Column, Mark, Table

Look = Literal["", "button", "primary"]


@dataclass(frozen=True)
class Text:
    """A paragraph.

    tone: "finding" states a result, "soft" explains, "doubtful" is a warning.
    """

    words: str
    tone: Literal["", "finding", "soft", "doubtful"] = ""


@dataclass(frozen=True)
class Link:
    label: str
    href: str
    look: Look = ""
    download: bool = False


@dataclass(frozen=True)
class Points:
    """A list. A point is a sentence, or several pieces with links and marks among them."""

    points: Sequence[str | Sequence[str | Link | Mark]]


@dataclass(frozen=True)
class Links:
    links: Sequence[Link]


@dataclass(frozen=True)
class Fact:
    """A value under its label."""

    label: str
    value: str
    href: str = ""


@dataclass(frozen=True)
class Facts:
    facts: Sequence[Fact]


@dataclass(frozen=True)
class Chart:
    """A chart with its table.

    name: of its files.
    finding: what it shows, in a sentence.
    n, unit: how many of what are behind it.
    drawing: a Vega-Lite specification.
    judges: who judged the scores that it rests on.
    """

    name: str
    finding: str
    n: int
    unit: str
    drawing: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    judges: str = ""


@dataclass(frozen=True)
class Section:
    """Parts under a heading; without one, together.

    name: the anchor in the page's address.
    across: whether its parts are beside each other where there is room.
    folded: whether it opens when its heading is pressed.
    """

    heading: str
    parts: Sequence["Part"]
    name: str = ""
    across: bool = False
    folded: bool = False


Part = Text | Points | Links | Facts | Chart | Table | Section


_EMPTY = Table((), ())


@dataclass(frozen=True)
class Report:
    """A page of results.

    title: of the browser's tab.
    heading: of the page; without one, the title.
    lead: what the page is for.
    back: the way to the pages like this one; without one, to the run.
    finding: what the figures show.
    judges: who judged the scores behind the file.
    warnings: sentences about the figures, before everything else.
    data: the table of the file, if there is one.
    parts: empty as long as there is no result.
    """

    title: str
    data: Table = _EMPTY
    heading: str = ""
    lead: str = ""
    back: Link | None = None
    finding: str = ""
    judges: str = ""
    warnings: Sequence[str] = ()
    parts: Sequence[Part] = ()

    @property
    def tables(self) -> Iterator[tuple[str, Table]]:
        """The tables of the page, each with the heading that it is under."""
        waiting = [(self.heading or self.title, part) for part in self.parts]
        while waiting:
            heading, part = waiting.pop(0)
            if isinstance(part, Table):
                yield heading, part
            elif isinstance(part, Section):
                waiting[:0] = [(part.heading or heading, each) for each in part.parts]


_CLASSES = {
    each.__name__: each
    for each in (Cell, Chart, Column, Estimate, Fact, Facts, Link, Links, Mark, Points, Report, Section, Table, Text)
}  # fmt: skip


def as_json(part: Any) -> Any:
    """A report, or a part of one, as JSON: each object with the name of its class, without what is left out."""
    if isinstance(part, Mapping):
        return {str(name): as_json(value) for name, value in part.items()}
    if type(part).__name__ in _CLASSES:
        given = {
            field.name: value
            for field in fields(part)
            if (value := getattr(part, field.name)) != field.default or field.default is MISSING
        }
        return {"is": type(part).__name__, **as_json(given)}
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [as_json(one) for one in part]
    return part


def from_json(stored: Any) -> Any:
    """What `as_json` wrote; lists are tuples. Raises ValueError where a class or a field is unknown."""
    if isinstance(stored, list):
        return tuple(map(from_json, stored))
    if not isinstance(stored, dict):
        return stored
    given = {name: from_json(value) for name, value in stored.items()}
    if "is" not in stored:
        return given
    try:
        return _CLASSES[given.pop("is")](**given)
    except (KeyError, TypeError) as error:
        raise ValueError(f"This is not part of a report: {error}.") from error
