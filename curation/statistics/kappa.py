"""How far two reviewers agree: Cohen's kappa with its interval."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.pairs.keeping import Z_95

Floats = NDArray[np.float64]


class Kappa(NamedTuple):
    """Cohen's kappa of two reviewers with its 95 % interval, of n sentences, `agreed` of which got one verdict.

    value, low, high: None where both gave the same verdict to all, so that chance alone agrees as well.
    """

    value: float | None
    low: float | None
    high: float | None
    agreed: int
    n: int


def cohen_kappa(first: Sequence[str], second: Sequence[str]) -> Kappa:
    """Cohen's kappa (1960) of two verdicts on each of n sentences, with its 95 % interval.

    The interval is that of the table with one half added to each cell, cut at -1 and 1: without it, few disagreements
    give intervals that are too narrow (docs/experiments/verdict_coverage.py). Raises ValueError where there are not
    as many first as second verdicts.
    """
    if len(first) != len(second):
        raise ValueError(
            f"{len(first)} first and {len(second)} second decisions; give one of each per sentence."
        )
    # `agreed`: the sum of the table's diagonal.
    n, agreed = len(first), sum(one == other for one, other in zip(first, second, strict=True))
    names = sorted({*first, *second})
    if len(names) < 2:
        return Kappa(None, None, None, agreed, n)
    places = {name: place for place, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    # Cell (i, j): the first said i, the second said j.
    np.add.at(table, ([places[one] for one in first], [places[other] for other in second]), 1)
    value, _error = kappa_of_table(table)
    # + 1/2 in each cell keeps the standard error above 0 where nobody disagreed.
    middle, error = kappa_of_table(table + 0.5)
    # Around the kappa of the table with the halves, and widened where needed so that it contains the estimate.
    low, high = np.clip([middle - Z_95 * error, middle + Z_95 * error], -1, 1)
    return Kappa(value, min(value, float(low)), max(value, float(high)), agreed, n)


def kappa_of_table(counts: Floats) -> tuple[float, float]:
    """Kappa of a table of counts (c, c), first verdicts by second ones, and its standard error.

    Standard error: Fleiss, Cohen and Everitt (1969), as in Fleiss, Levin and Paik (2003), section 18.1.
    """
    n = counts.sum()
    table = counts / n  # p_ij (c, c)
    rows, columns = table.sum(axis=1), table.sum(axis=0)  # p_i. and p_.j (c,)
    expected = float(rows @ columns)  # p_e = sum p_i. p_.i
    # kappa = (p_o - p_e) / (1 - p_e), with p_o = sum p_ii.
    value = (float(np.trace(table)) - expected) / (1 - expected)
    # A = sum p_ii (1 - (p_i. + p_.i)(1 - kappa))^2.
    agreeing = np.diag(table) @ (1 - (rows + columns) * (1 - value)) ** 2
    # Of p_ij, i other than j: (p_.i + p_j.)².
    crossed = table * (columns[:, None] + rows[None, :]) ** 2
    # B = (1 - kappa)^2 sum over i != j of p_ij (p_.i + p_j.)^2.
    disagreeing = (1 - value) ** 2 * (crossed.sum() - np.trace(crossed))
    # C = (kappa - p_e (1 - kappa))^2; SE = sqrt((A + B - C) / n) / (1 - p_e).
    variance = agreeing + disagreeing - (value - expected * (1 - value)) ** 2
    return value, float(np.sqrt(max(variance, 0.0) / n) / (1 - expected))
