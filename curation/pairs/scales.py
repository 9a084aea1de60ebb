"""The scales on which people score pairs."""

import math

COMMON_SCALES = ((0.0, 1.0), (-1.0, 1.0), (1.0, 5.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0))


Scale = tuple[float, float]


def scale_checked(low: float, high: float) -> Scale:
    """The scale, if it is one. Raises ValueError where its ends are no numbers or do not rise."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"The scale {low:g} to {high:g} does not rise; give the lowest score first.")
    return low, high


def smallest_common_scale(lowest: float, highest: float) -> Scale | None:
    """The narrowest common scale that holds all scores between these two, or None where none does."""
    holding = [scale for scale in COMMON_SCALES if scale[0] <= lowest and highest <= scale[1]]
    return min(holding, key=lambda scale: scale[1] - scale[0], default=None)
