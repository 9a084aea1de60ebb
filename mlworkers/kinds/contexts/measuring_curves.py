"""How agreement with people depends on the size of a corpus, the number of contexts, and the pairs of a surrogate."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import UserError, errors_shown
from curation.models import Snapshot
from curation.pairs.text import near_copy_key
from curation.statistics.correlation import Scores
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.kinds.contexts.scoring import ContextSource, contexts_in_shards, loaded_once, places_drawn
from mlworkers.pipelines.encoder_data import curve_note, judges_results, training_rows_of
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.curves import Point, corpus_part, curve_points
from mlworkers.science.contexts.curves_plan import ContextCurvesPlan
from mlworkers.science.contexts.model_training import context_model_trained
from mlworkers.science.contexts.pair_scoring import Pair
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.similarity import FEWEST_CONTEXTS, Weights, centred_similarity, combined
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.plan import Weighting
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.training import encoder_train
from mlworkers.science.pretrained.compute import choose_compute

_MODEL, _PART = "model", "corpus"


def measure_context_curves(plan: ContextCurvesPlan, job: Job) -> Outcome:
    started = monotonic()
    dataset = job.dataset_of(plan.dataset)
    # Corpus and base model first: a name that leads nowhere leaves no snapshot behind.
    whole = corpus_named(plan.corpus, dataset)
    base = folder_of_model(plan.model, kind="encoder", report=job.report) if plan.learned else None
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    tested = table.rows(plan.score_set, split=plan.split or None)
    few = tested.taken(places_drawn(len(tested), most=plan.most_pairs, seed=plan.seed))
    told = {size: _prepared(plan, job, whole, size) for size in plan.all_sizes}
    most, contexts = plan.all_sizes[-1], plan.all_contexts

    @cache
    def similar(size: int, contexts: int) -> Scores:
        model, part = job.kept / f"{_MODEL}-{size}", _part(job, whole, size)
        # Centred similarities (n,) of the rows with a part of the corpus and its model; NaN where there is none.
        by = _Scored(part, model, f"size {size}, contexts {contexts}", contexts)
        scoring = plan.scores(by.contexts)
        load = loaded_once(by.model, scoring, content_of(by.model)[0])
        source = ContextSource(scoring, load, None, by.corpus)
        pairs = [Pair(*texts) for texts in zip(few.first.tolist(), few.second.tolist(), strict=True)]
        found = contexts_in_shards(by.stage, job, source, pairs, scoring.weights)
        return np.array(
            [_centred(each, pair, scoring.weights) for each, pair in zip(found, pairs, strict=True)],
            dtype=np.float64,
        )

    drawn = {"resamples": plan.bootstrap, "seed": plan.seed}
    by_size = {told[size]["sentences"]: [similar(size, contexts[-1])] for size in plan.all_sizes}
    by_count = {count: [similar(most, count)] for count in contexts}
    result: dict[str, Any] = {
        "corpus_sizes": [
            {
                **asdict(point),
                "informs": next(one["informs"] for one in told.values() if one["sentences"] == point.x),
            }
            for point in curve_points(by_size, few.values, **drawn)
        ],
        "context_counts": list(map(asdict, curve_points(by_count, few.values, **drawn))),
        "surrogate_sizes": [],
        "pairs": len(few),
        "test_pairs": len(tested),
        **judges_results(table.judges(plan.score_set)),
        "snapshot": snapshot.number,
    }
    if base is not None:
        result["surrogate_sizes"] = list(map(asdict, _surrogates(plan, job, base, snapshot, tested)))
    words = {
        "sizes": len(by_size),
        "counts": len(by_count),
        "surrogates": len(result["surrogate_sizes"]),
        "pairs": intcomma(len(few)),
    }
    message = _(
        "Measured on %(pairs)s pairs: sizes of the corpus: %(sizes)s, numbers of contexts: %(counts)s, "
        "student encoders: %(surrogates)s"
    )
    return Outcome(message % words, {**result, "seconds": round(monotonic() - started, 1)})


def _prepared(plan: ContextCurvesPlan, job: Job, whole: Path, size: int) -> dict[str, Any]:
    """A part of the corpus and the model that learned from it, in `kept`; how many sentences it has, and whether the
    model is better than frequencies of tokens.
    """

    def prepare() -> dict[str, Any]:
        with errors_shown(CorpusError):
            if size and size < len(Corpus(whole)):
                with folder_replacing(job.kept / f"{_PART}-{size}") as beside:
                    corpus_part(Corpus(whole), beside, sentences=size, seed=plan.seed, report=job.report)
            corpus = Corpus(_part(job, whole, size))
            checkpoints = job.kept / f"checkpoints-{size}"
            with folder_replacing(job.kept / f"{_MODEL}-{size}") as beside:
                made = context_model_trained(
                    corpus,
                    plan.language_model,
                    choose_compute(plan.device),
                    folder=beside,
                    checkpoints=checkpoints,
                    report=job.report,
                    note=lambda point: job.curve.write(
                        point.step, loss=point.loss, corpus=f"{size or 'all'}"
                    ),
                )
        folder_remove(checkpoints)
        return {"sentences": len(corpus), "informs": made.informs}

    return job.drawn_once(f"size-{size}.json", prepare)


def _part(job: Job, whole: Path, size: int) -> Path:
    folder = job.kept / f"{_PART}-{size}"
    return folder if folder.is_dir() else whole


class _Scored(NamedTuple):
    """How pairs are scored at one point. stage: of its shards."""

    corpus: Path
    model: Path
    stage: str
    contexts: int


def _centred(found: PairContexts, pair: Pair, weights: Weights) -> float:
    if near_copy_key(pair.first) == near_copy_key(pair.second):
        return 1.0
    if len(found.first) < FEWEST_CONTEXTS:
        return float("nan")
    rows = (combined(terms, weights) for terms in (found.first, found.second, found.background))
    value = centred_similarity(*rows)
    return float("nan") if value is None else value


def _surrogates(
    plan: ContextCurvesPlan, job: Job, base: Path, snapshot: Snapshot, tested: Rows
) -> Sequence[Point]:
    """Surrogates of each number of pairs and each seed, on all test pairs."""
    seeds = range(plan.seed, plan.seed + plan.seeds)
    every = training_rows_of(
        plan.surrogate(plan.seed), snapshot, weightings=[Weighting.PLAIN], tests=tested.sentences
    ).rows
    if plan.all_pairs[-1] > len(every):
        sentence = _(
            "“%(scores)s” has %(pairs)s pairs of the split “%(split)s” to learn from, and %(asked)s are asked for; "
            "give smaller numbers of pairs."
        )
        asked = {"pairs": len(every), "asked": plan.all_pairs[-1]}
        raise UserError(sentence, scores=plan.learned, split=plan.learned_split, **asked)
    order = np.random.default_rng([plan.seed, 3]).permutation(len(every))
    members = [(count, seed) for count in plan.all_pairs for seed in seeds]

    def write(number: int, path: Path, report: Report) -> None:
        count, seed = members[number]
        checkpoints = job.kept / "surrogates" / path.name
        trained = encoder_train(
            base,
            every.taken(np.sort(order[:count])),
            plan.surrogate(seed),
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=curve_note(job.curve, pairs_learned=str(count), seed=str(seed)),
        )
        compute = choose_compute(plan.device)
        first, second = tested.first.tolist(), tested.second.tolist()
        array_write(path, pair_cosines(trained.encoder, first, second, compute).values)
        folder_remove(checkpoints)

    sizes = [plan.surrogate(seed).schedule(count).steps for count, seed in members]
    paths = job.shards.all("surrogates", sizes, write, message=_("Training student encoders"))
    columns: Mapping[int, list[Scores]] = {count: [] for count in plan.all_pairs}
    for (count, _seed), path in zip(members, paths, strict=True):
        columns[count].append(array_read(path))
    return curve_points(columns, tested.values, resamples=plan.bootstrap, seed=plan.seed)
