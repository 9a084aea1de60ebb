"""A trained encoder as a folder that sentence-transformers loads by itself, and that says where it comes from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer

from curation.files.json_text import json_from
from curation.pairs.holding_out import HeldOut
from curation.pairs.text import sentence_key
from mlworkers.pretrained.quiet import quiet_transformers

_ABOUT = "semblance.json"
_NEAR_COPY = "near copy"  # how the keys of the sentences that an encoder was trained on were made


@dataclass(frozen=True)
class About:
    """What a reader of the folder should know. plan: every setting. data: dataset, snapshot and its SHA-256 and so on.
    licence: of the dataset, as it was given; "" where it was not.
    """

    base: str
    base_sha256: str
    plan: Mapping[str, Any]
    data: Mapping[str, Any]
    licence: str = ""


def encoder_save(encoder: SentenceTransformer, folder: Path, about: About, sentences: Iterable[str]) -> None:
    """Write the encoder into an empty folder: weights as safetensors, tokenizer, pooling, a card, and the keys of
    the sentences that it was trained on, so that nobody evaluates it on near copies of them.
    """
    with quiet_transformers():
        encoder.save(str(folder), create_model_card=False, safe_serialization=True)
    (folder / "README.md").write_text(card(encoder, about), encoding="utf-8")
    told = {
        "base": {"model": about.base, "sha256": about.base_sha256},
        "plan": dict(about.plan),
        "data": dict(about.data),
        "trained_on": sorted(HeldOut.of(sentences).keys),
        "trained_on_key": _NEAR_COPY,
    }
    (folder / _ABOUT).write_text(json.dumps(told, indent=1), encoding="utf-8")


def trained_on(folder: Path) -> HeldOut:
    """The sentences that the model in a folder says it was trained on; none where it says nothing."""
    try:
        told = json_from((folder / _ABOUT).read_text("utf-8"))
        keys = frozenset(map(str, told["trained_on"]))
    except (OSError, ValueError, KeyError, TypeError):
        return HeldOut()
    if told.get("trained_on_key") == _NEAR_COPY:
        return HeldOut(keys)
    # Folders that name no kind of key: of texts that differ in case and white space alone.
    return HeldOut(keys, lambda text: sentence_key(text.casefold())[:16])


def card(encoder: SentenceTransformer, about: About) -> str:
    """The README of the folder."""
    licence = about.licence or "not stated; ask whoever holds the data"
    descent = "The weights also descend from the base model, whose licence holds for them too."
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
---
# Sentence encoder

Trained from {about.base} (SHA-256 of its files {about.base_sha256}) on scored sentence pairs.
Vectors of {encoder.get_embedding_dimension()} numbers; compare them by their cosine.

```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
```

## Data

{_listed(about.data)}

## Plan

{_listed(about.plan)}

## Licence

Licence of the data: {licence}. {descent}
"""


def _listed(facts: Mapping[str, Any]) -> str:
    return "\n".join(f"* {name.replace('_', ' ')}: {value}" for name, value in facts.items())
