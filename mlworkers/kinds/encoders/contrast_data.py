"""Examples of contrast out of snapshots: what is learned, its paraphrases, and the pairs that choose the weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet, Snapshot
from curation.pairs.holding_out import HeldOut
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.runs.jobs import Job
from mlworkers.science.encoders.contrastive.examples import (
    Copies,
    Examples,
    NliLabel,
    Paraphrases,
    copies_of,
    copyable,
    pair_examples,
    sentence_examples,
    triplet_examples,
)
from mlworkers.science.encoders.contrastive.plan import Material, Objective, SharedContrast
from mlworkers.science.encoders.contrastive.variants import (
    TagPlaces,
    Variant,
    VariantError,
    paraphrases_of,
    variant_places,
)
from mlworkers.science.encoders.plan import names_listed
from mlworkers.science.encoders.rows import PairTable, Rows, unseen_rows
from mlworkers.science.encoders.seen import Seen
from mlworkers.science.paraphrasing.tags import TOP, TagBounds

_BY_PEOPLE = ("human", "edited")
_DIGITS = 6  # of a label after the point, as labels have


class Made(NamedTuple):
    """The examples of a training.

    originals: the number of examples that are not copies.
    missing: the number of copies that lack a paraphrase.
    """

    examples: Examples
    originals: int
    missing: int


@dataclass(frozen=True)
class Corpus:
    """The original examples, and of each variant the paraphrases of their sentences.

    held_out: examples that were left out because a sentence of theirs is held out or tested.
    """

    snapshot: Snapshot
    examples: Examples
    paraphrases: Mapping[str, Paraphrases]
    held_out: int

    def complete(self, *, copies: int) -> "Corpus":
        """Only the examples of which every variant has so many copies. Raises UserError where there is none."""
        places = set(range(len(self.examples)))
        for known in self.paraphrases.values():
            places &= set(copyable(self.examples, known, number=copies))
        if not places:
            sentence = _(
                "No example has %(copies)s paraphrases in every variant; choose smaller sizes or fewer variants, or "
                "set “only examples that every variant can copy” to no."
            )
            raise UserError(sentence, copies=copies)
        return Corpus(self.snapshot, self.examples.taken(sorted(places)), self.paraphrases, self.held_out)

    def made(self, *, variant: str, copies: int, share: float, keep_originals: bool) -> Made:
        """The examples of one training. variant: "" for none. Raises UserError where nothing is left to learn."""
        first = self.examples.taken(range(max(1, round(share * len(self.examples)))))
        if not variant:
            return Made(first, len(first), 0)
        made: Copies = copies_of(first, self.paraphrases[variant], number=copies)
        if not len(made.examples):
            sentence = _(
                "“%(variant)s” has no paraphrases of the sentences of any of the %(examples)s examples; the first "
                "sentence of a paraphrase pair must be a sentence of an example."
            )
            raise UserError(sentence, variant=variant, examples=intcomma(len(first)))
        if not keep_originals:
            return Made(made.examples, 0, made.missing)
        return Made(first + made.examples, len(first), made.missing)


def corpus_of(
    plan: SharedContrast,
    job: Job,
    snapshot: Snapshot,
    variants: Iterable[Variant],
    *,
    tested: Iterable[str] = (),
) -> Corpus:
    """The examples of a plan and their paraphrases, without a sentence that is held out or tested.

    Raises UserError where there is no example, or a variant has no paraphrases.
    """
    table = table_of(snapshot)
    held_out = table.held_out(plan.split) | HeldOut.of(tested)
    every = _every_example(plan, job, table)
    kept = [place for place, row in enumerate(every.sides) if not any(text in held_out for text in row)]
    if not kept:
        sentence = _(
            "Each of the %(examples)s examples holds a sentence that is held out or tested, so nothing is left to "
            "learn; choose another training split."
        )
        raise UserError(sentence, examples=intcomma(len(every)))
    chosen = list(variants)
    paraphrases = _paraphrases(plan, job, snapshot, chosen, held_out=held_out) if chosen else {}
    return Corpus(snapshot, every.taken(kept), paraphrases, len(every) - len(kept))


class DevPairs(NamedTuple):
    """judges: who judged the scores of the rows, as `PairTable.judges` says it."""

    rows: Rows
    judges: str


def dev_pairs_of(
    plan: SharedContrast, job: Job, snapshot: Snapshot, tested: Iterable[str]
) -> DevPairs | None:
    """The pairs that choose the weights, without sentences that are tested; None where the plan names no scores."""
    if not plan.dev_scores:
        return None
    if plan.dev_dataset not in ("", plan.dataset):
        snapshot = snapshot_taken(job, dataset_read(job, plan.dev_dataset), 0)
    table = table_of(snapshot)
    rows = table.rows(plan.dev_scores, split=plan.dev_split or None)
    return DevPairs(unseen_rows(rows, Seen((HeldOut.of(tested),)))[0], table.judges(plan.dev_scores))


def _every_example(plan: SharedContrast, job: Job, table: PairTable) -> Examples:
    in_split = table.column("split") == plan.split
    subsets = table.column("subset").astype(str)
    match plan.material:
        case Material.SENTENCES:
            return _sentences(plan, job, table, in_split)
        case Material.TRIPLETS:
            rows = _labelled(plan, table, in_split, subsets)
            found = triplet_examples(rows)
            if not len(found):
                sentence = _(
                    "No first sentence of the split “%(split)s” has pairs both in the subset “%(entailment)s” and in "
                    "“%(contradiction)s”; import the labels of the pairs as their subset, or name other subsets."
                )
                raise UserError(
                    sentence,
                    split=plan.split,
                    entailment=plan.entailment,
                    contradiction=plan.contradiction,
                )
            return found
        case _ if plan.objective is Objective.SOFTMAX:
            rows = _labelled(plan, table, in_split, subsets)
            if len({label for _first, _second, label in rows}) < len(NliLabel):
                sentence = _(
                    "The split “%(split)s” lacks pairs of one of the subsets %(names)s, which are the classes; import "
                    "the labels of the pairs as their subset, or name other subsets."
                )
                names = ", ".join(f"“{name}”" for name in (plan.entailment, plan.neutral, plan.contradiction))
                raise UserError(sentence, split=plan.split, names=names)
            classes = list(NliLabel)
            return pair_examples(
                [(first, second) for first, second, _label in rows],
                [classes.index(label) for _first, _second, label in rows],
            )
    wanted = names_listed(plan.subsets)
    chosen = in_split & (np.isin(subsets, wanted) if wanted else True)
    pairs = dict.fromkeys(_texts(table, chosen))
    if not pairs:
        raise UserError(
            _("No pair of the split “%(split)s” is in one of the subsets that are named; name others."),
            split=plan.split,
        )
    return pair_examples(pairs)


def _sentences(plan: SharedContrast, job: Job, table: PairTable, in_split: NDArray[np.bool_]) -> Examples:
    """Of the pairs of the split the sentences that people wrote, then those of the pool."""
    found: list[str] = []
    written = [
        np.isin(table.column(f"sentence{side}_origin").astype(str), _BY_PEOPLE) & in_split for side in (1, 2)
    ]
    for first, second, by_first, by_second in zip(
        table.column("sentence1"), table.column("sentence2"), *written, strict=True
    ):
        found += [text for text, by in ((first, by_first), (second, by_second)) if by]
    if plan.pool:
        dataset: Dataset = job.dataset_of(plan.dataset)

        def draw() -> dict[str, list[str]]:
            return {"texts": list(dataset.pool.order_by("pk").values_list("sentence__text", flat=True))}

        found += job.drawn_once("pool.json", draw)["texts"]
    if not found:
        sentence = _(
            "The split “%(split)s” has no sentence that a person wrote; choose another split, or use the "
            "single sentences."
        )
        raise UserError(sentence, split=plan.split)
    return sentence_examples(found)


def _labelled(
    plan: SharedContrast, table: PairTable, in_split: NDArray[np.bool_], subsets: NDArray[np.str_]
) -> list[tuple[str, str, NliLabel]]:
    named = {
        plan.entailment: NliLabel.ENTAILMENT,
        plan.neutral: NliLabel.NEUTRAL,
        plan.contradiction: NliLabel.CONTRADICTION,
    }
    chosen = in_split & np.isin(subsets, list(named))
    labels = [named[name] for name in subsets[chosen].tolist()]
    return [(*texts, label) for texts, label in zip(_texts(table, chosen), labels, strict=True)]


def _texts(table: PairTable, chosen: NDArray[np.bool_]) -> list[tuple[str, str]]:
    sides = (table.column(name)[chosen].tolist() for name in ("sentence1", "sentence2"))
    return list(zip(*sides, strict=True))


def _paraphrases(
    plan: SharedContrast,
    job: Job,
    snapshot: Snapshot,
    variants: Sequence[Variant],
    *,
    held_out: HeldOut,
) -> dict[str, Paraphrases]:
    dataset, table = snapshot.dataset, table_of(snapshot)
    if plan.paraphrase_dataset not in ("", plan.dataset):
        dataset = dataset_read(job, plan.paraphrase_dataset)
        table = table_of(snapshot_taken(job, dataset, 0))
    names = table.column("split")
    chosen = names == plan.paraphrase_split if plan.paraphrase_split else np.ones(len(table), dtype=bool)
    pairs, subsets = _texts(table, chosen), table.column("subset").astype(str)[chosen].tolist()
    allowed = [place for place, texts in enumerate(pairs) if not any(text in held_out for text in texts)]
    tags = None
    if plan.similarity:
        tags = tags_of(plan.similarity, plan.bleu, dataset, table, np.flatnonzero(chosen))
    found: dict[str, Paraphrases] = {}
    for variant in variants:
        try:
            parts = variant_places(variant, subsets, tags)
        except VariantError as error:
            raise UserError("%(problem)s", problem=str(error)) from error
        found[variant.name] = paraphrases_of(
            [pairs[place] for place in places[np.isin(places, allowed)].tolist()] for places in parts
        )
    return found


@dataclass(frozen=True)
class _Tags:
    """The tags of n pairs by two score sets. bins: the places of their tags, (n,) each."""

    bounds: TagBounds
    bins: tuple[NDArray[np.int64], NDArray[np.int64]]

    def having(self, tag: str) -> NDArray[np.bool_]:
        for tags, bins in zip((self.bounds.similarity, self.bounds.lexical), self.bins, strict=True):
            names = [one.name for one in tags]
            if tag in names:
                marked: NDArray[np.bool_] = bins == names.index(tag)
                return marked
        known = ", ".join(one.name for one in (*self.bounds.similarity, *self.bounds.lexical))
        raise VariantError(f"There is no tag “{tag}”; the tags are {known}.")


def tags_of(
    similarity: str, bleu: str, dataset: Dataset, table: PairTable, places: NDArray[np.int64]
) -> TagPlaces:
    """The tags of the pairs at n places of a table, by two of its score sets; bounds as the run that made them had."""
    names = (similarity, bleu)
    labels = [np.round(TOP * table.scores(name)[places], _DIGITS) for name in names]
    told = ScoreSet.objects.filter(dataset=dataset, name__in=names).values_list("parameters", flat=True)
    bounds = TagBounds(**next((one["tags"] for one in told if one and "tags" in one), {}))
    return _Tags(bounds, bounds.bins(*labels))
