"""How many candidates of each setting lie in each cell."""

import numpy as np
import pytest

from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.yields import yields_of

NAN = float("nan")


def test_candidates_are_counted_by_setting_and_cell() -> None:
    # Of the first setting: SIM95 BLEU0_5, SIM70 BLEU40, in no cell, dropped, without a label.
    similarity = np.array([97.0, 71.0, 97.0, NAN, NAN, 96.0])
    bleu = np.array([10.0, 45.0, 45.1, NAN, 3.0, 12.0])
    setting = np.array([0, 0, 0, 0, 0, 1])
    dropped = np.array([False, False, False, True, False, False])

    first, second, third = yields_of(
        ["one", "two", "three"], setting, dropped, np.stack([similarity, bleu]), TagBounds()
    )

    assert (first.written, first.dropped, first.unlabelled, first.inside) == (5, 1, 1, 2)
    assert (first.cells[5, 0], first.cells[0, 7]) == (1, 1)
    assert first.similarity == pytest.approx((97 + 71 + 97) / 3)
    assert (second.written, second.cells[5, 1]) == (1, 1)
    assert (third.written, third.share, third.similarity) == (0, None, None)


def test_the_share_counts_dropped_candidates_and_none_without_labels() -> None:
    [found] = yields_of(
        ["one"],
        np.zeros(10, dtype=np.int64),
        np.array([False] * 6 + [True] * 2 + [False] * 2),
        np.array([[97.0] * 2 + [20.0] * 4 + [NAN] * 4, [5.0] * 6 + [NAN] * 4]),
        TagBounds(),
    )

    # Two of eight; Wilson's interval of 2/8 is .0715 to .5907.
    assert found.known == 8
    assert found.share.value == 0.25
    assert (found.share.low, found.share.high) == pytest.approx((0.0715, 0.5907), abs=1e-4)
