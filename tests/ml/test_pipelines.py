"""The functions that the kinds of run name."""

import pytest

from mlworkers.plans.kinds import KINDS

NAMED = (
    "pipeline", "work", "amount_in_words", "room", "most_seconds", "next_steps", "seen", "published", "ended",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_function_that_a_kind_names_is_there(kind) -> None:
    names = [name for field in NAMED if (name := getattr(kind, field))]
    if kind.page:
        names += [name for name in (kind.page.report, kind.page.proposed) if name]

    assert kind.pipeline in names
    assert all(callable(kind.function(name)) for name in names)
