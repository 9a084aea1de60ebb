"""Correlations of many pairs of score lists at once, each over the items that count in it."""

import numpy as np
from numpy.typing import NDArray

from annotation.bws.judgements import FloatArray

Mask = NDArray[np.bool_]


def pearson(left: FloatArray, right: FloatArray, counted: Mask) -> FloatArray:
    """Pearson's r (B,) of the rows of left and right (B, m) over counted items; NaN where one is constant."""
    left, right = _centred(left, counted), _centred(right, counted)
    products = np.einsum("bm,bm->b", left, right)
    squares = np.einsum("bm,bm->b", left, left) * np.einsum("bm,bm->b", right, right)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(squares > 0, products / np.sqrt(squares), np.nan)


def spearman(left: FloatArray, right: FloatArray, counted: Mask) -> FloatArray:
    """Spearman's rho of each row (B,), with average ranks for ties; NaN where one list is constant."""
    return pearson(_ranks(left, counted), _ranks(right, counted), counted)


def _centred(values: FloatArray, counted: Mask) -> FloatArray:
    totals = np.where(counted, values, 0.0).sum(axis=1, keepdims=True)
    means = totals / np.maximum(1, counted.sum(axis=1, keepdims=True))
    return np.where(counted, values - means, 0.0)


def _ranks(values: FloatArray, counted: Mask) -> FloatArray:
    """Average ranks within each row (B, m); items that do not count stand behind all others."""
    shown = np.where(counted, values, np.inf)
    order = np.argsort(shown, axis=1)
    ordered = np.take_along_axis(shown, order, axis=1)
    places = np.arange(values.shape[1])
    changes = np.ones(values.shape, dtype=np.bool_)
    changes[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.maximum.accumulate(np.where(changes, places, 0), axis=1)
    last = np.ones(values.shape, dtype=np.bool_)
    last[:, :-1] = changes[:, 1:]
    ends = np.minimum.accumulate(np.where(last, places, values.shape[1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(shown)
    np.put_along_axis(ranks, order, (starts + ends) / 2, axis=1)
    return ranks
