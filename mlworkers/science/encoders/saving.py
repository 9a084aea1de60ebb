"""A trained encoder as a folder that sentence-transformers loads by itself, and that says where it comes from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer

from curation.files.json_text import json_from
from curation.files.publishing.cards import LICENCE_NOT_STATED
from curation.files.publishing.prose import markdown_text
from curation.pairs.holding_out import HeldOut
from curation.pairs.text import earlier_near_copy_key, near_copy_key, sentence_key
from mlworkers.science.encoders.seen import NOTHING_KNOWN, Seen
from mlworkers.science.pretrained.loading import quiet_transformers

_ABOUT = "semblance.json"
# How the keys of the sentences that an encoder was trained on were made: now, and before words kept their marks.
_NEAR_COPY, _EARLIER = "near copy 2", "near copy"
_KEYS = {_NEAR_COPY: near_copy_key, _EARLIER: earlier_near_copy_key}


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


def encoder_save(
    encoder: SentenceTransformer,
    folder: Path,
    about: About,
    sentences: Iterable[str],
    *,
    base: Seen = NOTHING_KNOWN,
) -> None:
    """Write the encoder into an empty folder: weights as safetensors, tokenizer, pooling, a card, and the keys of
    the sentences that it was trained on, so that nobody evaluates it on near copies of them.

    base: what the model that was trained further had seen; its sentences are the encoder's too.
    """
    with quiet_transformers():
        encoder.save(str(folder), create_model_card=False, safe_serialization=True)
    (folder / "README.md").write_text(card(encoder, about), encoding="utf-8")
    seen_save(folder, about, sentences, base=base)


def seen_save(folder: Path, about: About, sentences: Iterable[str], *, base: Seen) -> None:
    """Say in the folder of a model what it was trained from and on, as `encoder_save` does."""
    by_kind = {
        kind: frozenset[str]().union(*(one.keys for one in base.sets if one.key is key))
        for kind, key in _KEYS.items()
    }
    # Hashes: near copies share one, and no text is published.
    keys = HeldOut.of(sentences).keys | by_kind[_NEAR_COPY]
    # Keys of a third kind cannot be written beside these: of that base, not everything is known.
    lost = any(one.key not in _KEYS.values() for one in base.sets)
    told = {
        "base": {"model": about.base, "sha256": about.base_sha256},
        "plan": dict(about.plan),
        "data": dict(about.data),
        "trained_on": sorted(keys),
        "trained_on_key": _NEAR_COPY,
        "trained_on_earlier": sorted(by_kind[_EARLIER]),
        "trained_on_unknown": list(
            dict.fromkeys([*base.unknown, *([about.base] if lost or not base.known else [])])
        ),
        "trained_on_splits": sorted(base.splits),
    }
    (folder / _ABOUT).write_text(json.dumps(told, indent=1), encoding="utf-8")


def learned_save(folder: Path, sentences: Iterable[str]) -> None:
    """Say in the folder of a model that began with random weights which sentences it was trained on."""
    keys = sorted(HeldOut.of(sentences).keys)
    told = {"trained_on": keys, "trained_on_key": _NEAR_COPY, "trained_on_unknown": []}
    (folder / _ABOUT).write_text(json.dumps(told, indent=1), encoding="utf-8")


def seen_by(folder: Path, name: str = "") -> Seen:
    """What the model in a folder says of the sentences that it, and the models it was made from, were trained on.

    name: what the model is called, should it say nothing.
    """
    try:
        told = json_from((folder / _ABOUT).read_text("utf-8"))
        keys = frozenset(map(str, told["trained_on"]))
        # Folders that name no kind of key: of texts that differ in case and white space alone.
        key = _KEYS.get(told.get("trained_on_key"), lambda text: sentence_key(text.casefold())[:16])
        earlier = HeldOut(frozenset(map(str, told.get("trained_on_earlier", ()))), earlier_near_copy_key)
        # Earlier folders say nothing of what their base had seen.
        unknown = told.get("trained_on_unknown", [_told(told, "base", "model")])
        own = (_told(told, "data", "dataset"), _told(told, "plan", "split"))
        splits = {own, *((str(dataset), str(split)) for dataset, split in told.get("trained_on_splits", []))}
        sets = (HeldOut(keys, key), *([earlier] if earlier else []))
        return Seen(sets, True, tuple(filter(None, map(str, unknown))), frozenset(splits - {("", "")}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Seen(unknown=(name,) if name else ())


def _told(about: Mapping[str, Any], part: str, name: str) -> str:
    """A fact that the file tells, or "" where it does not."""
    facts = about.get(part)
    return str(facts.get(name, "")) if isinstance(facts, Mapping) else ""


def card(encoder: SentenceTransformer, about: About) -> str:
    """The README of the folder."""
    licence = markdown_text(about.licence or LICENCE_NOT_STATED)
    descent = "The weights also descend from the base model, whose licence holds for them too."
    return f"""---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
---
# Sentence encoder

Trained from {markdown_text(about.base)} (SHA-256 of its files {about.base_sha256}) on scored sentence pairs.
Vectors of {encoder.get_embedding_dimension()} numbers; compare them by their cosine.

```python
from sentence_transformers import SentenceTransformer

encoder = SentenceTransformer("path/to/this/folder")
```

## Data

{facts_listed(about.data)}

## Plan

{facts_listed(about.plan)}

## Licence

Licence of the data: {licence}. {descent}
"""


def facts_listed(facts: Mapping[str, Any]) -> str:
    """A list in Markdown; names and values are text in it."""
    return "\n".join(
        f"* {markdown_text(name.replace('_', ' '))}: {markdown_text(str(value))}"
        for name, value in facts.items()
    )
