"""How well paraphrases meet the tags that were asked for: figures with intervals (our methods).

The paper shows heatmaps alone. Chance is one cell of all, 1/48 with the paper's bounds. All paraphrases of a source
sentence are connected: intervals are percentiles over resampled sources, each with all its paraphrases.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from curation.results.estimates import Estimate
from curation.statistics.correlation import spearman
from curation.statistics.intervals import resampled_correlations, resampled_sums
from mlworkers.science.paraphrasing.estimates import resampled_estimate, wilson
from mlworkers.science.paraphrasing.measured import Measured, miss, tags_named
from mlworkers.science.paraphrasing.paraphraser import Target
from mlworkers.science.paraphrasing.tags import TagBounds

Marks = NDArray[np.bool_]
Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
_FEWEST_CORRELATED = 3
# The columns of `_sums`.
_ALL, _HITS, _NEAR, _OTHER_HITS, _KNOWN, _SIM_ERROR, _BLEU_ERROR, _SIM, _BLEU = range(9)


class Aim(NamedTuple):
    """Which paraphrases figures are of: those asked for a tag of similarity, for one of BLEU, or both; "" for any."""

    similarity: str = ""
    lexical: str = ""

    def takes(self, target: Target) -> bool:
        return all(own in ("", asked) for own, asked in zip(self, target, strict=True))


@dataclass(frozen=True)
class AimFigures:
    """How well n paraphrases reach the bins that were asked for.

    hits: both labels lie in these bins.
    near: each label lies in its bin or in one beside it.
    similarity_error, bleu_error: mean distance to the middle of the bin, on the scale of 0 to 100.
    spearman_similarity, spearman_bleu: the correlation of what was asked for (the middle of a bin) and what was
    measured; without a value where one bin was asked for.
    gain: hits less the hits of the likeliest paraphrases.
    times: hits as a multiple of those; both without a value where there are no others.
    """

    aim: Aim
    n: int
    hits: Estimate
    near: Estimate
    similarity_error: Estimate
    bleu_error: Estimate
    mean_similarity: Estimate
    mean_bleu: Estimate
    spearman_similarity: Estimate
    spearman_bleu: Estimate
    gain: Estimate
    times: Estimate


@dataclass(frozen=True)
class Controllability:
    """whole: of all paraphrases. rows: of each tag of similarity and of each tag of BLEU, where both sides have
    several, and of each pair of tags.
    """

    chance: float
    whole: AimFigures
    rows: Sequence[AimFigures]


class _Columns(NamedTuple):
    """Of n paraphrases. labels, middles: similarity and BLEU, measured and asked for, (n, 2); NaN without labels.
    known: whether there are labels. other: hits of the likeliest paraphrases; None where there are no others.
    """

    hit: Marks
    near: Marks
    labels: Reals
    middles: Reals
    known: Marks
    other: Marks | None


def controllability(
    targets: Sequence[Target],
    sources: Sequence[int],
    measured: Measured,
    bounds: TagBounds,
    *,
    likeliest: Measured | None = None,
    resamples: int = 1000,
    seed: int = 0,
    report: Report = silent,
) -> Controllability:
    """Figures of n paraphrases: their tags, the number of their source (n,), and their labels.

    A paraphrase without labels (NaN) misses. likeliest: the labels of what would have been written without reranking,
    in the same order. resamples: 0 for no intervals. report counts rows of the result. Raises ValueError for none.
    """
    if not targets:
        raise ValueError("There are no paraphrases to measure.")
    groups = np.unique(np.asarray(sources), return_inverse=True)[1].astype(np.int64)

    named = tags_named(bounds)
    # (n, 2), similarity and BLEU: the middles of the bins that were asked for, then the labels.
    middles = np.array(
        [[(tag.low + tag.high) / 2 for tag in (named[one.similarity], named[one.lexical])] for one in targets]
    )
    labels = np.column_stack([measured.similarity, measured.bleu])
    found = bounds.bins(measured.similarity, measured.bleu)
    near = np.ones(len(targets), dtype=bool)  # (n,): both labels in the bin asked for or one beside it
    for side, (tags, places) in enumerate(zip((bounds.similarity, bounds.lexical), found, strict=True)):
        number = {tag.name: place for place, tag in enumerate(tags)}
        asked = np.array([number[target[side]] for target in targets])
        # OUTSIDE is -1 and would pass for a neighbour of bin 0; the first condition excludes it.
        near &= (places >= 0) & (np.abs(places - asked) <= 1)
    columns = _Columns(
        hit_marks(targets, measured, bounds),
        near,
        labels,
        middles,
        np.asarray(~np.isnan(labels).any(axis=1)),
        None if likeliest is None else hit_marks(targets, likeliest, bounds),
    )

    aims = [Aim(), *_aims(targets)]
    own = [np.array([aim.takes(target) for target in targets]) for aim in aims]  # aims × (n,)
    # (sources, aims × columns). All but correlations are ratios of these; one draw of sources serves them all.
    sums = np.concatenate([_sums(columns, marks, groups) for marks in own], axis=1)
    drawn = (
        resampled_sums(sums, seed=seed, resamples=resamples) if resamples else np.empty((0, sums.shape[1]))
    )
    width = sums.shape[1] // len(aims)  # 9 columns
    figures = []
    for place, (aim, marks) in enumerate(zip(aims, own, strict=True)):
        block = slice(place * width, (place + 1) * width)
        correlated = (
            _correlated(columns, marks, groups, 0, resamples=resamples, seed=seed),
            _correlated(columns, marks, groups, 1, resamples=resamples, seed=seed),
        )
        figures.append(_figures(aim, sums[:, block], drawn[:, block], correlated, columns.other is not None))
        report(place + 1, len(aims), "Estimating intervals")
    return Controllability(1 / bounds.cells, figures[0], figures[1:])  # chance: each cell alike


def hit_marks(targets: Sequence[Target], measured: Measured, bounds: TagBounds) -> Marks:
    """Whether both labels lie in the bins that were asked for, (n,)."""
    named = tags_named(bounds)
    return np.array(
        [
            # NaN misses by 1e9.
            miss(named[target.similarity], similarity) == 0 and miss(named[target.lexical], bleu) == 0
            for target, similarity, bleu in zip(
                targets, measured.similarity.tolist(), measured.bleu.tolist(), strict=True
            )
        ]
    )


def _aims(targets: Sequence[Target]) -> Iterator[Aim]:
    """A tag of one side is listed where paraphrases were asked for with several of the other: else it says nothing that
    its pair of tags does not.
    """
    pairs = list(dict.fromkeys(targets))
    similarity, lexical = (list(dict.fromkeys(tags)) for tags in zip(*pairs, strict=True))
    if len(similarity) > 1 and len(lexical) > 1:
        yield from (Aim(similarity=name) for name in similarity)
        yield from (Aim(lexical=name) for name in lexical)
    yield from (Aim(*pair) for pair in pairs)


def _sums(columns: _Columns, own: Marks, groups: Integers) -> Reals:
    """For each source, over its paraphrases among those marked: how many there are, hits, near ones, hits of the
    likeliest, how many have labels, both errors, and both labels: (sources, 9).
    """
    measured = own & columns.known  # (n,)
    # NaN must become 0 before the sum; the count of known labels, not of paraphrases, divides these columns.
    labels = np.where(measured[:, None], columns.labels, 0.0)
    # (n, 2): |label - middle|.
    errors = np.where(measured[:, None], np.abs(columns.labels - columns.middles), 0.0)
    # Without other hits the own ones fill the column, which is not read then.
    other = columns.hit if columns.other is None else columns.other
    marks = (own, own & columns.hit, own & columns.near, own & other, measured)
    rows = [*marks, *errors.T, *labels.T]
    number = int(groups.max()) + 1  # sources
    return np.stack([np.bincount(groups, weights=row, minlength=number) for row in rows], axis=1)


def _figures(
    aim: Aim, sums: Reals, drawn: Reals, correlated: tuple[Estimate, Estimate], has_other: bool
) -> AimFigures:
    """sums: of `_sums`, (sources, 9); drawn: their totals in each resample, (resamples, 9)."""
    totals = sums.sum(axis=0, keepdims=True)  # (1, 9)

    def ratio(above: Callable[[Reals], Reals], below: int) -> Estimate:
        if not totals[0, below]:
            return Estimate(None)
        # The ratio of the totals, and that of each resample: each resample has its own denominator.
        # (1,), (resamples,).
        value, resampled = (_divided(above(each), each[:, below]) for each in (totals, drawn))
        return resampled_estimate(float(value[0]), resampled) if len(drawn) else Estimate(float(value[0]))

    def mean(column: int, of: int) -> Estimate:
        return ratio(lambda each: each[:, column], of)

    def share(column: int) -> Estimate:
        # Where all or none are marked every resample is the same, and would make them seem certain.
        if totals[0, column] in (0, totals[0, _ALL]) and len(drawn):
            # n: sources, not paraphrases.
            return wilson(float(totals[0, column] / totals[0, _ALL]), int((sums[:, _ALL] > 0).sum()))
        return mean(column, _ALL)

    return AimFigures(
        aim=aim,
        n=int(totals[0, _ALL]),
        hits=share(_HITS),
        near=share(_NEAR),
        similarity_error=mean(_SIM_ERROR, _KNOWN),
        bleu_error=mean(_BLEU_ERROR, _KNOWN),
        mean_similarity=mean(_SIM, _KNOWN),
        mean_bleu=mean(_BLEU, _KNOWN),
        spearman_similarity=correlated[0],
        spearman_bleu=correlated[1],
        # Hits / n - other hits / n.
        gain=ratio(lambda each: each[:, _HITS] - each[:, _OTHER_HITS], _ALL) if has_other else Estimate(None),
        times=mean(_HITS, _OTHER_HITS) if has_other else Estimate(None),  # hits / other hits
    )


def _divided(above: Reals, below: Reals) -> Reals:
    """NaN where nothing is below."""
    # The inner choice keeps 0 / 0 from being computed: `where` evaluates both sides.
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)


def _correlated(
    columns: _Columns, own: Marks, groups: Integers, side: int, *, resamples: int, seed: int
) -> Estimate:
    """Spearman's correlation of the middles that were asked for and the labels, of one side."""
    rows = own & columns.known
    asked, found = columns.middles[rows, side], columns.labels[rows, side]
    if asked.size < _FEWEST_CORRELATED:
        return Estimate(None)
    value = spearman(asked, found)  # None where a side is constant, as for one bin
    if value is None or not resamples:
        return Estimate(value)
    # Sources without a paraphrase of this aim leave gaps; the resampling needs groups from 0 without gaps.
    together = np.unique(groups[rows], return_inverse=True)[1].astype(np.int64)
    drawn = resampled_correlations(asked, found, seed=seed, resamples=resamples, groups=together)
    return resampled_estimate(value, drawn)
