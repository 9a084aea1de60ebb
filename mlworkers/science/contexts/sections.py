"""Triplets from the sections of documents: which of two sentences is of the same section as a third one?

As the set of Wikipedia sections (Dor et al. 2018; Sun et al. 2022, table 5), made from any corpus, such as the chapters
of novels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from curation.pairs.segmenting import word_count
from curation.pairs.text import near_copy_key, words
from curation.statistics.intervals import Interval, percentile_interval
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.sections_plan import SectionsPlan

_HEADING_WORDS = 12  # of a heading, at most
_FEWEST = 2  # sentences of a section, and sections of a document
_TRIES = 20  # for each triplet that is asked for
Triplet = tuple[str, str, str]


class Section(NamedTuple):
    """A section's document, and its sentences that can be in a triplet, as places of the corpus."""

    document: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class SectionTriplets:
    """train, test: triplets of anchor, positive and negative. units: of each test triplet, the number of what it was
    held out with, its document or, of a corpus with one document, the section of its anchor.
    documents: with sections. headed: those of them that have headings. held_out: documents or sections that are tested.
    """

    train: Sequence[Triplet]
    test: Sequence[Triplet]
    units: Sequence[int]
    documents: int
    headed: int
    sections: int
    held_out: int


class Accuracy(NamedTuple):
    """The share of test triplets whose positive is more similar to the anchor, and its 95 % interval over what was
    held out.
    """

    value: float
    interval: Interval | None


def section_triplets(corpus: Corpus, plan: SectionsPlan) -> SectionTriplets:
    """Raises CorpusError where the corpus does not have sections enough to learn from some and test on others."""
    found, headed = _sections(corpus, plan)
    by_document: dict[int, list[Section]] = {}
    for section in found:
        by_document.setdefault(section.document, []).append(section)
    usable = [of for of in by_document.values() if len(of) >= _FEWEST]
    rng = np.random.default_rng(plan.seed)
    if len(usable) > 1:
        # At least one document is tested on and at least one learned from; documents are never divided.
        count = min(max(1, round(plan.test_share * len(usable))), len(usable) - 1)
        order = rng.permutation(len(usable)).tolist()
        train, test = [usable[one] for one in order[count:]], [usable[one] for one in order[:count]]
    elif usable and len(usable[0]) >= 2 * _FEWEST:
        count = min(max(_FEWEST, round(plan.test_share * len(usable[0]))), len(usable[0]) - _FEWEST)
        train, test = [usable[0][:-count]], [usable[0][-count:]]  # one document: its last sections are tested
    else:
        raise CorpusError(
            f"The corpus has {len(found)} sections in {len(by_document)} documents; two documents with two sections "
            "each, or one with four, are needed. Choose shorter sections, or a corpus with longer documents."
        )
    learned = [texts for texts, _unit in _drawn(corpus, train, plan.triplets, rng, by_section=False)]
    # A sentence may be in several documents: a test triplet with a near copy of one that was trained on is dropped.
    trained_on = {near_copy_key(text) for triplet in learned for text in triplet}
    tested = [
        (texts, unit)
        for texts, unit in _drawn(corpus, test, plan.test_triplets, rng, by_section=len(usable) == 1)
        if trained_on.isdisjoint(map(near_copy_key, texts))
    ]
    if not learned or not tested:
        raise CorpusError(
            "No triplet can be drawn: the sections have no two different sentences of the asked number of words. "
            "Change it, or choose another corpus."
        )
    return SectionTriplets(
        learned,
        [texts for texts, _unit in tested],
        [unit for _texts, unit in tested],
        len(usable),
        headed,
        sum(map(len, usable)),
        count,
    )


def _sections(corpus: Corpus, plan: SectionsPlan) -> tuple[list[Section], int]:
    """The sections of all documents, and how many documents have headings."""
    found, headed, first, document = list[Section](), 0, 0, 0
    while first < len(corpus):
        _first, after = corpus.document_bounds(first)
        texts = [corpus.text(place) for place in range(first, after)]
        # Sentences before the first are in no section.
        starts = [number for number, text in enumerate(texts) if _is_heading(text, plan)]
        headed += (has_headings := len(starts) >= _FEWEST)
        if not has_headings:
            # Without headings: blocks of equal length.
            starts = list(range(0, len(texts), plan.section_sentences))
        for start, end in zip(starts, [*starts[1:], len(texts)], strict=True):
            places = tuple(
                first + number
                for number in range(start + has_headings, end)  # the heading itself is left out
                if plan.shortest <= word_count(texts[number]) <= plan.longest
            )
            if len(places) >= _FEWEST:
                found.append(Section(document, places))
        first, document = after, document + 1
    return found, headed


def _is_heading(text: str, plan: SectionsPlan) -> bool:
    told = words(text)
    return 0 < len(told) <= _HEADING_WORDS and told[0].casefold() in plan.heading_words


def _drawn(
    corpus: Corpus,
    documents: Sequence[Sequence[Section]],
    most: int,
    rng: np.random.Generator,
    *,
    by_section: bool,
) -> Iterator[tuple[Triplet, int]]:
    """At most so many triplets, each with its unit; a document in proportion to its sentences."""
    # The weights of the draw, p = size / Σ sizes, are of sections: the sum of a document's is its share of
    # sentences.
    flat = [(of, own) for of in documents for own in of]
    sizes = np.array([len(own.places) for _of, own in flat], dtype=np.float64)  # (sections,)
    drawn, seen = 0, set[Triplet]()
    # With replacement: a section may give several triplets, and `_TRIES` draws for each allow for those
    # passed over.
    for number in rng.choice(len(flat), size=_TRIES * most, p=sizes / sizes.sum()).tolist():
        if drawn == most:
            return
        of, own = flat[number]
        # Of the same document: the harder negative.
        others = [section for section in of if section is not own]
        other = others[int(rng.integers(len(others)))]
        # Anchor and positive are two different sentences of the section, negative one of another section.
        anchor, positive = (
            own.places[one] for one in rng.choice(len(own.places), size=2, replace=False).tolist()
        )
        negative = other.places[int(rng.integers(len(other.places)))]
        places = (anchor, positive, negative)
        texts: Triplet = (corpus.text(anchor), corpus.text(positive), corpus.text(negative))
        if len({int(corpus.near_keys[place]) for place in places}) < len(places) or texts in seen:
            continue
        seen.add(texts)
        drawn += 1
        yield texts, number if by_section else own.document


def accuracy_of(near: ArrayLike, far: ArrayLike, units: ArrayLike, *, resamples: int, seed: int) -> Accuracy:
    """near, far: the cosines of n anchors with their positives and negatives, (n,) each. A tie counts as wrong, as in
    sentence-transformers' TripletEvaluator. units: (n,); triplets of one document are connected, so that documents are
    resampled. No interval over fewer than two.
    """
    # A comparison with NaN is false, so that a triplet without a cosine counts as wrong too.
    right = (np.asarray(near) > np.asarray(far)).astype(np.float64)  # (n,): 0 or 1
    drawn = resampled_shares(right, units, resamples=resamples, seed=seed)
    return Accuracy(float(right.mean()), None if drawn is None else percentile_interval(drawn))


def resampled_shares(right: ArrayLike, units: ArrayLike, *, resamples: int, seed: int) -> np.ndarray | None:
    """The mean of n values in each resample of whole units, (resamples,); None with fewer than two units."""
    values = np.asarray(right, dtype=np.float64)
    _names, place = np.unique(np.asarray(units), return_inverse=True)
    # Each unit is reduced to its sum and its count, because the share of a resample is a ratio of the two
    # totals.
    sums, counts = np.bincount(place, weights=values), np.bincount(place)  # (units,) each
    if len(counts) < _FEWEST:
        return None
    # (resamples, units): the numbers of the drawn units. A resample has as many units as the data, but not
    # always as many triplets, hence the division by its own count.
    drawn = np.random.default_rng([seed, 1]).integers(len(counts), size=(resamples, len(counts)))
    shares: np.ndarray = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return shares
