"""JSON from outside: whatever is wrong with it is a ValueError with a reason."""

import pytest

from curation.files.json_text import json_from
from mlworkers.science.synthesis.prompts import TaskError, task_named

DEEP = '{"a":' * 200_000


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 200_000, "nested too deeply"),
        (DEEP, "nested too deeply"),
        ("[" * 900 + "]" * 900, "nested too deeply"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested too deeply"),
        ("9" * 5000, "too many digits"),
        ("{", "Expecting"),
        (b"\xff\xfe\xfa", "decode"),
    ],
)
def test_a_text_that_cannot_be_read_is_a_value_error(text, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        json_from(text)


def test_json_is_read() -> None:
    assert json_from('{"a": [1, 2.5, "x"]}') == {"a": [1, 2.5, "x"]}


def test_many_values_beside_each_other_are_not_nested_deeply() -> None:
    assert json_from("[" + ",".join(["{}"] * 500) + "]") == [{}] * 500


def test_a_task_that_is_nested_deeply_is_refused_in_a_sentence() -> None:
    with pytest.raises(TaskError, match="The task's specification is not JSON: it is nested too deeply"):
        task_named(DEEP)
