"""Identified pairs into rows: which are new, which are known and say something new, which contradict what is known.

A sentence is stored once in a dataset, a pair once for each id in its source and split, a score once for each
pair and score set. Which pair a row is, `files/known.py` decides; its sentences never change.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db import connection
from django.utils.translation import gettext as _

from curation.datasets.lineage import imported_mark
from curation.datasets.rows import numbers_reserve, rows_add, rows_change, sought
from curation.files.drafts import RowError
from curation.files.identity import IdentifiedPair, PairName, Survey
from curation.files.known import Change, Matching, StoredPair, Untaken, contradicts
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.duplicates import (
    NO_OCCURRENCES,
    Occurrences,
    Repeats,
    SeenPairs,
    occurrence_of,
    repeats_of,
)
from curation.pairs.text import made_external_id, unordered

# From two sentences, in this order, to the pairs that the dataset holds of them, by the sentences' numbers.
StoredPairs = Mapping[tuple[int, int], list[StoredPair]]

_SCORE_COLUMNS = ("value", "imported", "standard_error", "judgements")


@dataclass
class Held:
    """The dataset's pairs of two sentences. left: those that no row took yet, in each order, by the sentences' keys.

    beyond: of those that the file does not hold, which a comparison needs. names: of all of them, and of those that
    were added. numbered: from a source, a split and an order to the last number that an id was made of (`_free_name`).
    """

    left: dict[tuple[str, str], Untaken]
    beyond: Occurrences
    names: set[PairName]
    numbered: Counter[tuple[str, str, str]] = field(default_factory=Counter)


@dataclass
class Target:
    """What pairs are written to. Unsaved, dataset and score set hold nothing yet; without a set, no scores.

    survey: of the whole file.
    batch: the number of the import, once it is stored.
    ids_guessed: whether nobody named the column of ids, so that an id of other sentences is none.
    seen, held: of two sentences that stand several times in the file, the rows so far, and the pairs that the dataset
    held when they were first seen.
    """

    dataset: Dataset
    score_set: ScoreSet | None
    matching: Matching
    survey: Survey
    batch: int | None = None
    ids_guessed: bool = False
    seen: SeenPairs = field(default_factory=SeenPairs)
    held: dict[int, Held] = field(default_factory=dict)


class Update(NamedTuple):
    """A row that adds something to a known pair."""

    row: IdentifiedPair
    pair: StoredPair
    changes: list[Change]

    @property
    def name(self) -> PairName:
        """The pair's name once it is changed."""
        new = {change.what: str(change.new) for change in self.changes if change.what in ("source", "split")}
        return self.pair.name._replace(**new)


@dataclass
class WriteOutcome:
    """What became of some pairs.

    repeats: of each pair that was taken, what it repeats within the file and in the dataset.
    new: those that are added.
    """

    added: int = 0
    unchanged: int = 0
    scores_added: int = 0
    updates: list[Update] = field(default_factory=list)
    refused: list[RowError] = field(default_factory=list)
    repeats: list[tuple[Repeats, Repeats]] = field(default_factory=list)
    new: Sequence[IdentifiedPair] = ()


def pairs_write(target: Target, pairs: Sequence[IdentifiedPair], *, dry_run: bool) -> WriteOutcome:
    """Store the pairs that the dataset does not hold yet, and what the rows add of those that it holds.

    A row whose id belongs to other sentences is refused. The number of queries does not depend on the number of pairs.
    A dry run only reads. Call it in a transaction that locked the dataset.
    """
    stored = target.dataset.pk is not None
    sentences = sentences_found(target.dataset, pairs) if stored else {}
    # The dataset's pairs under the ids that the file gives: their names, and the numbers of their sentences.
    ids = sorted({pair.draft.external_id for pair in pairs if pair.draft.external_id})
    named = _names_found(target.dataset, ids) if stored else {}
    outcome = WriteOutcome()
    # The pairs but those whose ids belong to other sentences: they are refused, or lose an id that was guessed.
    consistent = []
    for pair in pairs:
        own = sentences.get(pair.a_key), sentences.get(pair.b_key)
        same_id = named.get(pair.draft.external_id, {}).items()
        taken = next((name for name, ids in same_id if ids != own and contradicts(pair.name, name)), None)
        if taken is None:
            consistent.append(pair)
        elif target.ids_guessed:
            # The pair with an id made from its content, as if the file had none.
            made = made_external_id(pair.name.source, pair.name.split, pair.a_key, pair.b_key, 1)
            draft = pair.draft._replace(external_id="")
            consistent.append(pair._replace(draft=draft, name=pair.name._replace(external_id=made)))
        else:
            reason = _(
                'the id "%(id)s" belongs to other sentences in the same source and split of the dataset; '
                "give the file another source, or the row another id"
            )
            outcome.refused.append(_refused(pair, reason % {"id": taken.external_id}))
    there = _pairs_with_sentences(target, consistent, sentences) if sentences else {}
    new: list[IdentifiedPair] = []
    for pair in consistent:
        held = _held(target, pair, sentences, there)
        known = held and target.matching.best(pair.name, held.left[pair.a_key, pair.b_key])
        if held and known:
            held.left[pair.a_key, pair.b_key].take(known)
            outcome.updates.append(Update(pair, known, target.matching.changes(pair, known)))
        else:
            fresh = pair._replace(name=_free_name(pair, held)) if held else pair
            if fresh.name in named.get(pair.name.external_id, ()):
                outcome.refused.append(_name_taken(pair, fresh.name))
                continue
            new.append(fresh)

        several = hash(unordered(pair.a_key, pair.b_key)) in target.survey.either
        within = target.seen.add(pair.a_key, pair.b_key, pair.name.split) if several else Repeats()
        beyond = held.beyond if held else NO_OCCURRENCES
        outcome.repeats.append(
            (within, repeats_of(occurrence_of(pair.a_key, pair.b_key, pair.name.split), beyond))
        )
    _moves_refused(target.dataset, new, outcome)
    outcome.added, outcome.new = len(new), new
    outcome.unchanged = sum(not update.changes for update in outcome.updates)
    outcome.updates = [update for update in outcome.updates if update.changes]
    _write(target, new, outcome, sentences, dry_run=dry_run)
    return outcome


def sentences_found(dataset: Dataset, pairs: Sequence[IdentifiedPair]) -> dict[str, int]:
    """From the keys of the pairs' sentences that the dataset holds to their numbers."""
    return sentence_numbers(dataset, sorted({key for pair in pairs for key in (pair.a_key, pair.b_key)}))


def sentence_numbers(dataset: Dataset, keys: Sequence[str]) -> dict[str, int]:
    """From the keys that sentences of the dataset have to the sentences' numbers."""
    wanted = sought(
        "curation_sentence", ["key", "id"], by="key", among=keys, within={"dataset_id": dataset.pk}
    )
    with connection.cursor() as cursor:
        cursor.execute(*wanted)
        return dict(cursor.fetchall())


def stored_pairs(score_set_pk: int | None, asked: Sequence[tuple[int, int]]) -> StoredPairs:
    """The pairs of each two sentences, by the sentences' numbers, the oldest first; with their score in the set."""
    if not asked:
        return {}
    # For each two sentences the index is asked: on PostgreSQL, OFFSET 0 keeps the inner query as it is (see `sought`);
    # SQLite reads the tables of a cross join in this order.
    sql = """
        SELECT pair.a_id, pair.b_id, pair.id, pair.external_id, pair.source, pair.split, pair.subset, pair.origin,
            pair.status, score.id, score.value
        FROM {pairs} AS pair
        LEFT JOIN curation_pairscore AS score ON score.pair_id = pair.id AND score.score_set_id = %s
        {condition} ORDER BY pair.id
    """
    numbers: list[str | list[int]] = [[a for a, _b in asked], [b for _a, b in asked]]
    if connection.vendor == "postgresql":
        inner = "SELECT * FROM curation_pair AS one WHERE one.a_id = asked.a AND one.b_id = asked.b OFFSET 0"
        pairs = f"unnest(%s::bigint[], %s::bigint[]) AS asked(a, b) CROSS JOIN LATERAL ({inner})"
        condition = ""
    else:
        pairs = "json_each(%s) AS asked CROSS JOIN curation_pair"
        condition = "WHERE pair.a_id = asked.value ->> 0 AND pair.b_id = asked.value ->> 1"
        numbers = [json.dumps(asked)]
    found: dict[tuple[int, int], list[StoredPair]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql.format(pairs=pairs, condition=condition), [*numbers, score_set_pk or 0])
        for a_id, b_id, pk, *name, subset, origin, status, score_pk, score in cursor.fetchall():
            facts = (subset, origin == Pair.Origin.GENERATED, status == Pair.Status.ACTIVE, score_pk, score)
            found.setdefault((a_id, b_id), []).append(StoredPair(pk, PairName(*name), *facts))
    return found


def _pairs_with_sentences(
    target: Target, pairs: Sequence[IdentifiedPair], sentences: Mapping[str, int]
) -> StoredPairs:
    """The dataset's pairs of the sentences of these, in either order; not of those that are held already."""
    asked = set()
    for pair in pairs:
        a, b = sentences.get(pair.a_key), sentences.get(pair.b_key)
        if a is not None and b is not None and hash(unordered(pair.a_key, pair.b_key)) not in target.held:
            asked |= {(a, b), (b, a)}
    return stored_pairs(target.score_set.pk if target.score_set else None, sorted(asked))


def _names_found(dataset: Dataset, ids: Sequence[str]) -> dict[str, dict[PairName, tuple[int, int]]]:
    if not ids:
        return {}
    columns = ["external_id", "source", "split", "a_id", "b_id"]
    wanted = sought("curation_pair", columns, by="external_id", among=ids, within={"dataset_id": dataset.pk})
    found: dict[str, dict[PairName, tuple[int, int]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(*wanted)
        for external_id, source, split, a, b in cursor.fetchall():
            found.setdefault(external_id, {})[PairName(external_id, source, split)] = (a, b)
    return found


def _refused(pair: IdentifiedPair, reason: str) -> RowError:
    return RowError(pair.draft.line, reason, pair.draft.row, cells=pair.draft.cells)


def _name_taken(pair: IdentifiedPair, name: PairName) -> RowError:
    reason = _(
        'another pair has the id "%(id)s" in the source "%(source)s" and the split "%(split)s" already; '
        "give the row another id"
    )
    names = {"id": name.external_id, "source": name.source, "split": name.split}
    return _refused(pair, reason % names)


def _held(
    target: Target, pair: IdentifiedPair, sentences: Mapping[str, int], there: StoredPairs
) -> Held | None:
    """What the dataset holds of the pair's two sentences; None where it holds no pair of them."""
    content = hash(unordered(pair.a_key, pair.b_key))
    if (before := target.held.get(content)) is not None:
        return before
    a, b = sentences.get(pair.a_key, 0), sentences.get(pair.b_key, 0)
    same = there.get((a, b), [])
    mirrored = there.get((b, a), []) if a != b else []
    several = content in target.survey.either
    if not same and not mirrored and not several:
        return None
    beyond = NO_OCCURRENCES
    numbers = target.survey.rows_with(pair.a_key, pair.b_key)
    for keys, those, rows in zip(
        ((pair.a_key, pair.b_key), (pair.b_key, pair.a_key)), (same, mirrored), numbers, strict=True
    ):
        left_for_rows = rows
        for one in those:
            if left_for_rows and target.matching.can_be(pair.name, one):
                left_for_rows -= 1
            else:
                beyond = beyond.with_pair(occurrence_of(*keys, one.name.split))
    left = {(pair.b_key, pair.a_key): Untaken(mirrored)} | {(pair.a_key, pair.b_key): Untaken(same)}
    held = Held(left, beyond, {one.name for one in (*same, *mirrored)})
    if several:
        target.held[content] = held
    return held


def _free_name(pair: IdentifiedPair, held: Held) -> PairName:
    """The new pair's name; where another pair of its sentences has it and the file gives no id, the next one."""
    name = pair.name
    counted = name.source, name.split, pair.a_key
    while name in held.names and not pair.draft.external_id:
        # No name is given back, so the next row need not try the lower numbers again.
        held.numbered[counted] += 1
        made = made_external_id(name.source, name.split, pair.a_key, pair.b_key, held.numbered[counted])
        name = name._replace(external_id=made)
    held.names.add(name)
    return name


def _moves_refused(dataset: Dataset, new: Sequence[IdentifiedPair], outcome: WriteOutcome) -> None:
    """Refuse a row that would give its pair the name of another one."""
    moves = [update for update in outcome.updates if update.name != update.pair.name]
    if not moves:
        return
    found = _names_found(dataset, sorted({update.name.external_id for update in moves}))
    taken = {name for names in found.values() for name in names} | {pair.name for pair in new}
    refused = set()
    for update in moves:
        if update.name in taken:
            outcome.refused.append(_name_taken(update.row, update.name))
            refused.add(update.row.draft.line)
        taken.add(update.name)
    outcome.updates = [update for update in outcome.updates if update.row.draft.line not in refused]


def _write(
    target: Target,
    new: Sequence[IdentifiedPair],
    outcome: WriteOutcome,
    sentences: dict[str, int],
    *,
    dry_run: bool,
) -> None:
    scored = target.score_set is not None
    # The scores that the file has and the score set lacks: of new pairs, and of known ones.
    lacking = [pair for pair in new if scored and pair.draft.score is not None]
    late = [
        (update.pair.pk, *_score_of(target, update.row))
        for update in outcome.updates
        for change in update.changes
        if change.what == "score_added"
    ]
    outcome.scores_added = len(lacking) + len(late)
    if dry_run:
        return
    numbers = dict(
        zip((pair.draft.line for pair in new), _pairs_added(target.dataset, new, sentences), strict=True)
    )
    first = [(numbers[pair.draft.line], *_score_of(target, pair)) for pair in lacking]

    facts = [
        update
        for update in outcome.updates
        if any(change.what in ("source", "split", "subset") for change in update.changes)
    ]
    rows = [
        (update.name.source, update.name.split, update.row.draft.subset or update.pair.subset, update.pair.pk)
        for update in facts
    ]
    rows_change(Pair, columns=["source", "split", "subset"], rows=rows)
    scores = [
        (*_score_of(target, update.row), update.pair.score_pk)
        for update in outcome.updates
        for change in update.changes
        if change.what == "score"
    ]
    rows_change(PairScore, columns=list(_SCORE_COLUMNS), rows=scores)

    if target.score_set is not None and outcome.scores_added:
        if target.score_set.pk is None:  # with its first score, so that no empty set is left behind
            target.score_set.save()
        rows_add(
            PairScore,
            shared={"score_set_id": target.score_set.pk},
            columns=["pair_id", *_SCORE_COLUMNS],
            rows=[*first, *late],
        )


def _score_of(
    target: Target, pair: IdentifiedPair
) -> tuple[float | None, int | None, float | None, int | None]:
    """What is stored of the score of a row, in the order of `_SCORE_COLUMNS`."""
    draft = pair.draft
    return draft.score, imported_mark(target.batch, draft.line), draft.standard_error, draft.ratings


def _pairs_added(
    dataset: Dataset, pairs: Sequence[IdentifiedPair], sentences: dict[str, int]
) -> Iterator[int]:
    """Store the pairs, and those of their sentences that the dataset lacks. Returns the pairs' numbers."""
    both = (
        (key, text)
        for pair in pairs
        for key, text in ((pair.a_key, pair.draft.a), (pair.b_key, pair.draft.b))
    )
    texts = {key: text for key, text in both if key not in sentences}
    keys = sorted(texts)  # neighbours in the index are written together
    made = dict(zip(keys, numbers_reserve(Sentence, len(keys)), strict=True))
    rows_add(
        Sentence,
        shared={"dataset_id": dataset.pk},
        columns=["id", "key", "text"],
        rows=[(number, key, texts[key]) for key, number in made.items()],
    )
    sentences |= made
    numbers = numbers_reserve(Pair, len(pairs))
    rows_add(
        Pair,
        shared={"dataset_id": dataset.pk},
        columns=["id", *PairName._fields, "a_id", "b_id", "subset"],
        rows=[
            (number, *pair.name, sentences[pair.a_key], sentences[pair.b_key], pair.draft.subset)
            for number, pair in zip(numbers, pairs, strict=True)
        ],
    )
    return iter(numbers)
