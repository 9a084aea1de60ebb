"""The pipelines that workers know."""

import pytest

from mlworkers.pipelines import default, gpu
from mlworkers.plans.kinds import KINDS


@pytest.mark.parametrize(("queue", "pipelines"), [("default", default.PIPELINES), ("gpu", gpu.PIPELINES)])
def test_every_kind_of_run_of_a_queue_has_a_pipeline(queue, pipelines) -> None:
    assert set(pipelines) == {kind.name for kind in KINDS.values() if kind.queue == queue}
