"""Pairs that a language model wrote, into a dataset: all of a run's or none."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from curation.datasets.services import score_set_publish
from curation.foundation.errors import UserError
from curation.foundation.parts import in_parts
from curation.models import Dataset, Pair, ScoreSet, Sentence, User
from curation.pairs.text import normalise, sentence_key
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record

ROWS_AT_A_TIME = 2_000


class GeneratedRow(NamedTuple):
    """The number of a sentence of the dataset, or the text of one that the model wrote; the sentence that was written
    for it; their target similarity, 0..1; and the subset that the pair is in.
    """

    source: int | str
    text: str
    target: float
    subset: str = ""


class GeneratedPairs(NamedTuple):
    """The score set of the target similarities, its pairs, and how many of their sentences a person had written."""

    score_set: ScoreSet
    pairs: int
    human: int


@transaction.atomic
def generated_pairs_add(
    *,
    dataset: Dataset,
    run_ref: int,
    rows: Sequence[GeneratedRow],
    split: str,
    method: str,
    parameters: Mapping[str, Any],
    by: User | None = None,
) -> GeneratedPairs:
    """Store a run's pairs, their machine sentences, and a score set “run N: target” of kind target.

    A sentence that a person had written stays human if a machine writes it again. Raises UserError where a source is no
    sentence of the dataset.
    """
    dataset_lock(dataset)
    sources = {row.source for row in rows if isinstance(row.source, int)}
    ours = Sentence.objects.filter(dataset=dataset)
    missing = len(sources) - sum(ours.filter(pk__in=part).count() for part in in_parts(sorted(sources)))
    if missing:
        sentence = _("%(missing)s of the source sentences do not belong to the dataset %(dataset)s.")
        raise UserError(sentence, missing=missing, dataset=dataset)
    written_texts = [text for row in rows for text in (row.source, row.text) if isinstance(text, str)]
    sentences = sentences_added(dataset, run_ref, written_texts, origin=Sentence.Origin.MACHINE)
    new = [
        Pair(
            dataset=dataset,
            external_id=f"g{run_ref}-{number}",
            a_id=row.source if isinstance(row.source, int) else sentences[sentence_key(row.source)],
            b_id=sentences[sentence_key(row.text)],
            source=f"run {run_ref}",
            subset=row.subset,
            split=split,
            origin=Pair.Origin.GENERATED,
            run_ref=run_ref,
        )
        for number, row in enumerate(rows, 1)
    ]
    pairs = Pair.objects.bulk_create(new, batch_size=ROWS_AT_A_TIME)
    audit_record(
        dataset=dataset, action=Action.PAIRS_GENERATED, by=by, pairs=len(pairs), details={"run": run_ref}
    )
    added = score_set_publish(
        dataset=dataset,
        name=_("run %(run)s: target") % {"run": run_ref},
        kind=ScoreSet.Kind.TARGET,
        low=0.0,
        high=1.0,
        method=method,
        parameters=parameters,
        run_ref=run_ref,
        by=by,
        scores=[(pair.pk, row.target, None, None) for pair, row in zip(pairs, rows, strict=True)],
    )
    written = Pair.objects.filter(dataset=dataset, run_ref=run_ref, origin=Pair.Origin.GENERATED)
    human = written.filter(b__origin=Sentence.Origin.HUMAN).values("b").distinct().count()
    return GeneratedPairs(added, len(pairs), human)


def sentences_added(
    dataset: Dataset, run_ref: int, written: Iterable[str], *, origin: Sentence.Origin
) -> dict[str, int]:
    """From the key of every sentence to its number; those that the dataset lacks are stored. origin: who wrote them."""
    texts = {sentence_key(text): normalise(text) for text in written}
    numbers: dict[str, int] = {}
    for keys in in_parts(texts):
        there = Sentence.objects.filter(dataset=dataset, key__in=keys).values_list("key", "pk")
        numbers |= dict(there)
    facts: dict[str, Any] = {"dataset": dataset, "origin": origin, "run_ref": run_ref}
    new = [Sentence(key=key, text=text, **facts) for key, text in texts.items() if key not in numbers]
    stored = Sentence.objects.bulk_create(new, batch_size=ROWS_AT_A_TIME)
    return numbers | {sentence.key: sentence.pk for sentence in stored}
