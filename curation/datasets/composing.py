"""Pairs composed from a dataset's pool of sentences: a preview, adding them, and taking them back."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils.timezone import now
from django.utils.translation import gettext as _

from curation.datasets.rows import numbers_reserve, rows_add
from curation.files.progress import Report, silent
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.parts import in_parts
from curation.models import ComposedPair, Composition, Dataset, Pair, PooledSentence, SplitBefore, User
from curation.pairs.sampling.drawing import (
    Drawn,
    Encode,
    SamplingError,
    Settings,
    Strategy,
    drawn_from_sentences,
    source_of_pair,
)
from curation.pairs.sampling.synonyms import Synonyms
from curation.pairs.text import made_external_id
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record

MOST_ON_A_PAGE = 50_000  # sentences of a pool; the commands have no such bound
EXAMPLES = 8


@dataclass(frozen=True)
class Labels:
    """The names of the labels that the strategy labels uses: of the one in common, and of the one that is combined."""

    shared: str = ""
    crossed: str = ""


@dataclass(frozen=True)
class Pool:
    """The sentences from which pairs are composed. sources: how many each has; labels: the names that some have."""

    sentences: int
    sources: Sequence[tuple[str, int]]
    labels: Sequence[str]


@dataclass(frozen=True)
class Example:
    a: str
    b: str
    dice: float


@dataclass(frozen=True)
class Preview:
    """Pairs that were drawn and not added yet. state: of the pool and its pairs then, which is compared before
    the pairs are added.

    examples: some of the pairs, from the lowest to the highest Dice.
    """

    drawn: Drawn
    state: str
    examples: Sequence[Example]


@dataclass(frozen=True)
class _Rows:
    """The pool in the order of its numbers, and the pairs of its sentences that exist, as places in it."""

    sentences: Sequence[int]
    keys: Sequence[str]
    texts: Sequence[str]
    sources: Sequence[str]
    labels: Sequence[dict[str, str]]
    taken: Sequence[tuple[int, int]]

    @property
    def state(self) -> str:
        digest = hashlib.sha256()
        for number, source, labels in zip(self.sentences, self.sources, self.labels, strict=True):
            digest.update(f"{number}\0{source}\0{sorted(labels.items())}\n".encode())
        digest.update(repr(sorted(self.taken)).encode())
        return digest.hexdigest()


def pool_of(dataset: Dataset) -> Pool:
    pool = PooledSentence.objects.filter(dataset=dataset)
    counted = pool.values("source").annotate(n=Count("pk")).order_by("-n", "source")
    sources = [(row["source"], row["n"]) for row in counted]
    first = pool.order_by("pk").values_list("labels", flat=True)[:1_000]
    names = sorted({name for labels in first for name in labels})
    return Pool(sum(n for _source, n in sources), sources, names)


def composition_preview(
    dataset: Dataset,
    settings: Settings,
    labels: Labels,
    synonyms: Synonyms | None = None,
    *,
    vectors: Encode | None = None,
    report: Report = silent,
) -> Preview:
    """What `composition_add` would add. Raises UserError where the settings do not fit the pool.

    vectors: as `drawn_from_sentences` needs them for the strategy similarity, for which report counts sentences.
    """
    rows = _rows(dataset)
    drawn = _drawn(rows, settings, labels, synonyms, vectors=vectors, report=report)
    return Preview(drawn, rows.state, examples_of(drawn, rows.texts))


def examples_of(drawn: Drawn, texts: Sequence[str]) -> list[Example]:
    """Some of the drawn pairs, from the lowest to the highest Dice.

    texts: the sentences, by the numbers that the drawn pairs have.
    """
    order = sorted(range(len(drawn.dice)), key=lambda place: (drawn.dice[place], place))
    if len(order) > EXAMPLES:
        last = len(order) - 1
        order = [order[round(place * last / (EXAMPLES - 1))] for place in range(EXAMPLES)]
    pairs = drawn.sample.pairs.tolist()
    return [
        Example(texts[pairs[place][0]], texts[pairs[place][1]], float(drawn.dice[place])) for place in order
    ]


@transaction.atomic
def composition_add(
    *,
    dataset: Dataset,
    settings: Settings,
    labels: Labels,
    state: str | None,
    by: User | None,
    synonyms: Synonyms | None = None,
) -> Composition:
    """Draw the pairs and add them, with the origin “sampled” and the strategy as their subset.

    state: as the preview said it; None adds without one. Raises UserError where the pool or its pairs have changed
    since, or no pair is found.
    """
    dataset_lock(dataset)
    rows = _rows(dataset)
    if state is not None:
        _require_unchanged(rows, state)
    drawn = _drawn(rows, settings, labels, synonyms)
    about = {"labels": asdict(labels), "synonyms": synonyms.name if synonyms else ""}
    return _stored(dataset, rows, settings, drawn, about=about, by=by)


@transaction.atomic
def composition_store(
    *, dataset: Dataset, settings: Settings, preview: Preview, by: User | None, about: Mapping[str, Any]
) -> Composition:
    """Add the pairs of a preview that took long, as they were drawn. about: what else is kept of how they were drawn.

    Raises UserError where the pool or its pairs have changed since.
    """
    dataset_lock(dataset)
    rows = _rows(dataset)
    _require_unchanged(rows, preview.state)
    return _stored(dataset, rows, settings, preview.drawn, about=about, by=by)


def _require_unchanged(rows: _Rows, state: str) -> None:
    if rows.state != state:
        raise UserError(
            _("The sentences or their pairs have changed since the preview. Look at the preview again.")
        )


def _stored(
    dataset: Dataset,
    rows: _Rows,
    settings: Settings,
    drawn: Drawn,
    *,
    about: Mapping[str, Any],
    by: User | None,
) -> Composition:
    if not len(drawn.sample.pairs):
        raise UserError(_("No pair of these sentences fits the settings, so nothing was added."))
    parameters = asdict(settings) | {
        **about,
        "strategy": settings.strategy.value,
        "strata": [asdict(stratum) for stratum in drawn.sample.strata],
    }
    composition = Composition.objects.create(
        dataset=dataset, parameters=parameters, pairs=len(drawn.sample.pairs), created_by=by
    )
    numbers = numbers_reserve(Pair, composition.pairs)
    pairs = []
    for number, (a, b) in zip(numbers, drawn.sample.pairs.tolist(), strict=True):
        source = source_of_pair(rows.sources[a], rows.sources[b])
        name = made_external_id(source, "", rows.keys[a], rows.keys[b], 1)
        pairs.append((number, name, source, "", rows.sentences[a], rows.sentences[b]))
    rows_add(
        Pair,
        shared={
            "dataset_id": dataset.pk,
            "origin": Pair.Origin.SAMPLED.value,
            "subset": settings.strategy.value,
        },
        columns=["id", "external_id", "source", "split", "a_id", "b_id"],
        rows=pairs,
    )
    rows_add(
        ComposedPair,
        shared={"composition_id": composition.pk},
        columns=["pair_id"],
        rows=[(number,) for number in numbers],
    )
    drawn_as = {"strategy": settings.strategy.value, "seed": settings.seed}
    audit_record(
        dataset=dataset, action=Action.PAIRS_COMPOSED, by=by, pairs=composition.pairs, details=drawn_as
    )
    return composition


@transaction.atomic
def composition_undo(*, composition: Composition, by: User | None) -> None:
    """Delete the pairs of the composition. Raises UserError where something refers to one of them already."""
    dataset_lock(composition.dataset)
    composition = Composition.objects.select_for_update().get(pk=composition.pk)
    if composition.undone_at:
        raise UserError(_("The sampling of these pairs was undone before."))
    numbers = list(composition.composed.values_list("pair_id", flat=True))
    if composition.dataset.snapshots.filter(created_at__gte=composition.created_at).exists():
        raise UserError(
            _("A snapshot was made since and holds these pairs. They stay; exclude those you do not want.")
        )
    # Whether any row refers to one of the pairs, but for those that only say where it came from.
    references = [
        (each.related_model._default_manager, f"{each.field.name}__in")
        for each in Pair._meta.related_objects
        if each.related_model not in (ComposedPair, SplitBefore)
    ]
    for part in in_parts(numbers):
        if any(rows.filter(**{condition: part}).exists() for rows, condition in references):
            sentence = _(
                "Some of these pairs have scores, are annotated or belong to a campaign. They stay; exclude "
                "those you do not want."
            )
            raise UserError(sentence)
    for part in in_parts(numbers):
        Pair.objects.filter(pk__in=part).delete()
    composition.undone_at = now()
    composition.save(update_fields=["undone_at"])
    audit_record(dataset=composition.dataset, action=Action.COMPOSED_UNDONE, by=by, pairs=composition.pairs)


def last_composition(dataset: Dataset) -> Composition | None:
    """The newest composition that was not taken back."""
    return dataset.compositions.select_related("created_by").filter(undone_at=None).first()


def last_by_similarity(dataset: Dataset) -> Composition | None:
    """The newest composition by bands of similarity, whose strata say what the pool had in each; also if taken back."""
    made = dataset.compositions.filter(parameters__strategy=Strategy.SIMILARITY.value)
    return made.filter(parameters__has_key="model").first()


def too_many_for_a_page(dataset: Dataset) -> bool:
    return dataset.pool.order_by()[MOST_ON_A_PAGE : MOST_ON_A_PAGE + 1].exists()


def composition_require_few(dataset: Dataset) -> None:
    """Raises UserError where the pool is too large for somebody to wait for a drawing."""
    if too_many_for_a_page(dataset):
        sentence = _(
            "The dataset has more than %(most)s single sentences, which is too many for a request. Use "
            "semblance sample_pairs on the server."
        )
        raise UserError(sentence, most=f"{MOST_ON_A_PAGE:,}")


def _rows(dataset: Dataset) -> _Rows:
    fields = ("sentence_id", "sentence__key", "sentence__text", "source", "labels")
    pool = PooledSentence.objects.filter(dataset=dataset).order_by("pk").values_list(*fields)
    columns = list(zip(*pool.iterator(chunk_size=5_000), strict=True)) or [()] * len(fields)
    numbers, keys, texts, sources, labels = columns
    place_of = {number: place for place, number in enumerate(numbers)}
    pairs = Pair.objects.filter(dataset=dataset, a__pooled__isnull=False, b__pooled__isnull=False)
    taken = [
        (place_of[a], place_of[b])
        for a, b in pairs.order_by().values_list("a_id", "b_id").iterator(chunk_size=5_000)
        if a in place_of and b in place_of
    ]
    return _Rows(numbers, keys, texts, sources, labels, taken)


def _drawn(
    rows: _Rows,
    settings: Settings,
    labels: Labels,
    synonyms: Synonyms | None = None,
    *,
    vectors: Encode | None = None,
    report: Report = silent,
) -> Drawn:
    of_strategy: list[tuple[str, str]] = []
    if settings.strategy is Strategy.LABELS:
        if not labels.shared or not labels.crossed:
            raise UserError(
                _("Choose the label in common and the label that is combined; both may be the same.")
            )
        for name in (labels.shared, labels.crossed):
            if not any(name in known for known in rows.labels):
                raise UserError(_("No single sentence has the label “%(name)s”."), name=name)
        of_strategy = [(known.get(labels.shared, ""), known.get(labels.crossed, "")) for known in rows.labels]
    with errors_shown(SamplingError):
        return drawn_from_sentences(
            rows.texts,
            settings,
            labels=of_strategy,
            synonyms=synonyms.words if synonyms else None,
            taken=rows.taken,
            vectors=vectors,
            report=report,
        )
