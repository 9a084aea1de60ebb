"""What a generator may see of a dataset: pairs and sentences of one split, and nothing that is in another.

A sentence of dev or test that a generator learns, or continues, comes back in the pairs that an encoder is trained on.
"""

import numpy as np
from django.db.models import QuerySet

from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.holding_out import HeldOut, split_is_held_out
from curation.pairs.splitting import pair_components
from curation.pairs.text import near_copy_key, words
from mlworkers.science.synthesis.prompts import LabelledPair
from mlworkers.science.synthesis.rows import Source

IN_MEMORY = 5_000  # rows that a query hands over at a time
EVERY = 10_000_000  # sentences: more than a dataset has


def held_out_of(dataset: Dataset, split: str) -> HeldOut:
    """The sentences of a dataset that are held out where its pairs of that split are used."""
    pairs = human_pairs(dataset).order_by()
    splits = pairs.values_list("split", flat=True).distinct()
    held_out = [each for each in splits if split_is_held_out(each, used=split)]
    texts = pairs.filter(split__in=held_out).values_list("a__text", "b__text")
    return HeldOut.of(text for pair in texts.iterator(chunk_size=IN_MEMORY) for text in pair)


def labelled_pairs(dataset: Dataset, split: str, score_set: ScoreSet) -> tuple[list[LabelledPair], int]:
    """The split's scored pairs, scores brought to 0..1; and how many were left out for a sentence that is held out."""
    held_out = held_out_of(dataset, split)
    scores = PairScore.objects.filter(
        score_set=score_set, pair__in=human_pairs(dataset).filter(split=split, status=Pair.Status.ACTIVE)
    )
    pairs, left_out = [], 0
    width = score_set.high - score_set.low
    rows = scores.order_by("pair").values_list("pair__a__text", "pair__b__text", "value")
    for a, b, value in rows.iterator(chunk_size=IN_MEMORY):
        if a in held_out or b in held_out:
            left_out += 1
        else:
            pairs.append(LabelledPair(a, b, (value - score_set.low) / width))
    return pairs, left_out


def human_sentences(dataset: Dataset, split: str) -> list[tuple[int, str]]:
    """The numbers and texts of the sentences of the split's pairs that people wrote; none that is held out."""
    held_out = held_out_of(dataset, split)
    texts = human_texts(human_pairs(dataset).filter(split=split, status=Pair.Status.ACTIVE))
    return [(number, text) for number, text in sorted(texts.items()) if text not in held_out]


def sources_drawn(dataset: Dataset, split: str, *, most: int, seed: int) -> list[Source]:
    """At most so many different human sentences of the split's pairs, drawn at random; none that is held out."""
    # Of each sentence the number of its group: pairs that share a sentence are connected.
    rows = list(human_pairs(dataset).order_by("pk").values_list("a_id", "b_id"))
    a, b = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    components = pair_components(a, b).tolist()
    groups = {number: group for pair, group in zip(rows, components, strict=True) for number in pair}
    by_key: dict[str, Source] = {}
    for number, text in human_sentences(dataset, split):
        if words(text):
            by_key.setdefault(near_copy_key(text), Source(number, text, groups[number]))
    sources = list(by_key.values())
    order = np.random.default_rng(seed).permutation(len(sources))
    return [sources[index] for index in order[:most]]


def human_pairs(dataset: Dataset) -> QuerySet[Pair]:
    return Pair.objects.filter(dataset=dataset).exclude(origin=Pair.Origin.GENERATED)


def human_texts(pairs: QuerySet[Pair]) -> dict[int, str]:
    """The sentences of these pairs that people wrote, by their numbers."""
    texts: dict[int, str] = {}
    for side in ("a", "b"):
        human = pairs.filter(**{f"{side}__origin": Sentence.Origin.HUMAN}).order_by()
        texts.update(human.values_list(f"{side}_id", f"{side}__text").iterator(chunk_size=IN_MEMORY))
    return texts
