"""The scales on which people score pairs."""

import math

COMMON_SCALES = ((0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0))
# Scales of whole numbers that people choose among, taken where the scores reach both ends.
SCALES_OF_WHOLE_NUMBERS = ((0.0, 3.0), (0.0, 4.0), (1.0, 7.0), (1.0, 10.0))


Scale = tuple[float, float]


def scale_checked(low: float, high: float) -> Scale:
    """The scale, if it is one. Raises ValueError where its ends are not numbers or do not rise."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"The scale {low:g} to {high:g} does not rise; give the lowest score first.")
    return low, high


def given_scale_checked(first: float, last: float) -> Scale:
    """The scale of a file, which may fall. Raises ValueError where its ends are not numbers or are the same."""
    if first == last:
        raise ValueError(f"The scale {first:g} to {last:g} has one end only; give two different numbers.")
    scale_checked(min(first, last), max(first, last))
    return first, last


def turned(score: float, low: float, high: float) -> float:
    """The score on the same scale, whose ends change places: 3 on a scale from 3 (most similar) to 1 becomes 1."""
    return round(low + high - score, 12)


def smallest_common_scale(lowest: float, highest: float, *, whole: bool = False) -> Scale | None:
    """The narrowest common scale that holds all scores between these two, or None where none does.

    whole: whether all scores are whole numbers; they may then be a scale of such, which has just these ends.
    """
    if whole and (lowest, highest) in SCALES_OF_WHOLE_NUMBERS:
        return lowest, highest
    holding = [scale for scale in COMMON_SCALES if scale[0] <= lowest and highest <= scale[1]]
    return min(holding, key=lambda scale: scale[1] - scale[0], default=None)
