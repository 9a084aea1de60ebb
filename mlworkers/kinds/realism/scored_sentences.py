"""What a scoring of realism is about: the sentences of a generation, human ones to hold against them, and its pairs."""

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.review.queue import realism_sets
from mlworkers.kinds.realism.verdicts import verdict_report
from mlworkers.models import Run
from mlworkers.pipelines.human_sentences import IN_MEMORY, held_out_of, human_pairs, human_texts
from mlworkers.science.realism.plan import RealismPlan
from mlworkers.science.realism.verdicts import FEWEST_EACH

SPLIT = "train"  # of a generation that says nothing else
GONE = (Pair.Status.REJECTED, Pair.Status.RETIRED)


@dataclass(frozen=True)
class ScoredPair:
    """The number of a generated pair, the index of its sentence `b` among those scored, its target similarity, and the
    index of its sentence `a` where a machine wrote that too.
    """

    pair: int
    index: int
    target: float | None
    first: int | None = None

    @property
    def machines(self) -> list[int]:
        """The indices of the sentences by which the pair is scored."""
        return [self.index] if self.first is None else [self.first, self.index]


@dataclass(frozen=True)
class Verdict:
    """A blind verdict of a person on a machine sentence, by its index. weight, stratum: in the sample by which the
    result is judged; weight 0 for a sentence that is not in it.
    """

    index: int
    kept: bool
    weight: float
    stratum: int


@dataclass(frozen=True)
class SentencesToScore:
    """What is scored, as it was drawn once for all attempts of a run. JSON holds it.

    numbers, texts, human, usable: of n sentences. links: twos of their indices, a machine's sentence and its source
    first, then human sentences of one pair.
    """

    numbers: list[int]
    texts: list[str]
    human: list[bool]
    usable: list[bool]
    links: list[tuple[int, int]]
    pairs: list[ScoredPair]
    verdicts: list[Verdict] = field(default_factory=list)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "SentencesToScore":
        pairs = [ScoredPair(*pair.values()) for pair in stored["pairs"]]
        verdicts = [Verdict(*verdict.values()) for verdict in stored.get("verdicts", [])]
        return cls(**{**stored, "pairs": pairs, "verdicts": verdicts})


class _GeneratedPair(NamedTuple):
    pair: int
    source: int
    source_text: str
    source_origin: str
    sentence: int
    text: str
    origin: str
    gone: bool
    target: float | None

    @property
    def has_written_source(self) -> bool:
        return self.source_origin == Sentence.Origin.MACHINE


def scored_sentences(plan: RealismPlan, dataset: Dataset) -> SentencesToScore:
    """Draw what is scored. Raises UserError where the run is unknown, another dataset's, or has no pairs left."""
    run = Run.objects.filter(pk=plan.run).first()
    words = {"run": plan.run, "dataset": dataset.slug}
    if run is None:
        raise UserError(_("There is no run %(run)s; name one that generated pairs."), **words)
    if run.dataset_id != dataset.pk:
        sentence = _("Run %(run)s does not belong to %(dataset)s; name one that generated pairs of it.")
        raise UserError(sentence, **words)
    judged = _verdicts(plan, dataset) if plan.learn_from_verdicts else {}
    generated = _generated(run, dataset, judged)
    split = str(run.plan.get("split", SPLIT))
    # Human sentences of the split's pairs, and the twos that stand in one; none that another split holds as well.
    there = human_pairs(dataset).filter(split__in=["", split]).exclude(status__in=GONE)
    held_out = held_out_of(dataset, split)
    people = {number: text for number, text in human_texts(there).items() if text not in held_out}
    mates = list(there.order_by("pk").values_list("a_id", "b_id"))
    drawn = sorted(people)
    if 0 < plan.most_humans < len(drawn):
        some = np.random.default_rng(plan.seed).permutation(len(drawn))[: plan.most_humans]
        drawn = [drawn[position] for position in sorted(some.tolist())]
    texts = {number: people[number] for number in drawn}
    index_of = {number: position for position, number in enumerate(texts)}
    human, usable = [True] * len(texts), [True] * len(texts)
    written = ((row.sentence, row.text, row.origin) for row in generated)
    first = ((row.source, row.source_text, row.source_origin) for row in generated if row.has_written_source)
    for number, text, origin in chain(written, first):
        if number not in index_of:
            index_of[number] = len(index_of)
            texts[number] = text
            human.append(origin == Sentence.Origin.HUMAN)
            # Only scored: a person's sentence that a machine wrote too, and that was not drawn (held out, or one too
            # many); and what a curator edited, which is of neither class.
            usable.append(origin == Sentence.Origin.MACHINE)
    return SentencesToScore(
        numbers=list(texts),
        texts=list(texts.values()),
        human=human,
        usable=usable,
        links=[
            *_to_sources(generated, index_of),
            *((index_of[a], index_of[b]) for a, b in dict.fromkeys(mates) if a in index_of and b in index_of),
        ],
        pairs=[
            ScoredPair(
                row.pair,
                index_of[row.sentence],
                row.target,
                index_of[row.source] if row.has_written_source else None,
            )
            for row in generated
            if not row.gone
        ],
        verdicts=[
            Verdict(index_of[number], *verdict) for number, verdict in judged.items() if number in index_of
        ],
    )


def _generated(run: Run, dataset: Dataset, judged: Container[int]) -> list[_GeneratedPair]:
    """The pairs that were not rejected, and those of judged sentences, whatever became of them."""
    targets: dict[int, float] = {}  # the target similarity of each pair, as 0..1
    score_set = ScoreSet.objects.filter(dataset=dataset, run_ref=run.pk, kind=ScoreSet.Kind.TARGET).first()
    if score_set is not None:
        scores = PairScore.objects.filter(score_set=score_set).values_list("pair_id", "value")
        low, width = score_set.low, score_set.high - score_set.low
        targets = {pair: (value - low) / width for pair, value in scores.iterator(chunk_size=IN_MEMORY)}
    pairs = Pair.objects.filter(dataset=dataset, run_ref=run.pk, origin=Pair.Origin.GENERATED)
    rows = pairs.order_by("pk").values_list(
        "pk", "a_id", "a__text", "a__origin", "b_id", "b__text", "b__origin", "status"
    )
    generated = [
        _GeneratedPair(*row[:-1], row[-1] in GONE, targets.get(row[0]))
        for row in rows.iterator(chunk_size=IN_MEMORY)
        if row[-1] not in GONE or row[4] in judged
    ]
    if all(row.gone for row in generated):
        sentence = _(
            "Run %(run)s has no generated pairs that were not rejected, so there is nothing to score; name a run "
            "that generated pairs."
        )
        raise UserError(sentence, run=run.pk)
    if judged and any(row.has_written_source for row in generated):
        sentence = _(
            "Run %(run)s wrote the first sentences too, so a decision is on both sentences of a pair and "
            "does not say which of them was rejected; do not learn from decisions."
        )
        raise UserError(sentence, run=run.pk)
    return generated


def _verdicts(plan: RealismPlan, dataset: Dataset) -> dict[int, tuple[bool, float, int]]:
    """Whether each judged machine sentence was kept, with its weight and stratum in the sample that judges the result.

    By the p_D set of the generation that has most blind verdicts in a random or stratified sample. Raises UserError
    where people gave too few blind verdicts.
    """
    sets = [each for each in realism_sets(dataset) if each.parameters.get("generation") == plan.run]
    reports = [verdict_report(each) for each in sets]
    best = max(reports, key=lambda each: each.main.sample.n if each.main else 0, default=None)
    verdicts = {number: (kept, 0.0, 0) for report in reports[::-1] for number, kept in report.blind.items()}
    kept = sum(kept for kept, _weight, _stratum in verdicts.values())
    if min(kept, len(verdicts) - kept) < FEWEST_EACH:
        sentence = _(
            "People kept %(kept)s machine sentences of run %(run)s in blind review and rejected %(rejected)s. Learning "
            "from decisions needs at least %(fewest)s of each; review more sentences blind, or do not learn "
            "from decisions."
        )
        words = {"kept": kept, "rejected": len(verdicts) - kept, "run": plan.run, "fewest": FEWEST_EACH}
        raise UserError(sentence, **words)
    if best is not None and best.main is not None:
        sample = best.main.sample
        rows = zip(best.main.sentences, sample.kept, sample.weights, sample.stratum, strict=True)
        verdicts |= {number: (bool(k), float(weight), int(stratum)) for number, k, weight, stratum in rows}
    return verdicts


def _to_sources(generated: list[_GeneratedPair], index_of: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Each written sentence and the one it was written for: of its pairs the one that was meant to be most alike.

    Pairs with a partner drawn from elsewhere are meant to differ; following them, everything would be connected.
    """
    own: dict[int, _GeneratedPair] = {}
    for row in sorted(generated, key=lambda row: (-(row.target or 0.0), row.pair)):
        own.setdefault(row.sentence, row)
    anchors: dict[int, int] = {}
    for row in sorted(own.values(), key=lambda row: row.pair):
        anchor = index_of.get(row.source, anchors.setdefault(row.source, index_of[row.sentence]))
        yield anchor, index_of[row.sentence]
