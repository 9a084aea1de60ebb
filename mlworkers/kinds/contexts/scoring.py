"""How similar the sentences of a dataset's pairs are by the contexts that they fit, as two score sets of kind model."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from numpy.typing import NDArray

from curation.datasets.services import Score
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_replacing, make_folder, replacing
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset, ScoreSet
from curation.pairs.text import near_copy_key
from curation.statistics.intervals import Interval
from mlworkers.kinds.contexts.context_models import CARRIES_NOTHING, CONTEXT_MODEL
from mlworkers.kinds.contexts.discriminative import DISCRIMINATIVE_MODEL, RANKS_NOTHING
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.kinds.encoders.scoring_pairs import pairs_of_split
from mlworkers.pipelines.encoder_data import judges_results
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.discriminative import (
    DiscriminativeModel,
    discriminative_told,
    load_discriminative,
)
from mlworkers.science.contexts.kept_values import KeptValues
from mlworkers.science.contexts.language_model import ContextModel, load_context_model, told_by
from mlworkers.science.contexts.pair_scoring import (
    LONG,
    SPARE,
    Pair,
    PairScorer,
    background_of,
    weights_given,
)
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.scored_file import scored_write
from mlworkers.science.contexts.scores_plan import CENTRED, RAW, ContextScoresPlan
from mlworkers.science.contexts.similarity import TERMS, PairSimilarity, Weights, pair_similarity
from mlworkers.science.contexts.trajectories import TrajectoryScorer
from mlworkers.science.contexts.tuning import weights_tuned
from mlworkers.science.encoders.rows import PairTable, RowsError
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import ModelError

CONTEXT_SCORES = "context_scores"  # kind of artefact


class Scorer(Protocol):
    """Finds and scores the contexts of pairs."""

    def pairs(self, pairs: Sequence[Pair], questioner: Questioner, report: Report) -> list[PairContexts]: ...


@dataclass(frozen=True)
class ContextSource:
    """What pairs are scored by. load, discriminator: the models, loaded once by those who need them. corpus: its
    folder; None with trajectories, whose background sentences are these.
    """

    plan: ContextScoresPlan
    load: Callable[[], ContextModel]
    discriminator: Callable[[], DiscriminativeModel] | None
    corpus: Path | None
    background: Sequence[str] = ()

    @property
    def terms(self) -> list[str]:
        """The terms of Eq. 3 that the models give."""
        given = {*self.load().terms, *(TERMS[:1] if self.discriminator else ())}
        return [term for term in TERMS if term in given]

    def scorer(self, weights: Weights) -> Scorer:
        """Raises UserError where the model does not fit the choice of contexts."""
        model = self.load()
        if self.corpus is None:
            with errors_shown(ModelError):
                return TrajectoryScorer(model, self.plan, self.background)
        corpus, index = Corpus(self.corpus), BigramIndex(self.corpus)
        with errors_shown(CorpusError):
            index.check()
        return PairScorer(
            corpus,
            index,
            model,
            self.plan,
            background_of(corpus, model, self.plan),
            weights,
            self.discriminator() if self.discriminator else None,
        )


def loaded_once(folder: Path, plan: ContextScoresPlan, digest: str) -> Callable[[], ContextModel]:
    """What loads the language model in a folder when it is first asked for. digest: the hash of its files, by which
    its answers are kept.
    """
    return cache(
        lambda: load_context_model(
            folder, choose_compute(plan.device), part_tokens=plan.part_tokens, about=digest
        )
    )


@dataclass(frozen=True)
class PairsToScore:
    """Pairs of a snapshot: their numbers and texts, and whether both sentences of each have the same words."""

    numbers: list[int]
    pairs: list[Pair]

    @property
    def same(self) -> list[bool]:
        return [near_copy_key(pair.first) == near_copy_key(pair.second) for pair in self.pairs]

    @classmethod
    def of(cls, table: PairTable, splits: Sequence[str], *, most: int, seed: int) -> "PairsToScore":
        """Those of some splits (none: of any), or so many of them at random. Raises UserError where one has none."""
        columns = zip(*(pairs_of_split(table, split) for split in splits or [""]), strict=True)
        numbers, first, second = map(np.concatenate, columns)
        drawn = places_drawn(len(numbers), most=most, seed=seed)
        numbers, first, second = (column[drawn] for column in (numbers, first, second))
        texts = zip(first.tolist(), second.tolist(), strict=True)
        return cls(numbers.tolist(), [Pair(*both) for both in texts])


def places_drawn(count: int, *, most: int, seed: int) -> NDArray[np.int64]:
    """So many of the first `count` numbers at random, in their order; all of them for 0."""
    if not 0 < most < count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])


def score_contexts(plan: ContextScoresPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # Corpus and models first: a name that leads nowhere leaves no snapshot behind.
    source, about, warnings = _source(plan, job, dataset)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    scored = PairsToScore.of(table, plan.splits, most=plan.most_pairs, seed=plan.seed)
    if source.corpus is None:
        source = replace(source, background=_background(scored, plan))
    given = plan.weights if source.corpus is None else weights_given(plan.weights, source.terms)
    weights, tuned = _tuned(plan, job, source, table, scored, given=given)
    found = contexts_in_shards("contexts", job, source, scored.pairs, weights)
    similar = [
        pair_similarity(
            each.first,
            each.second,
            each.background,
            weights,
            same=is_same,
            seed=plan.seed,
            resamples=plan.resamples,
        )
        for is_same, each in zip(scored.same, found, strict=True)
    ]
    if all(each.centred is None for each in similar):
        sentence = _(
            "No pair can be scored: the corpus has fewer than three contexts for each. Choose a larger corpus, or one "
            "of the same domain."
        )
        if any(each.refused == LONG for each in found):
            sentence = _(
                "No pair can be scored: the sentences are longer than a part may be, or the corpus has fewer than "
                "three contexts for them. Choose a longer part, or another corpus."
            )
        raise UserError(sentence)
    made = job.folder / CONTEXT_SCORES
    with folder_replacing(made) as beside:
        alike = {number for number, is_same in zip(scored.numbers, scored.same, strict=True) if is_same}
        scored_write(beside, zip(scored.numbers, found, strict=True), weights, same=alike)
    about |= {"snapshot": snapshot.number, "weights": weights.as_dict(), "weights_tuned": tuned}
    facts = _facts(plan, found, similar)
    if fewer := facts["pairs_with_fewer_contexts"]:
        told = ngettext(
            "%(pairs)s pair has fewer contexts than asked for; it is scored by those that there are.",
            "%(pairs)s pairs have fewer contexts than asked for; they are scored by those that there are.",
            fewer,
        )
        warnings.append(told % {"pairs": intcomma(fewer)})
    facts |= {"warnings": warnings}
    words = {"pairs": intcomma(facts["pairs"]), "all": intcomma(len(scored.pairs))}
    message = _("%(pairs)s of %(all)s pairs scored by contexts, as two score sets") % words
    return Outcome(
        message,
        {**facts, **about, **judges_results(table.judges(plan.dev_scores) if tuned else "")},
        [NewArtifact(CONTEXT_SCORES, made, {"pairs": facts["pairs"]})],
        publish=_to_publish(job, dataset, scored.numbers, similar, about),
    )


def _source(
    plan: ContextScoresPlan, job: Job, dataset: Dataset
) -> tuple[ContextSource, dict[str, Any], list[str]]:
    """The models and the corpus; what score sets say of them; and what is wrong with their scores.

    Raises UserError where they do not fit together or give no term that has a weight, ModelError.
    """
    corpus = corpus_named(plan.corpus, dataset) if plan.corpus else None
    folder = folder_of_model(plan.model, kind=CONTEXT_MODEL, also=["generator"], report=job.report)
    told, digest = told_by(folder), content_of(folder)[0]
    language = Corpus(corpus).facts.language if corpus is not None else ""
    _check_languages(dataset.language, language, told.language)
    warnings = [_(CARRIES_NOTHING)] if told.informs is False else []
    about: dict[str, Any] = {
        "model": plan.model,
        "model_sha256": digest,
        "corpus": plan.corpus,
        "split": plan.split,
        "contexts_of_a_sentence": plan.contexts,
        "choice": plan.choice.value,
        "different_contexts": plan.diverse,
        "background": plan.background,
    }
    discriminator = None
    if plan.discriminator:
        ranks = folder_of_model(plan.discriminator, kind=DISCRIMINATIVE_MODEL, report=job.report)
        says = discriminative_told(ranks)
        _check_languages(dataset.language, language, says.language)
        warnings += [] if says.informs else [_(RANKS_NOTHING)]
        about |= {
            "discriminator": plan.discriminator,
            "discriminator_sha256": content_of(ranks)[0],
            "ranked": plan.ranked,
        }
        discriminator = cache(lambda: load_discriminative(ranks, choose_compute(plan.device)))
    source = ContextSource(plan, loaded_once(folder, plan, digest), discriminator, corpus)
    if corpus is not None and not weights_given(plan.weights, source.terms).vector.any():
        raise UserError(
            _("A causal model does not give the term of λ3, and all other weights are 0; change the weights.")
        )
    if corpus is None:
        source.scorer(plan.weights)  # a model that continues nothing is refused here
    return source, about, warnings


def _background(scored: PairsToScore, plan: ContextScoresPlan) -> list[str]:
    """Distinct sentences of the pairs at random, a few more than are used."""
    texts = list({near_copy_key(text): text for pair in scored.pairs for text in pair}.values())
    drawn = np.random.default_rng([plan.seed, 1]).permutation(len(texts))[: plan.background + SPARE]
    found = [texts[place] for place in drawn.tolist()]
    if len(found) < plan.background + SPARE:
        sentence = _(
            "The pairs have %(count)s different sentences, and %(needed)s are needed with %(background)s background "
            "sentences; choose fewer of these."
        )
        needed = plan.background + SPARE
        raise UserError(sentence, count=len(found), needed=needed, background=plan.background)
    return found


def _tuned(
    plan: ContextScoresPlan,
    job: Job,
    source: ContextSource,
    table: PairTable,
    scored: PairsToScore,
    *,
    given: Weights,
) -> tuple[Weights, dict[str, Any] | None]:
    """The weights, and how they were chosen by dev pairs; None where they are the plan's. Raises UserError."""
    if not plan.dev_split:
        return given, None
    dev = PairsToScore.of(table, [plan.dev_split], most=0, seed=plan.seed)
    with errors_shown(RowsError):
        values = dict(zip(table.column("pair").tolist(), table.scores(plan.dev_scores).tolist(), strict=True))
    known = {near_copy_key(text) for pair in scored.pairs for text in pair}
    own = [
        number
        for number, pair in enumerate(dev.pairs)
        if not math.isnan(values[dev.numbers[number]]) and not {near_copy_key(text) for text in pair} & known
    ]
    if plan.most_pairs:
        own = own[: plan.most_pairs]
    used = PairsToScore([dev.numbers[number] for number in own], [dev.pairs[number] for number in own])
    found = contexts_in_shards("dev", job, source, used.pairs, given) if own else []
    with errors_shown(ValueError):
        tuned = weights_tuned(
            found, [values[number] for number in used.numbers], source.terms, same=used.same
        )
    return tuned.weights, {
        "split": plan.dev_split,
        "scores": plan.dev_scores,
        "pairs": tuned.pairs,
        "spearman": tuned.spearman,
        "spearman_with_equal_weights": tuned.equal,
    }


def _check_languages(dataset: str, corpus: str, model: str) -> None:
    """Raises UserError where corpus and dataset, or corpus and model, are in different languages."""

    def differ(one: str, other: str) -> bool:
        return bool(
            one and other and one.split("-", maxsplit=1)[0].lower() != other.split("-", maxsplit=1)[0].lower()
        )

    if differ(dataset, corpus):
        sentence = _(
            "The dataset is in the language %(dataset)s and the corpus in %(corpus)s; choose a corpus in the "
            "language of the dataset."
        )
        raise UserError(sentence, dataset=dataset, corpus=corpus)
    if differ(corpus, model):
        sentence = _(
            "The corpus is in the language %(corpus)s, and the model learned from text in %(model)s; choose "
            "another model."
        )
        raise UserError(sentence, corpus=corpus, model=model)


def contexts_in_shards(
    stage: str, job: Job, source: ContextSource, pairs: Sequence[Pair], weights: Weights
) -> list[PairContexts]:
    """The contexts of each pair, in shards that any worker of the run may do. What a killed one had scored is kept."""
    size = source.plan.shard_pairs
    parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
    terms = job.kept / f"terms of {stage}"
    make_folder(terms)
    scorer = cache(lambda: source.scorer(weights))

    def write(number: int, path: Path, report: Report) -> None:
        questioner = Questioner(source.load(), KeptValues(terms / f"{number:05d}"))
        scored = scorer().pairs(parts[number], questioner, report)
        with replacing(path) as file:
            file.writelines(json.dumps(each.as_json()).encode() + b"\n" for each in scored)

    message = _("Scoring dev pairs by contexts") if stage == "dev" else _("Scoring pairs by contexts")
    paths = job.shards.all(stage, [len(part) for part in parts], write, message=message)
    lines = (line for path in paths for line in path.read_text("utf-8").split("\n") if line)
    return [PairContexts.from_json(json_from(line)) for line in lines]


def _facts(
    plan: ContextScoresPlan, found: Sequence[PairContexts], similar: Sequence[PairSimilarity]
) -> dict[str, Any]:
    scored = [each for each in similar if each.centred is not None]
    unscored = [one.refused for one, each in zip(found, similar, strict=True) if each.centred is None]
    of_scored = [
        len(one.places) for one, each in zip(found, similar, strict=True) if each.centred is not None
    ]
    columns = {
        "raw": [each.raw for each in scored if each.raw is not None],
        "centred": [each.centred for each in scored if each.centred is not None],
    }
    return {
        "pairs": len(scored),
        "pairs_with_long_sentences": unscored.count(LONG),
        "pairs_without_contexts": len(unscored) - unscored.count(LONG),  # with fewer than three
        "pairs_with_fewer_contexts": sum(0 < places < 2 * plan.contexts for places in of_scored),
        "mean_contexts": float(np.mean([each.contexts for each in scored])),
        **{
            f"{figure}_{name}": float(getattr(np, of)(values))
            for name, values in columns.items()
            for figure, of in (("mean", "mean"), ("sd", "std"))
        },
    }


def _to_publish(
    job: Job,
    dataset: Dataset,
    numbers: Sequence[int],
    similar: Sequence[PairSimilarity],
    about: dict[str, Any],
) -> Callable[[], dict[str, Any]]:
    """What publishes both score sets, the centred one first."""

    def rows(name: str) -> list[Score]:
        found = []
        for number, each in zip(numbers, similar, strict=True):
            value: float | None = getattr(each, name)
            interval: Interval | None = getattr(each, f"{name}_interval")
            if value is None or each.centred is None:
                continue
            low, high = (interval.low, interval.high) if interval else (None, None)
            found.append(Score(number, value, contexts=each.contexts, interval_low=low, interval_high=high))
        return found

    sets = (
        (CENTRED, _("run %(run)s: contexts, centred"), _("Pearson across contexts, centred"), "centred"),
        (RAW, _("run %(run)s: contexts, raw cosine"), _("cosine of scores in contexts"), "raw"),
    )
    both = [
        scores_to_publish(
            job,
            dataset,
            name=name % {"run": job.run_id},
            kind=ScoreSet.Kind.MODEL,
            low=-1.0,
            high=1.0,
            method=method,
            parameters={"label": label, **about},
            scores=rows(attribute),
        )
        for label, name, method, attribute in sets
    ]
    return lambda: {"score_sets": [publish()["score_set"] for publish in both]}
