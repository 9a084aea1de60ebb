"""Counting: what is known of an item from how often it was best and worst, and how certain that is."""

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed, tallied, tuple_numbers


def counts(judgements: Judgements) -> tuple[IntArray, IntArray, IntArray]:
    """Count the appearances of each item (m,), and how often it was best and worst."""
    appearances, best, worst = (
        tallied(numbers, judgements.item_count)
        for numbers in (judgements.items, judgements.best, judgements.worst)
    )
    return appearances, best, worst


def counting_errors(appearances: IntArray, best: IntArray, worst: IntArray) -> FloatArray:
    """Standard errors (m,) of signed counting scores from independent judgements; NaN for an item without any.

    An appearance is worth 1, 0 or -1. Each of the three is counted once more than it was seen (Laplace): an item that
    was best in all of its eight appearances is not therefore known without error.
    """
    seen = appearances + 3  # n + 3: three outcomes, each seen once more
    mean = (best - worst) / seen
    variance = (best + worst + 2) / seen - mean**2  # E[x^2] - E[x]^2
    # SE = sqrt(Var(x) / n), by the n judgements that there are and not by n + 3.
    errors = np.sqrt(variance / np.maximum(appearances, 1))
    return np.where(appearances > 0, errors, np.nan)


def design_effects(judgements: Judgements) -> FloatArray:
    """By what the variance of each counting score (m,) exceeds that from independent judgements (Kish 1965).

    Judgements of one tuple share which items met. With x the outcomes -1, 0, 1 of an item and r their intraclass
    correlation within tuples, the mean of n_1, n_2 ... outcomes in different tuples has 1 + (s - 1) r times the
    variance, where s = sum n^2 / sum n. r is one number for all items, from a one-way analysis of variance with tuples
    within items (Donner 1986), at least 0. It is 0 if no item is in two tuples or no tuple was judged twice.
    """
    m, tuples = judgements.item_count, tuple_numbers(judgements.items)
    row, position = np.nonzero(judgements.items >= 0)
    ordered = ~judgements.ties
    width = int(tuples.max(initial=0)) + 1
    # One cell for each item of each tuple: its outcomes, their sum and the sum of their squares.
    cells, cell = np.unique(judgements.items[row, position] * width + tuples[row], return_inverse=True)
    best, worst = (
        np.bincount(np.searchsorted(cells, chosen[ordered] * width + tuples[ordered]), minlength=len(cells))
        for chosen in (judgements.best, judgements.worst)
    )
    # Of each cell: its number of outcomes, the sum of x, the sum of x^2 (x is -1, 0 or 1).
    number, total, squares = np.bincount(cell, minlength=len(cells)), best - worst, best + worst
    item = cells // width
    outcomes = summed(item, number, m)  # N (m,): appearances of each item
    size = summed(item, number**2, m) / np.maximum(outcomes, 1)  # s (m,)
    seen = outcomes > 0
    # Sums of squares: of cells, sum of T^2 / n; of items, sum of T^2 / N; of outcomes, sum of x^2.
    of_cells = float((total**2 / number).sum())
    of_items = float((summed(item, total, m)[seen] ** 2 / outcomes[seen]).sum())
    # Degrees of freedom: cells less items between them, outcomes less cells within them.
    free_between, free_within = len(cells) - int(seen.sum()), int(number.sum()) - len(cells)
    if free_between == 0 or free_within == 0:
        return np.ones(m)
    # Mean squares: MSB = (of_cells - of_items) / df, MSW = (sum of x^2 - of_cells) / df.
    between, within = (of_cells - of_items) / free_between, (float(squares.sum()) - of_cells) / free_within
    typical = float(number.sum() - size.sum()) / free_between  # outcomes of a cell, n_0 of the analysis
    # r = (MSB - MSW) / (MSB + (n_0 - 1) MSW).
    spread = between + (typical - 1) * within
    correlation = min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0
    return np.asarray(1 + (np.maximum(size, 1) - 1) * correlation)
