"""The names of a file's columns: the usual ones, those that a person means, and what to say where none fits."""

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten

from curation.files.drafts import FileError, Layout
from curation.pairs.text import printable

# Names of columns in small letters and digits alone.
PEOPLE_NAMES = (
    *("annotator", "annotatorid", "annotatorname", "worker", "workerid", "user", "username", "userid"),
    *("rater", "raterid", "judge", "participant", "participantid", "respondent", "prolificpid", "completedby"),
)  # fmt: skip
ASSIGNMENT_STATUS_NAMES = ("assignmentstatus",)
_OF_TURK = re.compile(r"^\s*(input|answer)\.(?=.)", re.IGNORECASE)
SENTENCE_NAMES = (
    ("sentence1", "sentence2"), ("sentencea", "sentenceb"), ("sent1", "sent2"), ("senta", "sentb"),
    ("text1", "text2"), ("texta", "textb"), ("s1", "s2"), ("a", "b"),
    ("premise", "hypothesis"), ("question1", "question2"),
)  # fmt: skip
# STR-2022 calls the column of both sentences Text, and SentencePair in its list of items; SemRel 2024 calls it Text.
PAIR_NAMES = ("text", "sentencepair")
# These say that their numbers measure something. `CLASS_NAMES` may hold scores or the numbers of classes.
SCORE_NAMES = (
    "score",
    "similarity",
    "similarityscore",
    "relatedness",
    "relatednessscore",
    "gold",
    "goldscore",
)
CLASS_NAMES = ("label", "goldlabel")
FACT_NAMES = {
    "source": ("source", "sourceid"),
    "subset": ("subset", "subsetid"),
    "split": ("split",),
    "external_id": ("id", "pairid", "externalid"),
}
# Columns that may hold two sentences, and may hold something else: named in a refusal, never taken.
_POSSIBLE = (
    ("query", "passage"), ("query", "document"), ("query", "positive"), ("anchor", "positive"),
    ("question", "answer"), ("sentence", "paraphrase"), ("source", "target"), ("src", "tgt"),
    ("original", "paraphrase"), ("text", "hypothesis"), ("context", "response"), ("left", "right"), ("first", "second"),
)  # fmt: skip
_SHOWN = 20

TWO_SENTENCES = (
    "if these are the two sentences of a pair, write them into two columns, "
    "or into one text with a line end between"
)


def without_turk(name: str) -> str:
    """The name of a column without what Mechanical Turk puts before it: Input.sentence1, Answer.best."""
    return _OF_TURK.sub("", name)


def is_rejected(status: object) -> bool:
    """Whether the status of an assignment says that its answers were rejected."""
    return str(status).strip().casefold() == "rejected"


def plain_names(names: Sequence[str]) -> list[str]:
    """The names in small letters and digits alone: `Sentence_1` is `sentence1`."""
    return [re.sub(r"[^a-z0-9]", "", without_turk(name).lower()) for name in names]


def names_listed(names: Sequence[str]) -> str:
    shown = ", ".join(f'"{shorten(printable(name), 40, placeholder="…")}"' for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def knows_sentences(names: Sequence[str]) -> bool:
    """Whether these are names of columns, two of which hold the sentences of a pair or one both of them."""
    # Names have no punctuation, which a sentence "A." has.
    plain = {re.sub(r"[\s_-]", "", name.lower()) for name in names}
    pairs = any(plain.issuperset(both) for both in SENTENCE_NAMES)
    return pairs or (len(names) > 1 and not plain.isdisjoint(PAIR_NAMES))


def usual_places(names: Sequence[str]) -> dict[str, int]:
    """From a and b, and from score, to the places of columns with usual names for them."""
    plain = plain_names(names)
    both = next((both for both in SENTENCE_NAMES if set(both) <= set(plain)), None)
    score = next((name for name in SCORE_NAMES if name in plain), None)
    found = dict(zip(("a", "b"), map(plain.index, both), strict=True)) if both else {}
    return found | ({"score": plain.index(score)} if score else {})


def column_place(name: str, layout: Layout) -> int:
    """The index of the column of this name. Raises FileError where the file has none, several, or a nested one."""
    file_name, names = layout.path.name, layout.columns
    if names.count(name) > 1:
        raise FileError(
            f'{file_name} has {names.count(name)} columns named "{name}"; give each its own name.'
        )
    if name in layout.nested:
        raise FileError(nested_refusal(file_name, [name]))
    if name not in names:
        hint = "" if layout.header else " (a file without a header has its columns numbered from 1)"
        if layout.header and layout.format in ("csv", "tsv") and name.isdecimal():
            hint = " (columns have numbers only if you say that the first row names none)"
        raise FileError(f'{file_name} has no column "{name}"; it has {names_listed(names)}{hint}.')
    return names.index(name)


def nested_refusal(file_name: str, names: Sequence[str], *, instead: str = TWO_SENTENCES) -> str:
    """Why these columns of a Parquet file are not read, and what to do if they hold sentences."""
    return (
        f"{file_name} holds lists or other nested values in {names_listed(names)}, which are not read from Parquet "
        f"files; {instead}."
    )


def possible_sentences(names: Sequence[str]) -> tuple[str, str] | None:
    """Two columns that seem to hold the sentences of a pair, though their names are not usual: `caption1` and
    `caption2`, `sentence1_tr` and `sentence2_tr`, `query` and `passage`. None where there are no such columns.
    """
    lower = {name.lower(): name for name in reversed(names)}
    for name in names:
        for match in re.finditer(r"(?<!\d)1(?!\d)|(?<![a-z])a(?![a-z])", name.lower()):
            # What the second and the third column are called if this is the first, such as caption1 or text_a.
            before, after = name.lower()[: match.start()], name.lower()[match.end() :]
            second, third = (
                f"{before}{mark}{after}" for mark in (("2", "3") if match[0] == "1" else ("b", "c"))
            )
            # Items of a tuple are numbered too, and are more than two.
            if second in lower and third not in lower:
                return name, lower[second]
    plain = dict(zip(reversed(plain_names(names)), reversed(names), strict=True))
    return next(((plain[a], plain[b]) for a, b in _POSSIBLE if a in plain and b in plain), None)


def unequal_rows_refusal(file_name: str, names: Sequence[str], width: int, places: Mapping[str, int]) -> str:
    """The refusal of a file whose rows all have more cells than its header. places: of recognised columns, from 0."""
    more = width - len(names)
    cells = "1 cell" if more == 1 else f"{more} cells"
    options = " ".join(f"--{field} {place + 1}" for field, place in places.items())
    example = f", such as {options}" if options else ""
    return (
        f"The header of {file_name} names {len(names)} columns, and its rows have {width} cells, {cells} more. If the "
        f"columns stand in the order of the header, say that the first row names no columns (“First row: is a pair” on "
        f"the page, --no-header in a command) and give the columns by their numbers{example}; or mend the header."
    )
