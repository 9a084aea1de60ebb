"""What two sentences have in common, as numbers for each pair (STR paper, section 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from curation.pairs.overlap import dice
from curation.statistics.correlation import Scores
from mlworkers.science.linguistics.relatedness.annotating import Annotation
from mlworkers.science.linguistics.relatedness.names import ALL, DICE, GROUPS, MAIN, OBJECTS, SUBJECTS
from mlworkers.science.linguistics.relatedness.word_vectors import WordVectors, cosines_of, mean_vectors

FEWEST_PAIRS = 20


@dataclass(frozen=True)
class Feature:
    """values: of n pairs, NaN where a sentence has no such word, or none with a vector, (n,).

    without_vector: pairs whose sentences both have such words, but one of them none with a vector.
    """

    name: str
    values: Scores
    without_vector: int = 0

    @property
    def defined(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.values)

    @property
    def question(self) -> str:
        """The paper's."""
        fixed = {DICE: "Q1", ALL: "Q2", SUBJECTS: "Q4", OBJECTS: "Q4"}
        return fixed.get(self.name, "Q3b" if self.name in GROUPS else "Q3a")


def pair_features(
    first: Sequence[str],
    second: Sequence[str],
    annotation: Annotation,
    places: tuple[NDArray[np.int64], NDArray[np.int64]],
    vectors: WordVectors | None,
    *,
    least_share: float,
    report: Report = silent,
) -> list[Feature]:
    """The features of n pairs: Dice, and cosines of mean word vectors where there are vectors.

    annotation: of the distinct sentences, among which `places` says where those of each pair are, (n,) twice. Parts of
    speech that both sentences have in at most `least_share` of the pairs are left out, and so is every feature of fewer
    than 20 pairs.
    """
    overlap = [dice(one, other) for one, other in zip(first, second, strict=True)]
    features = [Feature(DICE, np.array(overlap))]
    if vectors is None:
        return features
    names = list(_in_order(annotation))
    for number, name in enumerate(names):
        report(number, len(names), "Averaging word vectors")
        words = annotation.words[name]
        has = np.array([bool(each) for each in words], dtype=bool)
        both = has[places[0]] & has[places[1]]
        rare = name not in MAIN and both.sum() <= least_share * len(first)
        if rare or both.sum() < FEWEST_PAIRS:
            continue
        cosines = cosines_of(mean_vectors(vectors, words), *places)
        if np.count_nonzero(~np.isnan(cosines)) >= FEWEST_PAIRS:
            features.append(Feature(name, cosines, int((both & np.isnan(cosines)).sum())))
    return features


def _in_order(annotation: Annotation) -> Iterator[str]:
    """As the paper's table: all words, parts of speech, groups, subjects and objects."""
    last = (*GROUPS, SUBJECTS, OBJECTS)
    yield ALL
    yield from sorted(name for name in annotation.words if name not in (ALL, *last))
    yield from (name for name in last if name in annotation.words)
