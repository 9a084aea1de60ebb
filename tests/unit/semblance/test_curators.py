"""What a simulated curator holds against a sentence."""

import pytest

from semblance.demo.machines import reasons_against


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("A nurse is kicking a football in the park at noon.", []),
        ("At noon, two men are kicking a football in the park.", []),
        ("A nurse is kicking a football in the park.", ["grammar"]),
        ("A nurse is kicking in the park in the park in the park at noon.", ["repetition"]),
        ("", ["grammar"]),
    ],
)
def test_a_sentence_that_the_grammar_cannot_write_is_rejected(text, reasons) -> None:
    assert reasons_against(text) == reasons
