"""What a language model wrote into pairs that are fit to train on, with a reason for every row that is dropped.

The steps and their order are those of the released code of DINO and of RISE; what is ours is marked.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import product

import numpy as np

from curation.pairs.holding_out import NOTHING_HELD_OUT, HeldOut
from curation.pairs.overlap import jaccard
from curation.pairs.segmenting import word_count
from curation.pairs.text import SENTENCE_MAX_CHARACTERS, near_copy_key, normalise
from mlworkers.science.synthesis.chat import sentence_in
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.prompts import QUOTE
from mlworkers.science.synthesis.rows import Source, WrittenRow

TRIES = 20  # at a sampled partner, for each that is wanted


class Reason(StrEnum):
    """Why a row was dropped. A row has one reason: the first that applied."""

    NO_QUOTE = "no closing quote"
    CUT = "cut off at the longest answer"  # ours, of an endpoint, as the next two
    WITHHELD = "withheld by the endpoint"
    OTHER_FORM = "answer not in the form that was asked for"
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


# By the reason that an endpoint gives for the end of an answer.
_UNFINISHED = {"length": Reason.CUT, "content_filter": Reason.WITHHELD}


@dataclass
class Row:
    """A row with what becomes of it. text: cleaned. target: the target similarity; sampled: a partner of step 6."""

    source: int
    label: str
    sample: int
    raw: str
    tokens: int
    text: str
    target: float
    sampled: bool = False
    dropped: Reason | None = None

    @cached_property
    def key(self) -> str:
        return near_copy_key(self.text)

    def drop(self, reason: Reason, applies: bool) -> None:
        if applies and self.dropped is None:
            self.dropped = reason


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
    rng = np.random.default_rng(plan.seed)  # one stream: the shuffle, the partners, the limit
    by_id = {source.id: source for source in sources}
    rows = [_cleaned(row, plan) for row in written]
    shuffled = [rows[index] for index in rng.permutation(len(rows)).tolist()]  # step 1 of RISE's code
    # Of rows with the same source, label and text, the first stays.
    seen: set[tuple[int, str, str]] = set()
    for row in shuffled:
        name = (row.source, row.label, row.key)
        row.drop(Reason.REPEATED, name in seen)
        if row.dropped is None:
            seen.add(name)
    # DINO compares character by character; a capital or a full stop more makes no other sentence.
    keys = {source.id: near_copy_key(source.text) for source in sources}
    for row in shuffled:
        row.drop(Reason.SOURCE, row.key == keys[row.source])
        row.drop(Reason.HELD_OUT, row.text in held_out)
    # A sentence written for one source under two labels has neither: all its rows go (DINO keeps them all).
    # Two passes: whether a sentence has several labels is known only after all rows were seen.
    labels: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in shuffled:
        if row.dropped is None:
            labels[row.source, row.key].add(row.label)
    for row in shuffled:
        row.drop(Reason.CONTRADICTION, len(labels[row.source, row.key]) > 1)
    # Of a source's rows with one target, the first `keep` stay.
    counts: Counter[tuple[int, float]] = Counter()
    for row in shuffled:
        row.drop(Reason.ENOUGH, counts[row.source, row.target] >= plan.keep)
        # Only kept rows count, and the shuffle above makes the first `keep` of them a random sample.
        counts[row.source, row.target] += row.dropped is None
    # The partners are drawn from the rows that are kept so far, so the steps that drop unfit rows come first.
    partners, missing = _partners(shuffled, by_id, plan, rng)
    if plan.most_rows:  # drawn evenly from all that are kept
        kept = [row for row in shuffled + partners if row.dropped is None]
        # A random permutation without its first `most_rows` numbers: those that stay are drawn without
        # replacement.
        for index in rng.permutation(len(kept))[plan.most_rows :].tolist():
            kept[index].drop(Reason.LIMIT, True)
    return ProcessedRows((*rows, *partners), missing)


def first_sentences_processed(
    written: Sequence[WrittenRow], plan: GenerationPlan, *, held_out: HeldOut = NOTHING_HELD_OUT
) -> list[Row]:
    """First sentences, cleaned: of near copies the first stays, whatever its label, and of all the first
    `plan.sources`.
    """
    rows = [_cleaned(row, plan) for row in written]
    known: set[str] = set()
    for row in rows:
        row.drop(Reason.REPEATED, row.key in known)
        row.drop(Reason.HELD_OUT, row.text in held_out)
        row.drop(Reason.LIMIT, len(known) >= plan.sources)  # counted before this row is added
        if row.dropped is None:
            known.add(row.key)
    return rows


def smoothed(label: str, smoothing: float) -> float:
    """The target similarity of a label: (1 - s)·y + s/2, so that 0, 0.5 and 1 become 0.1, 0.5 and 0.9 (RISE's code)."""
    # Rounded: targets that are equal on paper are equal floats, and so one label.
    return round((1 - smoothing) * float(label) + smoothing / 2, 12)


def _cleaned(written: WrittenRow, plan: GenerationPlan) -> Row:
    if not plan.endpoint_model:  # what stands before the first quote: the prompt ended with the opening one
        before, quote, _after = written.text.partition(QUOTE)  # of DINO: no quote in max_tokens, no sentence
        unfit = None if quote else Reason.NO_QUOTE
    elif written.finish in _UNFINISHED:
        before, unfit = "", _UNFINISHED[written.finish]
    else:
        sentence = sentence_in(written.text, plan.answer_form)
        before, unfit = (sentence, None) if sentence is not None else ("", Reason.OTHER_FORM)
    text = normalise(before)
    row = Row(
        *(written.source, written.label, written.sample, written.text, written.tokens),
        text=text,
        target=smoothed(written.label, plan.smoothing),
    )
    count = word_count(text)
    row.drop(Reason.LINE_BREAK, "\n" in before or "\r" in before)
    if unfit is not None:
        row.drop(unfit, True)
    row.drop(Reason.EMPTY, not count)
    row.drop(Reason.BROKEN, "�" in text)  # U+FFFD stands for bytes that do not form a character
    row.drop(Reason.TOO_LONG, len(text) > SENTENCE_MAX_CHARACTERS)
    row.drop(Reason.TOO_SHORT, count < plan.least_words)
    return row


def _partners(
    rows: Sequence[Row], sources: Mapping[int, Source], plan: GenerationPlan, rng: np.random.Generator
) -> tuple[list[Row], int]:
    """For each source with a kept row, sentences written for sources of other groups, with the similarity 0; and how
    many were not found.

    The label 0 of these is not smoothed (RISE's code). Ours: none from the source's own group of pairs, none that
    nearly repeats the source, none that the source has already.
    """
    kept = [row for row in rows if row.dropped is None]  # partners come from all labels
    taken = {(row.source, row.key) for row in rows if row.text}
    partners, missing = [], 0
    for source, sample in product(dict.fromkeys(sources[row.source] for row in kept), range(plan.sampled)):
        # Rejection sampling: uniform over the kept rows that fit, if one of TRIES draws does. All TRIES
        # numbers are drawn whatever they give, so each partner takes equally many from the generator.
        fitting = (
            row
            for row in (kept[index] for index in rng.integers(len(kept), size=TRIES).tolist())
            if sources[row.source].group != source.group
            and (source.id, row.key) not in taken
            and jaccard(source.text, row.text) < plan.near_duplicate  # |A ∩ B| / |A ∪ B| of words
        )
        partner = next(fitting, None)
        if partner is None:
            missing += 1
            continue
        taken.add((source.id, partner.key))
        partners.append(
            replace(partner, source=source.id, label="0", sample=sample, target=0.0, sampled=True)
        )
    return partners, missing
