"""What a measurement of realism accepts."""

import pytest

from mlworkers.plans.settings import plan_read
from mlworkers.science.realism.plan import RealismPlan


def test_a_batch_has_one_sentence_or_more() -> None:
    chosen = {"dataset": "sts", "run": 1, "classifier": "fine-tuned"}

    assert plan_read(RealismPlan, "realism", chosen | {"batch_size": 1}).batch_size == 1
    with pytest.raises(ValueError, match="at least 1"):
        plan_read(RealismPlan, "realism", chosen | {"batch_size": 0})
