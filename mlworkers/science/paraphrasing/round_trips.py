"""Candidates for paraphrases by round-trip translation: there, and back (ConPGS, section 3.3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.files.progress import Report, silent
from curation.pairs.holding_out import HeldOut
from curation.pairs.text import near_copy_key
from mlworkers.science.paraphrasing.outcomes import Reason, names_differ, numbers_differ, reason_of
from mlworkers.science.paraphrasing.round_trip_plan import Trip
from mlworkers.science.paraphrasing.translation import Sentence, Translator


class Candidate(NamedTuple):
    """source: the place of its source. trip: the name of its way. rank: among the translations back of one search, from
    0. pivot: what it was translated back from. cut_off: whether a translation ended at its most tokens.
    """

    source: int
    trip: str
    rank: int
    pivot: str
    text: str
    cut_off: bool


@dataclass(frozen=True)
class JudgedCandidate:
    """number: of the first kept candidate of the source with this text, from 1; None where there is none. dropped: the
    reason why it is not kept itself, or "".
    """

    candidate: Candidate
    number: int | None
    dropped: str
    numbers_changed: bool
    names_changed: bool


def round_trips(
    forward: Translator,
    backward: Translator,
    texts: Sequence[str],
    trips: Sequence[Trip],
    *,
    seed: int,
    report: Report = silent,
) -> list[Candidate]:
    """The candidates of n sentences, by sentence and in the order of the trips.

    Each way there is gone once, for all ways back. report counts translated sentences.
    """
    # len(ways) + len(trips) translations of each sentence, instead of 2 · len(trips).
    # With the paper's two settings in both directions: 2 + 4 = 6 translations instead of 8.
    ways = list(dict.fromkeys(trip.forward for trip in trips))
    whole, before = len(texts) * (len(ways) + len(trips)), 0  # translations

    def reported(done: int, total: int, message: str) -> None:
        report(before + done, whole, message)

    pivots = {}
    for way in ways:
        # The stream's name holds the way: each way there draws its own numbers.
        sentences = [Sentence(text, f"there {way}", text) for text in texts]
        # The likeliest translation alone goes back.
        found = forward.translated(sentences, way, seed=seed, report=reported)
        pivots[way] = [(rows[0].text, rows[0].cut_off) if rows else ("", False) for rows in found]
        before += len(texts)
    candidates = []
    for place, trip in enumerate(trips):
        there = pivots[trip.forward]
        sentences = [
            Sentence(pivot, f"back {trip.name}", text)
            for (pivot, _cut_off), text in zip(there, texts, strict=True)
        ]
        found = backward.translated(sentences, trip.backward, seed=seed, report=reported)
        before += len(texts)
        for source, ((pivot, cut_off), rows) in enumerate(zip(there, found, strict=True)):
            candidates += [
                (place, Candidate(source, trip.name, rank, pivot, row.text, cut_off or row.cut_off))
                for rank, row in enumerate(rows)
            ]
            if not rows:  # the translation there is empty, or too long for the model back
                candidates.append((place, Candidate(source, trip.name, 0, pivot, "", cut_off)))
    # By source, then by trip as given, then by rank.
    candidates.sort(key=lambda one: (one[1].source, one[0], one[1].rank))
    return [candidate for _place, candidate in candidates]


def candidates_judged(
    candidates: Iterable[Candidate], texts: Sequence[str], *, near_copy: float, held_out: HeldOut
) -> list[JudgedCandidate]:
    """What becomes of each candidate, in their order. texts: of the sources. near_copy: as in `outcomes`."""
    kept: dict[tuple[int, str], int] = {}
    judged = []
    for candidate in candidates:
        text, source = candidate.text, texts[candidate.source]
        key = (candidate.source, near_copy_key(text))  # the same text is kept once for each source
        reason = reason_of(text, source, near_copy=near_copy, held_out=held_out)
        if reason is None and key in kept:
            reason = Reason.WRITTEN
        elif reason is None:
            kept[key] = len(kept) + 1  # numbers of kept candidates, over all sources
        judged.append(
            JudgedCandidate(
                candidate,
                kept.get(key),
                str(reason or ""),
                numbers_differ(text, source),
                names_differ(text, source),
            )
        )
    return judged
