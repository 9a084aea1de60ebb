"""What is written for whom, before anything of it is dropped."""

from dataclasses import dataclass
from typing import NamedTuple


class Source(NamedTuple):
    """A sentence to continue, its number, and that of the group of pairs that are connected with it.

    The number is that of a human sentence's row, or counts the first sentences that the model wrote.
    """

    id: int
    text: str
    group: int


@dataclass(frozen=True)
class WrittenRow:
    """What the model wrote for a source and a label, as it wrote it, in `tokens` tokens.

    Of an endpoint also the tokens of the question, where it counts them, and why the answer ended, such as "length".
    """

    source: int
    label: str
    sample: int
    text: str
    tokens: int
    prompt_tokens: int = 0
    finish: str = ""
