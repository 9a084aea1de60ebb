"""A figure with its interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """A figure with the ends of its 95 % interval.

    value, low, high: None where it is undefined or was not asked for.
    n: the number of things that it is a figure of, such as pairs.
    sd: standard deviation over seeds.
    method: how the interval was made, such as "bootstrap".
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    _: KW_ONLY
    n: int | None = None
    sd: float | None = None
    method: str = ""

    def __iter__(self) -> Iterator[float | None]:
        """The value and the ends of its interval."""
        return iter((self.value, self.low, self.high))

    @property
    def differs(self) -> bool:
        """Whether its interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def in_percent(self) -> "Estimate":
        """Of a share."""
        return Estimate(
            *(None if each is None else 100 * each for each in self), n=self.n, method=self.method
        )


def estimate_stored(stored: Mapping[str, Any] | Sequence[float | None] | None) -> Estimate:
    """The estimate behind what `as_stored` wrote. Earlier versions wrote a list, or called `n` “pairs”."""
    if isinstance(stored, Mapping):
        return Estimate(**{"n" if name == "pairs" else name: value for name, value in stored.items()})
    return Estimate(*stored or ())


def as_stored(part: Any, **further: str) -> dict[str, Any]:
    """A dataclass as JSON, its estimates with their values and intervals.

    further: other facts of its estimates that are stored, by what each is called, such as n="pairs".
    """

    def named(items: list[tuple[str, Any]]) -> dict[str, Any]:
        facts = dict(items)
        if list(facts) != [one.name for one in fields(Estimate)]:
            return facts
        names = {"value": "value", "low": "low", "high": "high", **further}
        return {called: facts[name] for name, called in names.items()}

    stored: dict[str, Any] = asdict(part, dict_factory=named)
    return stored
