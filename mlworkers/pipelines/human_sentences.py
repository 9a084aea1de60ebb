"""What a generator may see of a dataset: pairs and sentences of one split, and nothing that stands in another.

A sentence of dev or test that a generator learns, or continues, comes back in the pairs that an encoder is trained on.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db.models import QuerySet

from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.splitting import pair_components
from mlworkers.synthesis.likeness import likeness_key
from mlworkers.synthesis.prompts import LabelledPair
from mlworkers.synthesis.rows import Source

IN_MEMORY = 5_000  # rows that a query hands over at a time


@dataclass(frozen=True)
class HeldOut:
    """The sentences of a dataset's other splits: their numbers, and their likeness keys."""

    numbers: frozenset[int]
    keys: frozenset[str]

    def __contains__(self, key: str) -> bool:
        return key in self.keys


def held_out_of(dataset: Dataset, split: str) -> HeldOut:
    """Pairs without a split are held out of nothing."""
    numbers: set[int] = set()
    keys: set[str] = set()
    for *pair, a_text, b_text in _texts(_human_pairs(dataset).exclude(split__in=["", split])):
        numbers.update(pair)
        keys.update((likeness_key(a_text), likeness_key(b_text)))
    return HeldOut(frozenset(numbers), frozenset(keys))


def labelled_pairs(dataset: Dataset, split: str, score_set: ScoreSet) -> tuple[list[LabelledPair], int]:
    """The split's scored pairs, scores brought to 0..1; and how many were left out for a sentence that is held out."""
    held_out = held_out_of(dataset, split)
    scores = PairScore.objects.filter(
        score_set=score_set, pair__in=_human_pairs(dataset).filter(split=split, status=Pair.Status.ACTIVE)
    )
    pairs, left_out = [], 0
    width = score_set.high - score_set.low
    rows = scores.order_by("pair").values_list("pair__a__text", "pair__b__text", "value")
    for a, b, value in rows.iterator(chunk_size=IN_MEMORY):
        if likeness_key(a) in held_out or likeness_key(b) in held_out:
            left_out += 1
        else:
            pairs.append(LabelledPair(a, b, (value - score_set.low) / width))
    return pairs, left_out


def sources_drawn(dataset: Dataset, split: str, *, most: int, seed: int) -> list[Source]:
    """At most so many different human sentences of the split's pairs, drawn at random; none that is held out."""
    held_out = held_out_of(dataset, split)
    groups = _groups(dataset)
    found: dict[str, Source] = {}
    for number, text in _human_sentences(dataset, split):
        key = likeness_key(text)
        if key and key not in held_out and number not in held_out.numbers:
            found.setdefault(key, Source(number, text, groups[number]))
    sources = list(found.values())
    order = np.random.default_rng(seed).permutation(len(sources))
    return [sources[place] for place in order[:most]]


def _human_pairs(dataset: Dataset) -> QuerySet[Pair]:
    return Pair.objects.filter(dataset=dataset).exclude(origin=Pair.Origin.GENERATED)


def _human_sentences(dataset: Dataset, split: str) -> Iterator[tuple[int, str]]:
    """In the order of their numbers."""
    pairs = _human_pairs(dataset).filter(split=split, status=Pair.Status.ACTIVE)
    texts: dict[int, str] = {}
    for side in ("a", "b"):
        human = pairs.filter(**{f"{side}__origin": Sentence.Origin.HUMAN})
        rows = human.values_list(f"{side}_id", f"{side}__text").order_by()
        texts.update(rows.iterator(chunk_size=IN_MEMORY))
    yield from sorted(texts.items())


def _groups(dataset: Dataset) -> dict[int, int]:
    """Of each sentence the number of its group: pairs that share a sentence hang together."""
    rows = list(_human_pairs(dataset).order_by("pk").values_list("a_id", "b_id"))
    a, b = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    components = pair_components(a, b).tolist()
    return {sentence: group for pair, group in zip(rows, components, strict=True) for sentence in pair}


def _texts(pairs: QuerySet[Pair]) -> Iterator[tuple[int, int, str, str]]:
    rows = pairs.order_by().values_list("a_id", "b_id", "a__text", "b__text")
    yield from rows.iterator(chunk_size=IN_MEMORY)
