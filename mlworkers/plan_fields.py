"""What the plans of all runs have in common. What is wrong with one is told in a sentence that pages and commands word
differently: a page names a setting by the label on its form, a command by the key that one types.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Named:
    """Something in a sentence that a page and a command call by different names: a setting, or a kind of run."""

    name: str

    def __str__(self) -> str:
        return self.name


class SettingError(ValueError):
    """One sentence. Its `words` fill the places of `sentence`; those that are `Named` are settings.

    str() is the sentence for a command, with the names as they are typed; `labelled` is the one for a page.
    """

    def __init__(self, sentence: str, **words: Any) -> None:
        super().__init__(sentence % words)
        self._sentence, self._words = sentence, words

    def labelled(self, labels: Mapping[str, Any]) -> str:
        """The sentence with the label of each setting that has one. labels: by the settings' names."""
        return self._sentence % {place: _labelled(word, labels) for place, word in self._words.items()}


def _labelled(word: Any, labels: Mapping[str, Any]) -> Any:
    return labels.get(word.name, word.name) if isinstance(word, Named) else word
