"""Identified pairs into rows: which are new, which are known, which contradict what is known.

A sentence is stored once in a dataset, a pair once for each id in its source and split, a score once for each
pair and score set. Nothing that is stored is changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import FilteredRelation, Q, QuerySet
from django.utils.translation import gettext as _

from curation.datasets.rows import rows_add
from curation.files.drafts import RowError
from curation.files.identity import IdentifiedPair, PairName
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.duplicates import (
    NO_OCCURRENCES,
    Occurrences,
    Repeats,
    SeenPairs,
    occurrence_of,
    repeats_of,
)
from curation.pairs.text import unordered


class StoredPair(NamedTuple):
    """A pair that the dataset holds, with its score in the score set that is written to."""

    pk: int
    a_key: str
    b_key: str
    score: float | None


@dataclass
class Target:
    """What pairs are written to. Unsaved, dataset and score set hold nothing yet; without a set, no scores.

    own_names: hashes of the names of the whole file's pairs; a pair under one of them is no duplicate.
    stored: how the dataset's other pairs stand that have the same sentences as one that was seen, by their keys.
    """

    dataset: Dataset
    score_set: ScoreSet | None
    own_names: AbstractSet[int]
    seen: SeenPairs = field(default_factory=SeenPairs)
    stored: dict[tuple[str, str], Occurrences] = field(default_factory=dict)


@dataclass
class WriteOutcome:
    """What became of some pairs. repeats: of each pair that was taken, within the file and in the dataset."""

    added: int = 0
    unchanged: int = 0
    scores_added: int = 0
    refused: list[RowError] = field(default_factory=list)
    repeats: list[tuple[Repeats, Repeats]] = field(default_factory=list)


def pairs_write(target: Target, pairs: Sequence[IdentifiedPair], *, dry_run: bool) -> WriteOutcome:
    """Store the pairs that the dataset does not hold yet, and the scores that the score set does not hold.

    A pair whose name belongs to other sentences, or has another score, is refused. The number of queries does
    not depend on the number of pairs. A dry run only reads. Call it in a transaction that locked the dataset.
    """
    known: dict[PairName, StoredPair] = {}
    if target.dataset.pk is not None:
        chosen = (target.score_set and target.score_set.pk) or 0  # no score set has the number 0
        rows = (
            _pairs_under(target.dataset, [pair.name for pair in pairs])
            .annotate(chosen=FilteredRelation("scores", condition=Q(scores__score_set_id=chosen)))
            .values_list(*PairName._fields, "pk", "a__key", "b__key", "chosen__value")
        )
        known = {PairName(*facts[:3]): StoredPair(*facts[3:]) for facts in rows}
    refused = [error for pair in pairs if (error := _contradiction(pair, known, target.score_set))]
    lines = {error.line for error in refused}
    taken = [pair for pair in pairs if pair.draft.line not in lines]
    new = [pair for pair in taken if pair.name not in known]
    # From the keys of the sentences that the dataset holds to their numbers.
    keys = sorted({key for pair in taken for key in (pair.a_key, pair.b_key)})
    there = Sentence.objects.filter(dataset=target.dataset, key__in=keys) if target.dataset.pk else None
    sentences = {} if there is None else dict(there.values_list("key", "pk"))
    repeats = _repeats(target, taken, sentences)
    # The scores that the file has and the score set lacks, by the pair's name.
    scored = [] if target.score_set is None else [pair for pair in taken if pair.draft.score is not None]
    held = {name for name, pair in known.items() if pair.score is not None}
    scores = {pair.name: pair.draft.score for pair in scored if pair.name not in held}
    if not dry_run:
        texts: dict[str, str] = {}
        for pair in new:
            texts.setdefault(pair.a_key, pair.draft.a)
            texts.setdefault(pair.b_key, pair.draft.b)
        lacking = [(key, text) for key, text in texts.items() if key not in sentences]
        made = [Sentence(dataset=target.dataset, key=key, text=text) for key, text in lacking]
        sentences |= {sentence.key: sentence.pk for sentence in Sentence.objects.bulk_create(made)}
        pair_ids = {name: pair.pk for name, pair in known.items()}
        pair_ids |= _pairs_added(target.dataset, new, sentences, asked=scores)
        if target.score_set is not None and scores:
            if target.score_set.pk is None:  # with its first score, so that no empty set is left behind
                target.score_set.save()
            rows_add(
                PairScore,
                shared={"score_set_id": target.score_set.pk},
                columns=["pair_id", "value"],
                rows=[(pair_ids[name], score) for name, score in scores.items()],
            )
    return WriteOutcome(len(new), len(taken) - len(new), len(scores), refused, repeats)


def _contradiction(
    pair: IdentifiedPair, known: Mapping[PairName, StoredPair], score_set: ScoreSet | None
) -> RowError | None:
    there = known.get(pair.name)
    if there is None:
        return None
    names = {"id": pair.name.external_id, "set": score_set, "score": there.score}
    if (there.a_key, there.b_key) != (pair.a_key, pair.b_key):
        reason = _(
            'the id "%(id)s" belongs to other sentences in the same source and split of the dataset; '
            "give the file another source, or the row another id"
        )
    elif None not in (there.score, pair.draft.score) and there.score != pair.draft.score:
        reason = _(
            'the score set "%(set)s" already has the score %(score)r for this pair; import into another score set'
        )
    else:
        return None
    return RowError(pair.draft.line, reason % names, pair.draft.row)


def _pairs_added(
    dataset: Dataset,
    pairs: Sequence[IdentifiedPair],
    sentences: Mapping[str, int],
    *,
    asked: Iterable[PairName],
) -> dict[PairName, int]:
    """Store the pairs. Returns the numbers of those whose names are asked for."""
    rows = [(*each.name, sentences[each.a_key], sentences[each.b_key], each.draft.subset) for each in pairs]
    columns = [*PairName._fields, "a_id", "b_id", "subset"]
    rows_add(Pair, shared={"dataset_id": dataset.pk}, columns=columns, rows=rows)
    wanted = {pair.name for pair in pairs} & set(asked)
    stored = _pairs_under(dataset, wanted).values_list(*PairName._fields, "pk") if wanted else ()
    return {PairName(*name): pk for *name, pk in stored}


def _pairs_under(dataset: Dataset, names: Iterable[PairName]) -> QuerySet[Pair]:
    """The pairs of the dataset with the names' ids: those that have the names, and those of other sources and splits.

    The sources and splits are not asked for, because a database compares lists of single values fastest.
    """
    return Pair.objects.filter(dataset=dataset, external_id__in={name.external_id for name in names})


def _repeats(
    target: Target, pairs: Sequence[IdentifiedPair], sentences: Mapping[str, int]
) -> list[tuple[Repeats, Repeats]]:
    _look_up_stored(target, pairs, sentences)
    repeats = []
    for pair in pairs:
        within = target.seen.add(pair.a_key, pair.b_key, pair.name.split)
        others = target.stored.get(unordered(pair.a_key, pair.b_key), NO_OCCURRENCES)
        repeats.append((within, repeats_of(occurrence_of(pair.a_key, pair.b_key, pair.name.split), others)))
    return repeats


def _look_up_stored(target: Target, pairs: Sequence[IdentifiedPair], sentences: Mapping[str, int]) -> None:
    """Note how pairs of the dataset stand that are not the file's own: once for each two sentences of the file."""
    new = {unordered(pair.a_key, pair.b_key) for pair in pairs if (pair.a_key, pair.b_key) not in target.seen}
    ids = sorted({sentences[key] for both in new if sentences.keys() >= set(both) for key in both})
    if not ids:
        return
    rows = Pair.objects.filter(dataset=target.dataset, a__in=ids, b__in=ids).order_by()
    for a_key, b_key, *facts in rows.values_list("a__key", "b__key", *PairName._fields).iterator():
        both, name = unordered(a_key, b_key), PairName(*facts)
        if both in new and hash(name) not in target.own_names:
            before = target.stored.get(both, NO_OCCURRENCES)
            target.stored[both] = before.with_pair(occurrence_of(a_key, b_key, name.split))
