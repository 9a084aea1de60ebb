"""A trained encoder as a folder that sentence-transformers loads by itself, and that says where it comes from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentence_transformers import SentenceTransformer

from curation.files.json_text import json_from
from curation.files.publishing.licences import LICENCE_NOT_STATED
from curation.pairs.holding_out import HeldOut
from curation.pairs.text import near_copy_key, sentence_key
from mlworkers.encoders.seen import NOTHING_KNOWN, Seen
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
    keys = HeldOut.of(sentences).keys.union(*(one.keys for one in base.sets if one.key is near_copy_key))
    # Keys of another kind cannot be written beside these: of that base, not everything is known.
    lost = any(one.key is not near_copy_key for one in base.sets)
    told = {
        "base": {"model": about.base, "sha256": about.base_sha256},
        "plan": dict(about.plan),
        "data": dict(about.data),
        "trained_on": sorted(keys),
        "trained_on_key": _NEAR_COPY,
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


def trained_on(folder: Path) -> HeldOut:
    """The sentences that the model in a folder says it was trained on; none where it says nothing."""
    return next(iter(seen_by(folder).sets), HeldOut())


def seen_by(folder: Path, name: str = "") -> Seen:
    """What the model in a folder says of the sentences that it, and the models it was made from, were trained on.

    name: what the model is called, should it say nothing.
    """
    try:
        return _seen_in(json_from((folder / _ABOUT).read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Seen(unknown=(name,) if name else ())


def _seen_in(told: Any) -> Seen:
    """Raises one of the errors of a file that says something else where it is not as `encoder_save` writes it."""
    keys = frozenset(map(str, told["trained_on"]))
    near_copies = told.get("trained_on_key") == _NEAR_COPY
    # Folders that name no kind of key: of texts that differ in case and white space alone.
    held = HeldOut(keys) if near_copies else HeldOut(keys, lambda text: sentence_key(text.casefold())[:16])
    # Earlier folders say nothing of what their base had seen.
    unknown = told.get("trained_on_unknown", [_told(told, "base", "model")])
    own = (_told(told, "data", "dataset"), _told(told, "plan", "split"))
    splits = {own, *((str(dataset), str(split)) for dataset, split in told.get("trained_on_splits", []))}
    return Seen((held,), True, tuple(filter(None, map(str, unknown))), frozenset(splits - {("", "")}))


def _told(about: Mapping[str, Any], part: str, name: str) -> str:
    """A fact that the file tells, or "" where it does not."""
    facts = about.get(part)
    return str(facts.get(name, "")) if isinstance(facts, Mapping) else ""


def card(encoder: SentenceTransformer, about: About) -> str:
    """The README of the folder."""
    licence = about.licence or LICENCE_NOT_STATED
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

{facts_listed(about.data)}

## Plan

{facts_listed(about.plan)}

## Licence

Licence of the data: {licence}. {descent}
"""


def facts_listed(facts: Mapping[str, Any]) -> str:
    return "\n".join(f"* {name.replace('_', ' ')}: {value}" for name, value in facts.items())
