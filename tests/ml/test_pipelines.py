"""The pipelines that workers know."""

import pytest

from mlworkers.pipelines import default, gpu, playground
from mlworkers.plans.kinds import KINDS, QUEUES

MODULES = dict(zip(QUEUES, (default, gpu, playground), strict=True))


@pytest.mark.parametrize("queue", QUEUES)
def test_every_kind_of_run_of_a_queue_has_a_pipeline(queue) -> None:
    assert MODULES[queue].__name__.endswith(queue)
    assert set(MODULES[queue].PIPELINES) == {kind.name for kind in KINDS.values() if kind.queue == queue}
