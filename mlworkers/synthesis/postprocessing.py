"""What a language model wrote into pairs that are fit to train on, with a reason for every row that is dropped.

The steps and their order are DINO's (its code, and RISE's); what is ours is marked.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from curation.pairs.holding_out import NOTHING_HELD_OUT, HeldOut
from curation.pairs.overlap import jaccard
from curation.pairs.text import SENTENCE_MAX_CHARACTERS, near_copy_key, normalise, words
from mlworkers.synthesis.plan import GenerationPlan
from mlworkers.synthesis.prompts import QUOTE
from mlworkers.synthesis.rows import Source, WrittenRow

TRIES = 20  # at a sampled partner, for each that is wanted


class Reason(StrEnum):
    """Why a row was dropped. A row has one reason: the first that applied."""

    NO_QUOTE = "no closing quote"
    EMPTY = "empty"
    LINE_BREAK = "line break"
    BROKEN = "unreadable characters"  # ours: half of a character, when a byte-level model stops amid one
    TOO_LONG = "too long to store"  # ours
    TOO_SHORT = "too few words"
    REPEATED = "repeated"
    SOURCE = "same as the source"
    HELD_OUT = "stands in held-out pairs"  # ours
    CONTRADICTION = "written for several labels"  # ours
    ENOUGH = "enough for its source and label"
    LIMIT = "beyond the limit of rows"  # ours


@dataclass(frozen=True)
class Row:
    """A row with what became of it. text: cleaned. target: the target similarity; sampled: a partner of step 6."""

    source: int
    label: str
    sample: int
    raw: str
    tokens: int
    text: str = ""
    target: float | None = None
    sampled: bool = False
    dropped: Reason | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "label": self.label,
            "sample": self.sample,
            "raw": self.raw,
            "tokens": self.tokens,
            "text": self.text,
            "target": self.target,
            "sampled": self.sampled,
            "dropped": self.dropped and str(self.dropped),
        }


@dataclass(frozen=True)
class ProcessedRows:
    """Every row that was written, then every sampled one, each kept or with its reason. missing: partners not found."""

    rows: tuple[Row, ...]
    missing: int

    @property
    def kept(self) -> list[Row]:
        return [row for row in self.rows if row.dropped is None]

    @property
    def dropped(self) -> dict[str, int]:
        """How many rows each reason dropped; of reasons that dropped none, 0."""
        counts = Counter(row.dropped for row in self.rows)
        return {str(reason): counts[reason] for reason in Reason}


def postprocessed(
    written: Sequence[WrittenRow],
    sources: Sequence[Source],
    plan: GenerationPlan,
    *,
    held_out: HeldOut = NOTHING_HELD_OUT,
) -> ProcessedRows:
    """Clean, drop, smooth, thin out and complete what was written. The same input gives the same output.

    held_out: sentences of which no near copy may be trained on.
    """
    rng = np.random.default_rng(plan.seed)
    by_id = {source.id: source for source in sources}
    rows = [_cleaned(row, plan) for row in written]
    order = rng.permutation(len(rows)).tolist()
    shuffled = [rows[place] for place in order]
    for step in (
        _without_repeats,
        lambda rows: _without_copies(rows, by_id),
        lambda rows: _without_held_out(rows, held_out),
        _without_contradictions,
        lambda rows: _targets_set(rows, plan.smoothing),
        lambda rows: _thinned(rows, plan.keep),
    ):
        shuffled = step(shuffled)
    partners, missing = _partners(shuffled, by_id, plan, rng)
    together = _limited(shuffled + partners, plan.most_rows, rng)
    in_order = sorted(zip(order, together[: len(order)], strict=True), key=lambda each: each[0])
    return ProcessedRows((*(row for _place, row in in_order), *together[len(order) :]), missing)


def smoothed(label: str, smoothing: float) -> float:
    """The target similarity of a label: (1 - s)·y + s/2, so that 0, 0.5 and 1 become 0.1, 0.5 and 0.9 (RISE)."""
    return round((1 - smoothing) * float(label) + smoothing / 2, 12)


def _cleaned(written: WrittenRow, plan: GenerationPlan) -> Row:
    before, quote, _after = written.text.partition(QUOTE)
    text = normalise(before)
    row = Row(written.source, written.label, written.sample, written.text, written.tokens, text)
    return replace(row, dropped=_fault(before, text, plan.least_words, ended=bool(quote)))


def _fault(raw: str, text: str, least_words: int, *, ended: bool) -> Reason | None:
    count = len(words(text))
    faults = {
        Reason.LINE_BREAK: "\n" in raw or "\r" in raw,
        Reason.NO_QUOTE: not ended,
        Reason.EMPTY: not count,
        Reason.BROKEN: "�" in text,
        Reason.TOO_LONG: len(text) > SENTENCE_MAX_CHARACTERS,
        Reason.TOO_SHORT: count < least_words,
    }
    return next((reason for reason, applies in faults.items() if applies), None)


def _without_repeats(rows: Sequence[Row]) -> list[Row]:
    """Of rows with the same source, label and text, the first stays."""
    seen: set[tuple[int, str, str]] = set()
    result = []
    for row in rows:
        name = (row.source, row.label, near_copy_key(row.text))
        result.append(_drop(row, Reason.REPEATED, name in seen))
        if row.dropped is None:
            seen.add(name)
    return result


def _without_copies(rows: Sequence[Row], sources: Mapping[int, Source]) -> list[Row]:
    """DINO compares character by character; a capital or a full stop more makes no other sentence."""
    keys = {number: near_copy_key(source.text) for number, source in sources.items()}
    return [_drop(row, Reason.SOURCE, near_copy_key(row.text) == keys[row.source]) for row in rows]


def _without_held_out(rows: Sequence[Row], held_out: HeldOut) -> list[Row]:
    return [_drop(row, Reason.HELD_OUT, row.text in held_out) for row in rows]


def _without_contradictions(rows: Sequence[Row]) -> list[Row]:
    """A sentence written for one source under two labels has neither: all its rows go (DINO keeps them all)."""
    labels: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in rows:
        if row.dropped is None:
            labels[row.source, near_copy_key(row.text)].add(row.label)
    return [
        _drop(row, Reason.CONTRADICTION, len(labels[row.source, near_copy_key(row.text)]) > 1) for row in rows
    ]


def _targets_set(rows: Sequence[Row], smoothing: float) -> list[Row]:
    return [replace(row, target=smoothed(row.label, smoothing)) for row in rows]


def _thinned(rows: Sequence[Row], keep: int) -> list[Row]:
    """Of a source's rows with one target, the first `keep` stay."""
    counts: Counter[tuple[int, float | None]] = Counter()
    result = []
    for row in rows:
        name = (row.source, row.target)
        result.append(_drop(row, Reason.ENOUGH, counts[name] >= keep))
        counts[name] += row.dropped is None
    return result


def _partners(
    rows: Sequence[Row], sources: Mapping[int, Source], plan: GenerationPlan, rng: np.random.Generator
) -> tuple[list[Row], int]:
    """For each source with a kept row, sentences written for sources of other groups, with the similarity 0.

    The label 0 of these is not smoothed (RISE's code). Ours: none from the source's own group of pairs, none that
    nearly repeats the source, none that the source has already.
    """
    kept = [row for row in rows if row.dropped is None]
    taken = {(row.source, near_copy_key(row.text)) for row in rows if row.text}
    partners: list[Row] = []
    wanted = 0
    for number in dict.fromkeys(row.source for row in kept):
        wanted += plan.sampled
        for sample in range(plan.sampled):
            found = _partner(
                sources[number], kept, sources, taken, near_duplicate=plan.near_duplicate, rng=rng
            )
            if found is not None:
                taken.add((number, near_copy_key(found.text)))
                partners.append(
                    Row(number, "0", sample, found.raw, found.tokens, found.text, 0.0, sampled=True)
                )
    return partners, wanted - len(partners)


def _partner(
    source: Source,
    kept: Sequence[Row],
    sources: Mapping[int, Source],
    taken: Container[tuple[int, str]],
    *,
    near_duplicate: float,
    rng: np.random.Generator,
) -> Row | None:
    places: list[int] = rng.integers(len(kept), size=TRIES).tolist()
    for row in (kept[place] for place in places):
        if (
            sources[row.source].group != source.group
            and (source.id, near_copy_key(row.text)) not in taken
            and jaccard(source.text, row.text) < near_duplicate
        ):
            return row
    return None


def _limited(rows: Sequence[Row], most: int, rng: np.random.Generator) -> list[Row]:
    """At most so many kept rows, drawn evenly from all; 0: all."""
    kept = [place for place, row in enumerate(rows) if row.dropped is None]
    beyond = set(rng.permutation(kept)[most:].tolist()) if most else set()
    return [_drop(row, Reason.LIMIT, place in beyond) for place, row in enumerate(rows)]


def _drop(row: Row, reason: Reason, applies: bool) -> Row:
    return replace(row, dropped=reason) if applies and row.dropped is None else row
