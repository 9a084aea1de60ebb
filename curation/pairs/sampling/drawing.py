"""From texts and settings to a sample: which strategy draws it, and how far its words overlap.

A sample is of sentences, which it puts together, or of pairs that exist. Whatever a strategy is, sentences of too few
or too many words are left out, and of near copies only the first is used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from curation.pairs.sampling.bands import Report, Vectors, pairs_by_similarity
from curation.pairs.sampling.sample import Sample, Stratum, bins_of, stratified_sample
from curation.pairs.sampling.searching import Window
from curation.pairs.sampling.strategies import (
    Combination,
    pairs_by_labels,
    pairs_by_percentiles,
    pairs_by_score,
    pairs_within_window,
    random_candidates,
    within_lengths,
)
from curation.pairs.sampling.uses import Uses
from curation.pairs.text import near_copy_key
from curation.pairs.word_tables import (
    Integers,
    Reals,
    WordTable,
    dice_of_pairs,
    inverse_document_frequencies,
    shared_weight_of_pairs,
    word_table,
)

Encode = Callable[[Sequence[str]], Vectors]
MOST_PAIRS = 1_000_000
NEEDS_ENCODER = (
    "Similarity needs an encoder, so a worker samples by it: start the run “Sample pairs by similarity” "
    "(semblance run compose_by_similarity)."
)
# With 50 buckets, each then holds twice as many candidates as pairs are asked for in all.
CANDIDATES_EACH = 100  # random candidates for each pair that is asked for
FEWEST_CANDIDATES = 100_000
MOST_CANDIDATES = 5_000_000
SOURCE_MAX_CHARACTERS = 100  # the width of its place in the database


class SamplingError(ValueError):
    """The settings do not hold together, or do not fit what is sampled. The text is one sentence for a person."""


class Strategy(StrEnum):
    """How pairs are chosen. The subsets of the STR paper (appendix A) that did so are named in the guide."""

    OVERLAP = "overlap"  # shared words within a window
    PERCENTILES = "percentiles"  # buckets of equally many candidates, by Dice
    LABELS = "labels"  # one label in common, another in given combinations
    SCORE = "score"  # equally many pairs from each bin of a score
    SIMILARITY = "similarity"  # equally many pairs from each band of an encoder's cosine


OF_SENTENCES = (Strategy.OVERLAP, Strategy.PERCENTILES, Strategy.LABELS)  # without an encoder
WITH_BINS = (Strategy.SCORE, Strategy.SIMILARITY)
BANDS = "0,0.2,0.4,0.6,0.8,1"
OF_PAIRS = (Strategy.OVERLAP, Strategy.PERCENTILES, Strategy.SCORE)


def edges_read(written: str) -> list[float]:
    """The edges of bins, as `0,1,2,3,4,5`. Raises SamplingError."""
    try:
        return [float(part) for part in written.split(",") if part.strip()]
    except ValueError as error:
        raise SamplingError(f"“{written[:80]}” are no edges of bins, such as 0,1,2,3,4,5.") from error


def equal_bins(low: float, high: float, *, bins: int = 5) -> list[float]:
    """The edges of bins that cut a scale into equal parts."""
    edges: list[float] = np.linspace(low, high, bins + 1).tolist()
    return edges


def combinations_read(written: str) -> list[Combination]:
    """Combinations of a label, as `for-for, for-against`. Raises SamplingError."""
    found = []
    for part in filter(None, (part.strip() for part in written.split(","))):
        one, dash, other = (side.strip() for side in part.partition("-"))
        if not dash or not one or not other:
            raise SamplingError(f"“{part}” is not a combination, such as for-against.")
        found.append((one, other))
    return list(dict.fromkeys(found))


def source_of_pair(first: str, second: str) -> str:
    """The sources of a pair's two sentences as one, at most as long as a source may be."""
    return " + ".join(sorted({first, second} - {""}))[:SOURCE_MAX_CHARACTERS]


@dataclass(frozen=True)
class Settings:
    """What a sample is to be. The defaults are those of the STR paper, or its ambiguities decided as the guide says.

    count: pairs; quotas and bins divide it evenly.
    cap: in how many pairs a sentence may be.
    shortest, longest: words of a sentence.
    window: of the strategy overlap.
    buckets, growth, idf: of percentiles; growth above 1 draws more from high overlaps, idf weighs words by how rare
    they are.
    edges: of the bins of a score.
    combinations: of the second label, for the strategy labels.
    """

    strategy: Strategy
    count: int
    seed: int = 1234
    cap: int = 1  # in the STR data 886 sentences are in several pairs, one of them in 12
    shortest: int = 5  # words, as `longest`: appendix A has 5 to 25
    longest: int = 25
    window: Window = field(default_factory=Window)
    buckets: int = 50  # of Goodreads and Formality_pp; ParaNMT_pp has 100
    growth: float = 1.0
    idf: bool = False
    edges: Sequence[float] = ()
    combinations: Sequence[Combination] = ()

    def __post_init__(self) -> None:
        """Raises SamplingError."""
        if not 1 <= self.count <= MOST_PAIRS:
            raise SamplingError(f"Ask for 1 to {MOST_PAIRS:,} pairs, not {self.count:,}.")
        if self.seed < 0:
            raise SamplingError(f"The seed must be a whole number of 0 or more, not {self.seed}.")
        if self.cap < 1:
            raise SamplingError(f"A sentence must be allowed in at least 1 pair, not {self.cap}.")
        if not 0 <= self.shortest <= self.longest:
            raise SamplingError(f"Sentences of {self.shortest} to {self.longest} words: there are none.")
        if self.strategy is Strategy.PERCENTILES and not 1 <= self.buckets <= self.count:
            raise SamplingError(
                f"{self.count:,} pairs cannot come from {self.buckets:,} buckets; use 1 to {self.count:,} buckets."
            )
        if not 0 < self.growth <= 10:
            raise SamplingError(f"The growth must be above 0 and at most 10, not {self.growth:g}.")
        if self.strategy is Strategy.LABELS and not self.combinations:
            raise SamplingError(
                "Say which combinations of labels the pairs should have, as for-for,for-against."
            )
        if self.strategy in WITH_BINS:
            _check_bins(self.edges, of_cosines=self.strategy is Strategy.SIMILARITY)


def _check_bins(edges: Sequence[float], *, of_cosines: bool) -> None:
    if len(edges) < 2 or not np.isfinite(edges).all():
        example = (
            f"bands of similarity begin and end, as {BANDS}"
            if of_cosines
            else "bins of the score begin and end, as 0,1,2,3,4,5"
        )
        raise SamplingError(f"Say where the {example}.")
    if of_cosines and not -1 <= min(edges) <= max(edges) <= 1:
        raise SamplingError("Bands of similarity are from -1 to 1.")
    try:
        bins_of(np.zeros(0), edges)
    except ValueError as error:
        raise SamplingError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error


@dataclass(frozen=True)
class Drawn:
    """A sample of n texts.

    sample: its `pairs` are (k, 2) places of texts.
    dice: (k,) of each pair's distinct words.
    usable: texts that could be drawn.
    short, long, copies: texts that were left out, by reason.
    candidates: Dice of random pairs of usable sentences, or of all pairs that could be drawn, with which the sample's
    can be compared.
    places: of a sample of pairs, where each is among those given, (k,); None otherwise.
    """

    sample: Sample
    dice: Reals
    usable: int
    short: int
    long: int
    copies: int
    candidates: Reals
    places: Integers | None = None


def drawn_from_sentences(
    texts: Sequence[str],
    settings: Settings,
    *,
    labels: Sequence[tuple[str, str]] = (),
    synonyms: Mapping[str, str] | None = None,
    taken: Iterable[tuple[int, int]] = (),
    vectors: Encode | None = None,
    report: Report | None = None,
) -> Drawn:
    """Put n texts together to pairs.

    labels: of each text, the one that a pair must share and the one whose combination counts, for the strategy labels.
    synonyms: which word stands for a word where overlaps are counted; the Dice that is returned is of the words as
    they are. taken: pairs of places that exist already and are not drawn.
    vectors: for the strategy similarity, gives texts their vectors of length 1. report counts sentences.
    Raises SamplingError.
    """
    if settings.strategy is Strategy.SIMILARITY and vectors is None:
        raise SamplingError(NEEDS_ENCODER)
    if settings.strategy is Strategy.SCORE:
        raise SamplingError("Bins of a score need pairs that have scores, not single sentences.")
    plain = word_table(texts)
    table = plain if synonyms is None else word_table(texts, synonyms=synonyms)
    kept, left_out = _usable(texts, plain, settings)
    place_of = {int(place): number for number, place in enumerate(kept)}
    uses = Uses(
        len(kept),
        cap=settings.cap,
        taken=((place_of[a], place_of[b]) for a, b in taken if a in place_of and b in place_of),
    )
    # Percentiles come from random pairs: all n (n - 1) / 2 of a million sentences are 5e11.
    own = table.taken(kept)
    # At most 5 million pairs of two numbers: 80 MB.
    asked = min(max(CANDIDATES_EACH * settings.count, FEWEST_CANDIDATES), MOST_CANDIDATES)
    candidates = random_candidates(len(kept), pairs=asked, seed=settings.seed)
    if settings.strategy is Strategy.OVERLAP:
        sample = pairs_within_window(
            own, pairs=settings.count, window=settings.window, uses=uses, seed=settings.seed
        )
    elif settings.strategy is Strategy.PERCENTILES:
        values = _dice(own, candidates[:, 0], candidates[:, 1], idf=settings.idf)
        sample = _by_percentiles_of(candidates, values, settings, uses)
    elif vectors is not None:
        sample = _by_similarity([texts[place] for place in kept.tolist()], vectors, settings, uses, report)
    else:
        sample = _by_labels([labels[place] for place in kept.tolist()] if labels else [], settings, uses)
    # The first random pairs are a random sample of them, enough for a histogram.
    shown = candidates[:FEWEST_CANDIDATES]
    of_kept = plain.taken(kept)
    return Drawn(
        Sample(kept[sample.pairs], sample.strata),
        dice_of_pairs(of_kept, sample.pairs[:, 0], sample.pairs[:, 1]),
        len(kept),
        *left_out,
        candidates=dice_of_pairs(of_kept, shown[:, 0], shown[:, 1]),
    )


def drawn_from_pairs(
    first: Sequence[str],
    second: Sequence[str],
    settings: Settings,
    *,
    scores: Reals | None = None,
    synonyms: Mapping[str, str] | None = None,
) -> Drawn:
    """Choose among n pairs that exist. scores: (n,), NaN for none, which the strategy score needs.

    The texts of a Drawn are all first sentences, then all second ones. Raises SamplingError.
    """
    if settings.strategy not in OF_PAIRS:
        raise SamplingError("Combinations of labels are sampled from single sentences, not from pairs.")
    number = len(first)
    texts = [*first, *second]
    plain = word_table(texts)
    table = plain if synonyms is None else word_table(texts, synonyms=synonyms)
    fit = np.zeros(2 * number, dtype=bool)
    fit[within_lengths(plain, shortest=settings.shortest, longest=settings.longest)] = True
    # Text i of the first and text number + i of the second sentences are pair i.
    left, right = np.arange(number), np.arange(number, 2 * number)
    keys = [near_copy_key(text) for text in texts]
    alike = np.array([keys[place] == keys[place + number] for place in range(number)], dtype=bool)
    possible = np.flatnonzero(fit[left] & fit[right] & ~alike)  # (p,) pairs that may be drawn
    # A sentence is capped wherever it stands, so near copies have one number.
    numbers = (
        np.unique(np.array(keys, dtype=object), return_inverse=True)[1] if number else np.zeros(0, np.int64)
    )
    # (p, 2) numbers of sentences, near copies alike.
    either = np.stack([numbers[left], numbers[right]], axis=1)[possible]
    uses = Uses(int(numbers.max(initial=-1)) + 1, cap=settings.cap)
    of_pairs = possible, possible + number
    if settings.strategy is Strategy.SCORE:
        if scores is None or not np.isfinite(scores[possible]).any():
            raise SamplingError("No pair has a score, and bins of a score need some.")
        # Below the lowest edge, a pair without a score is in no bin.
        known = np.where(np.isfinite(scores[possible]), scores[possible], settings.edges[0] - 1)
        sample = pairs_by_score(
            either, known, edges=settings.edges, pairs=settings.count, uses=uses, seed=settings.seed
        )
    elif settings.strategy is Strategy.PERCENTILES:
        sample = _by_percentiles_of(either, _dice(table, *of_pairs, idf=settings.idf), settings, uses)
    else:
        sample = _within_window(table, either, of_pairs, settings, uses)
    chosen = np.zeros(0, dtype=np.int64) if sample.places is None else possible[sample.places]
    lengths = plain.lengths
    short = (lengths[left] < settings.shortest) | (lengths[right] < settings.shortest)
    long = ~short & ((lengths[left] > settings.longest) | (lengths[right] > settings.longest))
    return Drawn(
        Sample(np.stack([chosen, chosen + number], axis=1), sample.strata),
        dice_of_pairs(plain, chosen, chosen + number),
        len(possible),
        int(short.sum()),
        int(long.sum()),
        int((alike & ~short & ~long).sum()),
        candidates=dice_of_pairs(plain, *of_pairs),
        places=chosen,
    )


def _usable(
    texts: Sequence[str], table: WordTable, settings: Settings
) -> tuple[Integers, tuple[int, int, int]]:
    """The places of the texts that may be drawn, and how many are too short, too long, and near copies."""
    fit = within_lengths(table, shortest=settings.shortest, longest=settings.longest)
    first: dict[str, int] = {}
    for place in fit.tolist():
        first.setdefault(near_copy_key(texts[place]), place)
    kept = np.array(list(first.values()), dtype=np.int64)
    # Reasons are exclusive: short, else long, else a near copy of an earlier text.
    short = int((table.lengths < settings.shortest).sum())
    return kept, (short, len(texts) - short - len(fit), len(fit) - len(kept))


def _dice(table: WordTable, left: Integers, right: Integers, *, idf: bool) -> Reals:
    # Dice = 2 w(A and B) / (w(A) + w(B)); w counts words, or sums ln(n / sentences with the word).
    return dice_of_pairs(table, left, right, weights=inverse_document_frequencies(table) if idf else None)


def _by_percentiles_of(candidates: Integers, values: Reals, settings: Settings, uses: Uses) -> Sample:
    if not len(candidates):
        return Sample(
            candidates.reshape(-1, 2), [Stratum("all", settings.count, 0, 0)], np.zeros(0, dtype=np.int64)
        )
    return pairs_by_percentiles(
        candidates,
        values,
        pairs=settings.count,
        buckets=settings.buckets,
        growth=settings.growth,
        uses=uses,
        seed=settings.seed,
    )


def _by_labels(labels: Sequence[tuple[str, str]], settings: Settings, uses: Uses) -> Sample:
    known = {other for shared, other in labels if shared and other}
    for combination in settings.combinations:
        for label in combination:
            if label not in known:
                named = ", ".join(f"“{one}”" for one in sorted(known)[:10]) or "none"
                raise SamplingError(
                    f"No sentence of {settings.shortest} to {settings.longest} words has the label “{label}”; there "
                    f"are {named}."
                )
    # The first `more` combinations get one pair more.
    each, more = divmod(settings.count, len(settings.combinations))
    quotas = {combination: each + (number < more) for number, combination in enumerate(settings.combinations)}
    shared, crossed = zip(*labels, strict=True)  # (n,) targets, (n,) stances
    return pairs_by_labels(shared, crossed, quotas=quotas, uses=uses, seed=settings.seed)


def _by_similarity(
    texts: Sequence[str], vectors: Encode, settings: Settings, uses: Uses, report: Report | None
) -> Sample:
    if not texts:
        return Sample(np.zeros((0, 2), dtype=np.int64), [Stratum("all", settings.count, 0, 0)])
    # Equal quotas: what is left of count / bands is not drawn.
    per_band = settings.count // (len(settings.edges) - 1)
    found = vectors(texts)
    return pairs_by_similarity(
        found, edges=settings.edges, per_band=per_band, uses=uses, seed=settings.seed, report=report
    )


def _within_window(
    table: WordTable,
    candidates: Integers,
    of_pairs: tuple[Integers, Integers],
    settings: Settings,
    uses: Uses,
) -> Sample:
    """The paper's Wiki_pp: existing pairs within the window, at random."""
    left, right = of_pairs
    # |A and B|, of distinct words (p,).
    shared = shared_weight_of_pairs(table, left, right, np.ones(table.vocabulary)).astype(np.int64)
    fits = settings.window.fits(
        shared, (table.distinct[left], table.distinct[right]), (table.lengths[left], table.lengths[right])
    )
    window = settings.window
    # One stratum of all pairs within the window: a uniform random choice of them.
    return stratified_sample(
        candidates,
        np.where(fits, 0, -1),
        names=[f"overlap from {window.low:g} to below {window.high:g}"],
        weights=[1.0],
        total=settings.count,
        uses=uses,
        seed=settings.seed,
    )
