"""Two score sets of a dataset beside each other: how far they agree, and the pairs on which they differ most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.core.cache import cache
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.charts import ACCENT, KEPT_SECONDS, LINE, Chart, chart_draw
from curation.datasets.selectors import ScoreSetRow
from curation.files.heavy import alt
from curation.models import Pair, PairScore, ScoreSet
from curation.pairs.judged_by import judged_by_all
from curation.pairs.sample_order import random_order
from curation.statistics.agreement import Agreement, agreement_of, rank_differences

BINS = 5
LISTED = 1_000  # pairs with the largest differences that the page lists; the file has them all
DRAWN = 1_500  # points of the chart
_TEXTS_AT_ONCE = 2_000
_SEED = 20


class Difference(NamedTuple):
    """A pair's scores, each on its own set's scale. difference: of its ranks, -1..1; see `rank_differences`."""

    pair: int
    first: float
    second: float
    difference: float

    @property
    def percent(self) -> float:
        return 100 * self.difference


@dataclass(frozen=True)
class SetsCompared:
    """agreement: None where fewer than two active pairs have both scores.

    largest: the pairs with the largest differences, the largest first.
    drawn: first and second score of some pairs at random.
    """

    n: int
    agreement: Agreement | None
    largest: Sequence[Difference]
    drawn: Sequence[tuple[float, float]]


class ListedPair(NamedTuple):
    pair: Pair
    scores: Difference


def sets_compared(first: ScoreSetRow, second: ScoreSetRow) -> SetsCompared:
    """Kept until either of the sets changes, as their figures show."""
    key = f"agreement:{first.state}:{second.state}"
    found: SetsCompared | None = cache.get(key)
    if found is None:
        one = first.score_set
        pairs, left, right = scores_of_both(one, second.score_set)
        found = SetsCompared(len(pairs), None, [], [])
        if len(pairs) > 1:
            places = {int(pair): place for place, pair in enumerate(pairs)}
            chosen = [places[pair] for pair in random_order(pairs, most=DRAWN, seed=_SEED)]
            found = SetsCompared(
                n=len(pairs),
                agreement=agreement_of(left, right, low=one.low, high=one.high, bins=BINS),
                largest=differences_ordered(pairs, left, right)[:LISTED],
                drawn=list(zip(left[chosen].tolist(), right[chosen].tolist(), strict=True)),
            )
        cache.set(key, found, KEPT_SECONDS)
    return found


def pairs_listed(differences: Sequence[Difference]) -> list[ListedPair]:
    """The differences with their pairs; one whose pair is gone in the meantime is left out."""
    pairs = Pair.objects.select_related("a", "b").in_bulk([each.pair for each in differences])
    return [ListedPair(pairs[each.pair], each) for each in differences if each.pair in pairs]


def differences_of(first: ScoreSet, second: ScoreSet) -> Iterator[ListedPair]:
    """All active pairs with both scores, the largest difference first."""
    ordered = differences_ordered(*scores_of_both(first, second))
    for start in range(0, len(ordered), _TEXTS_AT_ONCE):
        yield from pairs_listed(ordered[start : start + _TEXTS_AT_ONCE])


def differences_ordered(
    pairs: NDArray[np.int64], left: NDArray[np.float64], right: NDArray[np.float64]
) -> list[Difference]:
    """Of pairs by number and two scores of each, each of shape (n,): the largest difference of ranks first; equal ones
    in the order of the pairs.
    """
    if len(pairs) < 2:
        return []
    differences = rank_differences(left, right)
    order = np.argsort(-np.abs(differences), kind="stable")
    columns = (values[order].tolist() for values in (pairs, left, right, differences))
    return [Difference(*each) for each in zip(*columns, strict=True)]


def scores_of_both(
    first: ScoreSet, second: ScoreSet
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The active pairs that have both scores, ascending, and their scores, each of shape (n,)."""
    (pairs, left), (others, right) = _scores(first), _scores(second)
    shared, in_first, in_second = np.intersect1d(pairs, others, assume_unique=True, return_indices=True)
    return shared, left[in_first], right[in_second]


def _scores(score_set: ScoreSet) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    found = PairScore.objects.filter(score_set=score_set, pair__status=Pair.Status.ACTIVE).order_by()
    rows = np.fromiter(
        found.values_list("pair_id", "value").iterator(chunk_size=_TEXTS_AT_ONCE),
        dtype=np.dtype([("pair", np.int64), ("value", np.float64)]),
    )
    return rows["pair"], rows["value"]


def agreement_chart(first: ScoreSet, second: ScoreSet, compared: SetsCompared) -> Chart | None:
    """A point for each pair, or for some at random where there are many."""
    found = compared.agreement
    if found is None:
        return None
    values = [{"first": one, "second": other} for one, other in compared.drawn]
    points = (
        alt.Chart(alt.InlineData(values=values))
        .mark_circle(color=ACCENT, opacity=0.35, size=22)
        .encode(
            x=alt.X(
                "first:Q",
                title=first.name,
                axis=alt.Axis(tickCount=BINS),
                scale=alt.Scale(domain=[first.low, first.high]),
            ),
            y=alt.Y("second:Q", title=second.name, scale=alt.Scale(domain=[second.low, second.high])),
        )
    )
    ends = [
        {"first": set_end, "second": other_end}
        for set_end, other_end in [(first.low, second.low), (first.high, second.high)]
    ]
    same = alt.Chart(alt.InlineData(values=ends)).mark_line(color=LINE).encode(x="first:Q", y="second:Q")
    finding = _("The scores of “%(first)s” and “%(second)s” have no correlation: one of them is constant.")
    if found.spearman.value is not None:
        finding = _("“%(first)s” and “%(second)s” rank the pairs with Spearman's correlation of %(value).3f.")
    words = {"first": str(first), "second": str(second), "value": found.spearman.value}
    return chart_draw(
        alt.layer(same, points).properties(width=360, height=260),
        name="agreement",
        finding=finding % words,
        n=len(compared.drawn),
        unit=_("pairs") if len(compared.drawn) == compared.n else _("pairs sampled at random"),
        columns=[str(first), str(second)],
        rows=compared.drawn,
        judges=judged_by_all([first.judged_by, second.judged_by]),
    )
