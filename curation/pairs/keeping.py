"""What share of machine-written sentences people would keep, from the verdicts so far and each sentence's p_D."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z_95 = 1.959963984540054  # the normal distribution's 97.5 % point: an interval of 95 %


@dataclass(frozen=True)
class KeptShare:
    """How many sentences were kept, and the 95 % interval of the share (Wilson 1927).

    kept, n: `kept` of `n` sentences.
    low, high: the ends of the interval, 0..1; 0 and 1 without sentences.
    """

    kept: int
    n: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        return self.kept / self.n if self.n else None

    @property
    def percents(self) -> tuple[int, int, int]:
        """The share and its bounds in whole hundredths; without sentences the share is 0."""
        return round(100 * (self.share or 0)), round(100 * self.low), round(100 * self.high)


@dataclass(frozen=True)
class KeptShareAbove:
    """The share kept among the sentences judged whose p_D is `at_least` so much."""

    at_least: float
    kept: KeptShare


def kept_share(kept: int, n: int) -> KeptShare:
    """The share with its interval. Raises ValueError where more were kept than there are."""
    if not 0 <= kept <= n:
        raise ValueError(f"{kept} kept of {n} sentences cannot be.")
    low, high = wilson_interval(kept, n)
    return KeptShare(kept, n, low, high)


def wilson_interval(right: float, n: float, z: float = Z_95) -> tuple[float, float]:
    """Bounds of a share by the score test, which hold for few trials and for shares near 0 and 1 (Wilson 1927).

    right of n trials; no whole numbers where n is the effective number of weighted trials.
    """
    if n == 0:
        return 0.0, 1.0
    share, square = right / n, z * z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = z / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def kept_from(verdicts: Sequence[tuple[float, bool]], at_least: float) -> KeptShareAbove:
    """verdicts: p_D and whether the sentence was kept as it stood."""
    above = [kept for p_d, kept in verdicts if p_d >= at_least]
    return KeptShareAbove(at_least, kept_share(sum(above), len(above)))


def kept_by_p_d(verdicts: Sequence[tuple[float, bool]], steps: int = 4) -> list[KeptShareAbove]:
    """The share kept from each of so many values of p_D upwards, which cut the sentences judged into equal parts.

    The first holds them all. Values that are equal stand once.
    """
    values = sorted(p_d for p_d, _kept in verdicts)
    cuts = sorted({values[len(values) * step // steps] for step in range(steps)}) if values else []
    return [kept_from(verdicts, cut) for cut in cuts]
