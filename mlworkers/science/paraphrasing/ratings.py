"""A blind sample of candidates that people rate, and what they rated (ConPGS, section 3.3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from curation.results.estimates import Estimate

LOWEST, HIGHEST = 1, 5
SCALES = ("fluency", "meaning", "wording")


class Rating(NamedTuple):
    """How a person rated a candidate, on each of SCALES from 1 to 5."""

    candidate: int
    setting: str
    values: tuple[int, int, int]


@dataclass(frozen=True)
class SettingRated:
    """candidates: that anybody rated. ratings: of all people. means: on each of SCALES."""

    setting: str
    candidates: int
    ratings: int
    means: tuple[Estimate, ...]

    @property
    def labelled(self) -> list[tuple[str, Estimate]]:
        """Each scale's name and mean; none where nobody rated."""
        return list(zip(SCALES, self.means, strict=False))


def sample_drawn(candidates: Mapping[str, Sequence[int]], *, most: int, seed: int) -> list[tuple[str, int]]:
    """At most so many candidates of each setting, as setting and number, all in random order.

    candidates: of each setting, the numbers of its texts. A text that several settings wrote is drawn for one of them.
    """
    rng = np.random.default_rng([seed, 68])  # the generator of this draw alone
    drawn: dict[int, str] = {}
    for setting, numbers in candidates.items():
        # Sorted first: the draw follows from the numbers, not from the order of the candidates.
        order = [number for number in rng.permutation(sorted(set(numbers))).tolist() if number not in drawn]
        # Numbers that an earlier setting has taken are gone already, so each is drawn once.
        drawn |= dict.fromkeys(order[:most], setting)  # without replacement
    listed = [(setting, number) for number, setting in drawn.items()]
    return [listed[place] for place in rng.permutation(len(listed)).tolist()]


def order_of_person(count: int, *, seed: int, person: int) -> list[int]:
    """The places 0 … count - 1 in the order in which a person sees them."""
    # A stream for each person: what comes late for one comes early for another.
    order: list[int] = np.random.default_rng([seed, 69, person]).permutation(count).tolist()
    return order


def settings_rated(settings: Sequence[str], ratings: Sequence[Rating]) -> list[SettingRated]:
    """The means of each setting, in their order, with Student's interval over candidates.

    The ratings of one candidate by several people are averaged first: they are connected.
    """
    of_setting: dict[str, dict[int, list[tuple[int, int, int]]]] = defaultdict(lambda: defaultdict(list))
    for rating in ratings:
        # Candidates of a setting are the units.
        of_setting[rating.setting][rating.candidate].append(rating.values)
    found = []
    for setting in settings:
        rated = of_setting.get(setting, {})
        values = [np.mean(each, axis=0) for each in rated.values()]  # (3,) each
        means = (
            tuple(_mean(np.array([row[scale] for row in values])) for scale in range(len(SCALES)))
            if rated
            else ()
        )
        found.append(SettingRated(setting, len(rated), sum(map(len, rated.values())), means))
    return found


def _mean(values: NDArray[np.float64]) -> Estimate:
    """Of n candidates, (n,), n at least 1."""
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Estimate(mean)
    # Student's interval: mean ± t_{0.975, n - 1} · s / sqrt(n), cut to the scale.
    half = float(scipy.stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return Estimate(mean, max(float(LOWEST), mean - half), min(float(HIGHEST), mean + half))
