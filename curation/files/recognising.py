"""Which column of a file holds which field: as named, or recognised, and then with the reason.

What is recognised rejects no row and hides no column. Numbers of classes are not scores: a model that learns from
"contradiction = 2" as more related than "entailment = 0" learns nonsense.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from curation.files.columns import (
    CLASS_NAMES,
    FACT_NAMES,
    PAIR_NAMES,
    SCORE_NAMES,
    SENTENCE_NAMES,
    column_place,
    names_listed,
    nested_refusal,
    plain_names,
    possible_sentences,
)
from curation.files.drafts import Columns, FileError, Guess, Layout
from curation.files.facts import ColumnFacts, FileFacts, facts_of
from curation.files.pair_cells import fault_of_pair
from curation.files.records import Record, data_records, headers_refused

# How long what is kept beside the sentences may be: the width of its place in the database.
FACT_MAX_CHARACTERS = {"source": 100, "subset": 100, "split": 20, "external_id": 200}
CLASSES_MOST = 3
_NO_SCORE = -1.0
_NAME_A_SCORE = (
    "If its numbers measure how alike the sentences are, name it as the score (“Score” on the page, --score in a "
    "command)"
)  # fmt: skip
_WORDS = {
    "a": "first sentence", "b": "second sentence", "pair": "both sentences", "score": "score", "source": "source",
    "subset": "subset", "split": "split", "external_id": "id",
}  # fmt: skip


@dataclass
class _Reading:
    """Which columns are read, and what was guessed on the way. classes: the columns that hold classes."""

    layout: Layout
    facts: FileFacts
    mapping: dict[str, int]
    left_out: set[str] = field(default_factory=set)
    guessed: set[str] = field(default_factory=set)
    guesses: list[Guess] = field(default_factory=list)
    classes: dict[int, Sequence[str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def is_free(self, name: str) -> bool:
        return name not in self.mapping and name not in self.left_out

    def take(self, name: str, place: int, reason: str) -> None:
        self.mapping[name] = place
        self.guessed.add(name)
        self.guesses.append(Guess(name, self.layout.columns[place], reason))

    def refuse(self, name: str, reason: str) -> None:
        self.guesses.append(Guess(name, "", reason))


def columns_decided(asked: Columns, layout: Layout, *, sentences: bool = True) -> Layout:
    """The layout with its columns: as asked for, and else recognised from what all cells of the file hold.

    sentences: whether a file without columns of sentences is refused. Raises FileError for that, and where a column
    that was asked for is not there.
    """
    file_name, names = layout.path.name, layout.columns
    if asked.pair and (asked.a or asked.b):
        raise FileError(
            f"Both sentences of {file_name} are in one column or in two; name one column with --pair, "
            f"or two with --a and --b."
        )
    mapping = {name: column_place(given, layout) for name, given in asdict(asked).items() if given}
    for name, index in mapping.items():
        twin = next(other for other in mapping if mapping[other] == index)
        if twin != name:
            raise FileError(
                f'The column "{names[index]}" of {file_name} is named for both {twin} and {name}; name two.'
            )

    facts = _facts(asked, layout, mapping)
    left_out = {name for name, given in asdict(asked).items() if given == ""}
    reading = _Reading(layout, facts, mapping, left_out | ({"score"} if asked.label else set()))
    _sentences_recognise(reading, asked, guess_pair=not sentences)
    if sentences and "pair" not in mapping and not {"a", "b"} <= mapping.keys():
        raise _unknown_sentences(layout, facts)
    if layout.header:
        _facts_recognise(reading)
        _score_recognise(reading, given_label=bool(asked.label))
    elif reading.is_free("score") and not (asked.a or asked.b or asked.pair or "pair" in mapping):
        cells = reading.facts.of(2)
        if cells.filled and 2 * cells.read_as_numbers >= cells.filled and 2 not in reading.mapping.values():
            reading.take("score", 2, "The file has no header, and its third column holds numbers: the score.")
    score = mapping.get("score")
    numbers = facts.of(-1 if score is None else score)
    return replace(
        layout,
        mapping=mapping,
        guessed=frozenset(reading.guessed),
        guesses=(*layout.guesses, *reading.guesses, *_said_of_score(reading, numbers)),
        warnings=(*layout.warnings, *reading.warnings),
        class_names=reading.classes,
        decimal_comma=numbers.decimal_comma,
        unscored=None if score is None else _unscored(layout.columns[score], numbers),
    )


def _facts(asked: Columns, layout: Layout, mapping: Mapping[str, int]) -> FileFacts:
    """What the cells hold of the columns about which something is to be decided."""
    places = dict(
        zip(reversed(plain_names(layout.columns)), range(len(layout.columns) - 1, -1, -1), strict=True)
    )
    numbers = {mapping["score"]} if "score" in mapping else set()
    texts, ids = set(), []
    if layout.header:
        if asked.score is None:
            numbers |= {places[name] for name in (*SCORE_NAMES, *CLASS_NAMES) if name in places}
        named = {
            field: next((places[name] for name in names if name in places), None)
            for field, names in FACT_NAMES.items()
        }
        texts = {
            place for field, place in named.items() if place is not None and getattr(asked, field) is None
        }
        if named["external_id"] is not None and asked.external_id is None:
            within = [
                place for field in ("source", "split")
                if getattr(asked, field) != "" and (place := mapping.get(field, named[field])) is not None
            ]  # fmt: skip
            ids = [named["external_id"], *within]
    elif asked.score is None and len(layout.columns) > 2:
        numbers |= {2}
    pairs: set[int] = set()
    if not (asked.a or asked.b or asked.pair):
        known = {places[name] for name in PAIR_NAMES if name in places}
        pairs = set(range(len(layout.columns))) if not layout.header else known
        if layout.header and not known and not _sentence_places(places):
            pairs = set(range(len(layout.columns)))  # for the refusal
    wanted = {*numbers, *texts, *ids, *pairs}
    if not wanted:
        return FileFacts({})
    part = replace(layout, mapping={str(place): place for place in sorted(wanted)})
    if layout.whole:
        records = data_records(part)
    else:
        # The first rows of a file that was not read as a whole; of their lines only the order is known.
        numbered = (Record(line, row) for line, row in enumerate(layout.rows, 2))
        rows = (row for row in numbered if len(row.cells) == len(layout.columns))
        records = headers_refused(layout.columns, rows) if layout.header else rows
    return facts_of(
        records, numbers=numbers, pairs=pairs, texts=texts, name=ids, commas=layout.delimiter != ","
    )


def _sentence_places(places: Mapping[str, int]) -> tuple[int, int] | None:
    return next(((places[a], places[b]) for a, b in SENTENCE_NAMES if a in places and b in places), None)


def _sentences_recognise(reading: _Reading, asked: Columns, *, guess_pair: bool) -> None:
    """guess_pair: whether a column of pairs may be taken of a file without a header, whose score nobody can guess."""
    layout, facts = reading.layout, reading.facts
    if asked.a or asked.b or asked.pair:
        return
    places = _places(layout)
    if not layout.header:
        both = next((place for place in range(len(layout.columns)) if _mostly_pairs(facts.of(place))), None)
        if both is not None:
            if not guess_pair:
                raise _unknown_sentences(layout, facts)
            reading.take("pair", both, _both_sentences(layout, both))
            return
        if len(layout.columns) > 1 and not reading.left_out & {"a", "b"}:
            reason = "The file has no header, so its first two columns are the sentences."
            reading.take("a", 0, reason)
            reading.take("b", 1, reason)
        return
    two = _sentence_places(places)
    if two and not reading.left_out & {"a", "b"}:
        for name, place in zip(("a", "b"), two, strict=True):
            reading.take(name, place, _by_name(layout, name, place))
        return
    for name in PAIR_NAMES:
        if "pair" not in reading.left_out and name in places and facts.of(places[name]).pairs:
            reading.take("pair", places[name], _both_sentences(layout, places[name]))
            return


def _facts_recognise(reading: _Reading) -> None:
    layout, facts, places = reading.layout, reading.facts, _places(reading.layout)
    for name, usual in FACT_NAMES.items():
        place = next((places[one] for one in usual if one in places), None)
        if place is None or not reading.is_free(name) or place in reading.mapping.values():
            continue
        if name == "external_id" and facts.repeated:
            again, first = facts.repeated
            reading.refuse(
                name,
                f"The column {_shown(layout, place)} is not read as the id, because line {again} has the same one as "
                f"line {first}; ids are made from the sentences.",
            )
            continue
        reason = _by_name(layout, name, place)
        if facts.of(place).longest > FACT_MAX_CHARACTERS[name]:
            reason += f" Cells of more than {FACT_MAX_CHARACTERS[name]} characters are left out."
        reading.take(name, place, reason)


def _score_recognise(reading: _Reading, *, given_label: bool) -> None:
    layout, facts, places = reading.layout, reading.facts, _places(reading.layout)
    taken = set(reading.mapping.values())
    for name in (*SCORE_NAMES, *CLASS_NAMES):
        place = places.get(name)
        if place is None or place in taken or given_label:
            continue
        cells, shown = facts.of(place), _shown(layout, place)
        why = _why_classes(name, place, cells, layout)
        if why:
            if reading.is_free("score"):
                hint = f" {_NAME_A_SCORE}." if cells.read_as_numbers else ""
                reading.refuse("score", f"No score is read from {shown}: {why}, so it holds classes.{hint}")
            if reading.is_free("subset"):
                reading.classes[place] = layout.class_names.get(place, ())
                reading.take("subset", place, f"The classes of {shown} are kept as the subset of each pair.")
        elif not cells.read_as_numbers:
            if cells.filled and name in SCORE_NAMES and reading.is_free("score"):
                line, word = cells.word or (0, "")
                reading.warnings.append(
                    f"The column {shown} is not read as the score, because none of its cells is a number: line "
                    f"{line} holds {names_listed([word])}. Write numbers, or name another column as the score "
                    f"(“Score” on the page, --score in a command)."
                )
        elif name in CLASS_NAMES and cells.values == {_NO_SCORE}:
            reading.refuse(
                "score",
                f"The column {shown} holds -1 alone, which stands for a value that is not published: no score.",
            )
        elif reading.is_free("score"):
            reading.take("score", place, _by_name(layout, "score", place))


def _why_classes(name: str, place: int, cells: ColumnFacts, layout: Layout) -> str:
    """Why a column holds classes rather than scores; "" where it does not."""
    if layout.class_names.get(place):
        return "the file itself says that its numbers are classes"
    if name not in CLASS_NAMES or not cells.filled:
        return ""
    if 2 * cells.read_as_numbers < cells.filled:
        return "its cells are words"
    values = cells.values - {_NO_SCORE}
    if not values or cells.fractions or len(values) > CLASSES_MOST:
        return ""
    beside = " beside -1" if cells.unscored else ""
    return f"it has only {len(values)} different whole {'number' if len(values) == 1 else 'numbers'}{beside}"


def _said_of_score(reading: _Reading, cells: ColumnFacts) -> Iterator[Guess]:
    """What becomes of cells of the score that are not scores."""
    place = reading.mapping.get("score")
    if place is None:
        return
    layout, shown = reading.layout, _shown(reading.layout, place)
    if cells.decimal_comma:
        yield Guess("decimal_comma", ",", f"The numbers of {shown} have a comma before their decimals.")
    if _unscored(layout.columns[place], cells) is not None:
        many = f"{cells.unscored:,} {'cell of' if cells.unscored == 1 else 'cells of'} {shown}"
        yield Guess("unscored", "-1", f"-1 stands for no score in {many}, as in the test files of GLUE.")
    others = cells.filled - cells.read_as_numbers
    if "score" in reading.guessed and others and cells.word:
        line, word = cells.word
        are = "1 cell is" if others == 1 else f"{others:,} cells are"
        reason = f"In {shown} {are} not a number, first on line {line}: {names_listed([word])}."
        yield Guess("score", layout.columns[place], f"{reason} Such pairs have no score.")


def _unscored(name: str, cells: ColumnFacts) -> float | None:
    """-1, where it stands for no score as in the test files of GLUE; None where it is a score like others."""
    if not cells.unscored or cells.negatives > cells.unscored:
        return None
    hidden = cells.highest > 1 or cells.highest == _NO_SCORE or plain_names([name])[0] in CLASS_NAMES
    return _NO_SCORE if hidden else None


def _unknown_sentences(layout: Layout, facts: FileFacts) -> FileError:
    file_name, names = layout.path.name, layout.columns
    if layout.nested and (len(names) < 2 or not set(PAIR_NAMES).isdisjoint(plain_names(layout.nested))):
        return FileError(nested_refusal(file_name, layout.nested))
    both = next((name for place, name in enumerate(names) if _mostly_pairs(facts.of(place))), None)
    if both is not None:
        shown = names_listed([both])
        return FileError(
            f"The cells of column {shown} of {file_name} hold two sentences; "
            f"name it as the column of both sentences (--pair {shown})."
        )
    for place, plain in enumerate(plain_names(names)):
        filled = [row[place] for row in layout.rows if len(row) > place and row[place] not in (None, "")]
        if plain in PAIR_NAMES and filled and not possible_sentences(names):
            return FileError(
                f"The sentences of {file_name} are not known. In its column {names_listed([names[place]])}, "
                f"{fault_of_pair(filled[0])}. If two other columns hold them, name these with --a and --b."
            )
    if len(names) < 2:
        return FileError(
            f"{file_name} has one column only, and a pair is two sentences; if it holds single sentences, add them on "
            f"the page “Sample pairs” or with import_sentences, and sample pairs from them."
        )
    hint = (
        "name both, or one column that holds both (--pair), or say that the file has no header"
        if layout.header
        else "name both by their numbers"
    )
    possible = possible_sentences(names)
    if possible:
        a, b = (name if name.isidentifier() else f'"{name}"' for name in possible)
        first, second = names_listed(possible[:1]), names_listed(possible[1:])
        hint = f"if {first} and {second} hold them, name both (--a {a} --b {b})"
    unread = f" {nested_refusal(file_name, layout.nested)}" if layout.nested else ""
    return FileError(
        f"The two columns of sentences in {file_name} are not known; {hint}; it has {names_listed(names)}.{unread}"
    )


def _places(layout: Layout) -> dict[str, int]:
    """From the plain names of the columns to the first place of each."""
    plain = plain_names(layout.columns)
    return {name: plain.index(name) for name in plain}


def _mostly_pairs(cells: ColumnFacts) -> bool:
    return bool(cells.pairs) and 2 * cells.pairs >= cells.filled


def _both_sentences(layout: Layout, place: int) -> str:
    return f"The column {_shown(layout, place)} holds both sentences: its cells can be divided into two."


def _by_name(layout: Layout, name: str, place: int) -> str:
    return f"The column {_shown(layout, place)} is read as the {_WORDS[name]}, because of its name."


def _shown(layout: Layout, place: int) -> str:
    return names_listed([layout.columns[place]])
