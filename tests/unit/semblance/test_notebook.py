"""The short names for notebooks give what the modules behind them give."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from semblance.notebook import encoders_compare, judgements_read, split_half_reliability


def test_judgements_of_a_file_have_a_reliability(tmp_path) -> None:
    rows = ["annotator,a,b,c,d,best,worst"]
    for person in range(4):
        for start in range(8):
            items = [f"i{(start + step) % 8}" for step in (0, 1, 3, 6)]
            best, worst = max(items), min(items)
            rows.append(",".join([f"p{person}", *items, best, worst]))
    (tmp_path / "answers.csv").write_text("\n".join(rows) + "\n")

    judgements = judgements_read(tmp_path / "answers.csv")

    assert (len(judgements), judgements.item_count) == (32, 8)
    assert split_half_reliability(judgements).spearman_mean > 0.9


def test_two_encoders_are_compared_on_the_same_pairs() -> None:
    rng = np.random.default_rng(3)
    human = rng.uniform(size=200)
    near, far = human + rng.normal(scale=0.1, size=200), human + rng.normal(scale=0.5, size=200)

    found = encoders_compare(near, far, human)

    expected = spearmanr(near, human).statistic - spearmanr(far, human).statistic
    assert found.value == pytest.approx(expected)
    assert 0 < found.low < found.value < found.high


def test_cosines_of_other_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="2 predicted and 3 human scores"):
        encoders_compare([0.1, 0.2, 0.3], [0.1, 0.2], [1, 2, 3])
