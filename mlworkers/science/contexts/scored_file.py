"""The file of scored pairs: a line for each, which can be read by itself, and what ablations give (Table 9)."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from curation.files.json_text import json_from
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.similarity import (
    ABLATIONS,
    FEWEST_CONTEXTS,
    Weights,
    centred_similarity,
    combined,
    raw_cosine,
)

_LINES, _STARTS, _ABLATIONS = "pairs.jsonl", "starts.json", "ablations.json"


def scored_write(
    folder: Path, scored: Iterable[tuple[int, PairContexts]], weights: Weights, *, same: Collection[int]
) -> None:
    """Write the contexts of pairs, by number, and the similarities of those with enough contexts without some terms.

    same: the numbers of pairs whose sentences have the same words; these are 1.
    """
    starts: dict[int, int] = {}
    ablated: dict[str, dict[str, list[float | None]]] = {
        dropped: {"raw": [], "centred": []} for dropped in ablations_of(weights)
    }
    pairs: list[int] = []
    with (folder / _LINES).open("wb") as file:
        for number, found in scored:
            starts[number] = file.tell()
            file.write(json.dumps(found.as_json(), ensure_ascii=False).encode() + b"\n")
            if len(found.places) < FEWEST_CONTEXTS:
                continue
            pairs.append(number)
            for dropped, columns in ablated.items():
                # Table 9: a dropped term gets λ = 0; the terms are kept, so no model is asked again.
                less = weights.without(*ABLATIONS[dropped])
                # First, second, background, (k,) each.
                rows = [combined(terms, less) for terms in (found.first, found.second, found.background)]
                columns["raw"].append(1.0 if number in same else raw_cosine(rows[0], rows[1]))
                columns["centred"].append(1.0 if number in same else centred_similarity(*rows))
    (folder / _STARTS).write_text(json.dumps(starts), "utf-8")
    (folder / _ABLATIONS).write_text(json.dumps({"pairs": pairs, "without": ablated}), "utf-8")


def ablations_of(weights: Weights) -> list[str]:
    """The ablations that change something, and leave something; the first drops nothing."""
    found = [""]
    for dropped, terms in ABLATIONS.items():
        changes = any(getattr(weights, term) for term in terms)
        if changes and weights.without(*terms).vector.any():
            found.append(dropped)
    return found


def scored_read(folder: Path, number: int) -> PairContexts | None:
    """The contexts of one pair; None where it was not scored."""
    starts: Mapping[str, int] = json_from((folder / _STARTS).read_text("utf-8"))
    if str(number) not in starts:
        return None
    with (folder / _LINES).open("rb") as file:
        file.seek(starts[str(number)])  # of the large file, this line alone is read
        return PairContexts.from_json(json_from(file.readline().decode()))


def ablations_read(
    folder: Path,
) -> tuple[Sequence[int], Mapping[str, Mapping[str, Sequence[float | None]]]]:
    """The numbers of pairs (n,), and by what is dropped both similarities of each, (n,)."""
    stored: dict[str, Any] = json_from((folder / _ABLATIONS).read_text("utf-8"))
    return stored["pairs"], stored["without"]
