"""How similar the sentences of a dataset's pairs are by the contexts that they fit, as two score sets of kind model."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.datasets.services import Score
from curation.errors import UserError
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_replacing, make_folder, replacing
from curation.models import Dataset, ScoreSet
from curation.pairs.text import near_copy_key
from curation.statistics.intervals import Interval
from mlworkers.contexts.asking import Questioner
from mlworkers.contexts.bigram_index import BigramIndex
from mlworkers.contexts.corpus import Corpus
from mlworkers.contexts.kept_values import KeptValues
from mlworkers.contexts.language_model import ContextModel, load_context_model, told_by
from mlworkers.contexts.pair_scoring import (
    ALONE,
    LONG,
    Pair,
    PairScorer,
    background_of,
    weights_given,
)
from mlworkers.contexts.pair_terms import PairContexts
from mlworkers.contexts.scored_file import scored_write
from mlworkers.contexts.scores_plan import CENTRED, RAW, ContextScoresPlan
from mlworkers.contexts.similarity import PairSimilarity, Weights, pair_similarity
from mlworkers.pipelines.context_models import CARRIES_NOTHING, CONTEXT_MODEL, corpus_named
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.pipelines.scoring_pairs import pairs_of_split
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.pretrained.compute import choose_compute
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of

CONTEXT_SCORES = "context_scores"  # kind of artefact


@dataclass(frozen=True)
class _Source:
    """What pairs are scored by. load: the model, loaded once by those who need it."""

    corpus: Corpus
    index: BigramIndex
    load: Callable[[], ContextModel]


def score_contexts(plan: ContextScoresPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # Corpus and model first: a name that leads nowhere leaves no snapshot behind.
    corpus_folder = corpus_named(plan.corpus, dataset)
    folder = folder_of_model(plan.model, kind=CONTEXT_MODEL, also=["generator"], report=job.report)
    corpus, told = Corpus(corpus_folder), told_by(folder)
    _check_languages(dataset.language, corpus.facts.language, told.language)
    digest = content_of(folder)[0]

    @cache
    def load() -> ContextModel:
        return load_context_model(
            folder, choose_compute(plan.device), part_tokens=plan.part_tokens, about=digest
        )

    weights = _weights(plan, load)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    numbers, first, second = pairs_of_split(table_of(snapshot), plan.split)
    if 0 < plan.most_pairs < len(numbers):
        drawn = np.sort(np.random.default_rng(plan.seed).permutation(len(numbers))[: plan.most_pairs])
        numbers, first, second = (column[drawn] for column in (numbers, first, second))
    pairs = [Pair(*texts) for texts in zip(first.tolist(), second.tolist(), strict=True)]
    same = [near_copy_key(pair.first) == near_copy_key(pair.second) for pair in pairs]
    found = _in_shards(plan, job, _Source(corpus, BigramIndex(corpus_folder), load), pairs)
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
        for is_same, each in zip(same, found, strict=True)
    ]
    if all(each.centred is None for each in similar):
        raise UserError(_nothing_scored(found))
    made = job.folder / CONTEXT_SCORES
    with folder_replacing(made) as beside:
        alike = {int(number) for number, is_same in zip(numbers, same, strict=True) if is_same}
        scored_write(beside, zip(numbers.tolist(), found, strict=True), weights, same=alike)
    about = {
        "model": plan.model,
        "model_sha256": digest,
        "corpus": plan.corpus,
        "snapshot": snapshot.number,
        "split": plan.split,
        "contexts_of_a_sentence": plan.contexts,
        "weights": weights.as_dict(),
        "choice": plan.choice.value,
        "different_contexts": plan.diverse,
        "background": plan.background,
    }
    facts = _facts(plan, found, similar)
    facts["warnings"] = [_(CARRIES_NOTHING)] if told.informs is False else []
    words = {"pairs": intcomma(facts["pairs"]), "all": intcomma(len(pairs))}
    message = _("%(pairs)s of %(all)s pairs scored by contexts, as two score sets") % words
    return Outcome(
        message,
        {**facts, **about},
        [NewArtifact(CONTEXT_SCORES, made, {"pairs": facts["pairs"]})],
        publish=_to_publish(job, dataset, numbers.tolist(), similar, about),
    )


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


def _weights(plan: ContextScoresPlan, load: Callable[[], ContextModel]) -> Weights:
    """Raises UserError where the model gives no term that has a weight."""
    weights = weights_given(plan, load().terms)
    if not weights.vector.any():
        raise UserError(
            _("A causal model does not give the term of λ3, and all other weights are 0; change the weights.")
        )
    return weights


def _in_shards(
    plan: ContextScoresPlan, job: Job, source: _Source, pairs: Sequence[Pair]
) -> list[PairContexts]:
    """The contexts of each pair, in shards that any worker of the run may do. What a killed one had scored is kept."""
    starts = range(0, len(pairs), plan.shard_pairs)
    parts = [pairs[start : start + plan.shard_pairs] for start in starts]
    terms = job.kept / "terms"
    make_folder(terms)

    @cache
    def scorer() -> PairScorer:
        model = source.load()
        return PairScorer(source.corpus, source.index, model, plan, background_of(source.corpus, model, plan))

    def write(number: int, path: Path, report: Report) -> None:
        questioner = Questioner(source.load(), KeptValues(terms / f"{number:05d}"))
        scored = scorer().pairs(parts[number], questioner, report)
        with replacing(path) as file:
            file.writelines(json.dumps(each.as_json()).encode() + b"\n" for each in scored)

    paths = job.shards.all(
        "contexts", [len(part) for part in parts], write, message=_("Scoring pairs by contexts")
    )
    lines = (line for path in paths for line in path.read_text("utf-8").splitlines())
    return [PairContexts.from_json(json_from(line)) for line in lines]


def _nothing_scored(found: Sequence[PairContexts]) -> str:
    if any(each.refused == LONG for each in found):
        return _(
            "No pair can be scored: the sentences are longer than a part may be, or the corpus has fewer than "
            "three contexts for them. Choose a longer part, or another corpus."
        )
    return _(
        "No pair can be scored: the corpus has fewer than three contexts for each. Choose a larger corpus, or one of "
        "the same domain."
    )


def _facts(
    plan: ContextScoresPlan, found: Sequence[PairContexts], similar: Sequence[PairSimilarity]
) -> dict[str, Any]:
    scored = [each for each in similar if each.centred is not None]
    refused = Counter(each.refused for each in found)
    columns = {
        "raw": [each.raw for each in scored if each.raw is not None],
        "centred": [each.centred for each in scored if each.centred is not None],
    }
    return {
        "pairs": len(scored),
        "pairs_with_long_sentences": refused[LONG],
        "pairs_without_contexts": refused[ALONE],
        "pairs_with_fewer_contexts": sum(0 < len(each.places) < 2 * plan.contexts for each in found),
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
