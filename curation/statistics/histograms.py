"""Histograms of scores."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Histogram:
    """How many scores fall between which edges, for each group.

    edges: one more than there are bins, ascending; a bin holds its lower edge, the last one both.
    counts: by group, in order of the groups' names, one number for each bin.
    """

    edges: tuple[float, ...]
    counts: dict[str, tuple[int, ...]]

    @property
    def n(self) -> int:
        return sum(map(sum, self.counts.values()))

    def with_largest(self, most: int, *, other: str) -> "Histogram":
        """The same with at most so many groups, the largest first; the others together come last."""
        by_size = sorted(self.counts, key=lambda group: (-sum(self.counts[group]), group))
        kept = {group: self.counts[group] for group in by_size[:most]}
        rest = [self.counts[group] for group in by_size[most:]]
        if rest:
            together = [kept.pop(other, (0,) * len(rest[0])), *rest]
            kept[other] = tuple(map(sum, zip(*together, strict=True)))
        return Histogram(self.edges, kept)


def bin_edges(low: float, high: float, bins: int) -> tuple[float, ...]:
    """The edges of equally wide bins. Raises ValueError for no bins, or a scale that does not rise."""
    if bins < 1 or not low < high:
        raise ValueError(f"a histogram from {low:g} to {high:g} in {bins} bins is not possible")
    # low + i (high - low) / bins, and `high` itself at the end, since rounding may miss it.
    return (*(low + (high - low) * bin_number / bins for bin_number in range(bins)), high)


def histogram(low: float, high: float, bins: int, counted: Iterable[tuple[str, int, int]]) -> Histogram:
    """counted: group, number of the bin from 0 (beyond the last one counts as the last), how many scores."""
    edges = bin_edges(low, high, bins)
    counts: dict[str, list[int]] = {}
    for group, bin_number, number in counted:
        # floor((x - low) / width) is `bins` for x = high, which belongs to the last bin.
        counts.setdefault(group, [0] * bins)[min(bin_number, bins - 1)] += number
    return Histogram(edges, {group: tuple(counts[group]) for group in sorted(counts)})
