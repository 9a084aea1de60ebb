"""Figures of how well p_D serves, of sentences and of the generated pairs."""

import pytest

from mlworkers.science.realism.scoring import pair_figures


def test_without_generated_pairs_no_pair_counts_and_nothing_is_correlated() -> None:
    assert pair_figures([], []) == {"spearman_p_target": None, "effective_pairs": 0.0}


def test_pairs_without_a_target_count_and_are_not_correlated() -> None:
    found = pair_figures([0.5, 0.5, 0.5, 0.5], [0.2, None, 0.8, None])

    assert found["spearman_p_target"] is None
    assert found["effective_pairs"] == pytest.approx(4)
