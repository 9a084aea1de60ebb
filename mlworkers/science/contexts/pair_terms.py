"""What is kept of a scored pair. Needs no torch: pages read it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlworkers.science.contexts.similarity import TERMS, Terms


@dataclass(frozen=True)
class PairContexts:
    """The k contexts of a pair and what a model found in them.

    places: in the corpus, (k,).
    of_second: whether each was found for the second sentence, (k,).
    first, second: the terms of Eq. 3 of the two sentences, (k, 4) each, NaN for a term that no
    model gave.
    background: the mean of the terms of the background sentences, (k, 4).
    refused: why there are none; "" otherwise.
    texts: the contexts themselves where they are from no corpus, (k,).
    """

    places: list[int]
    of_second: list[bool]
    first: Terms
    second: Terms
    background: Terms
    refused: str = ""
    texts: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        terms = {name: getattr(self, name) for name in ("first", "second", "background")}
        return {
            "places": self.places,
            "of_second": self.of_second,
            "refused": self.refused,
            **({"texts": self.texts} if self.texts else {}),
            **{name: [_without_nan(row) for row in rows.tolist()] for name, rows in terms.items()},
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "PairContexts":
        terms = {
            name: np.array(stored[name], dtype=np.float64).reshape(-1, len(TERMS))
            for name in ("first", "second", "background")
        }
        return cls(
            stored["places"],
            stored["of_second"],
            refused=stored["refused"],
            texts=stored.get("texts", []),
            **terms,
        )


def _without_nan(row: list[float]) -> list[float | None]:
    # JSON knows no NaN.
    return [None if value != value else value for value in row]  # noqa: PLR0124 - NaN alone differs from itself
